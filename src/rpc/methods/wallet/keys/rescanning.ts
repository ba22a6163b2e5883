/** Rescans of the chain that RPC calls request, and their errors. Source: lbrycrd wallet/rpcdump.cpp `RescanWallet`. */
import { reacceptTransactions } from '../../../../wallet/spending/broadcasting.js';
import { rescanFromTime, type TimeScanEnd } from '../../../../wallet/scan/rescan.js';
import type { ScanTurn } from '../../../../wallet/scan/scans.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import type { RpcContext } from '../../../declare/method.js';

/**
 * Runs a task during which no other task may scan the wallet. Throws error -4 if another scan is running. With `wanted`
 * false the task runs without this protection.
 */
export async function withScanTurn<T>(
  { scans }: Wallet,
  wanted: boolean,
  task: (turn: ScanTurn | null) => Promise<T>,
): Promise<T> {
  if (!wanted) return task(null);
  const turn = scans.reserve();
  if (turn === null) {
    throw rpcError(RPC_ERROR.WALLET_ERROR, 'Wallet is currently rescanning. Abort existing rescan or wait.');
  }
  try {
    return await task(turn);
  } finally {
    turn.release();
  }
}

/** Throws error -4 if a rescan is requested on a pruning node. */
export function refusePruned({ services }: RpcContext, wanted: boolean): void {
  if (wanted && services.pruner !== null)
    throw rpcError(RPC_ERROR.WALLET_ERROR, 'Rescan is disabled in pruned mode');
}

/**
 * Scans the chain for transactions of the wallet from a time on. Does not occupy a call slot during the scan. Throws if the
 * scan is aborted.
 */
export async function scanSince(
  ctx: RpcContext,
  wallet: Wallet,
  turn: ScanTurn,
  timeSec: number,
): Promise<TimeScanEnd> {
  const end = await ctx.outOfTurn(() => rescanFromTime(wallet, turn, timeSec));
  if (!end.isComplete) throw rpcError(RPC_ERROR.MISC_ERROR, 'Rescan aborted by user.');
  return end;
}

/**
 * Advice for a scan that reached blocks which the node does not have because it was started from a snapshot; empty for other
 * nodes. Begins with a space.
 */
export function snapshotAdvice(ctx: RpcContext): string {
  const { snapshotHeight } = ctx.services.chain.chain.index;
  if (snapshotHeight < 0) return '';
  return (
    ` The node was started from a snapshot of block ${snapshotHeight}, and the blocks up to it are not ` +
    'validated yet. Call rescanblockchain when getblockchaininfo no longer has the member snapshot.'
  );
}

/** Scans the chain from a time on, like `scanSince`. Also throws if blocks are missing. */
export async function rescanSince(
  ctx: RpcContext,
  wallet: Wallet,
  turn: ScanTurn,
  timeSec: number,
): Promise<void> {
  const { scannedFromSec } = await scanSince(ctx, wallet, turn, timeSec);
  if (scannedFromSec > timeSec) {
    throw rpcError(
      RPC_ERROR.WALLET_ERROR,
      'Rescan was unable to fully rescan the blockchain. Some transactions may be missing.' +
        snapshotAdvice(ctx),
    );
  }
}

/** Scans the whole chain after a watched item was imported, then submits unconfirmed transactions to the mempool. */
export async function rescanWatched(ctx: RpcContext, wallet: Wallet, turn: ScanTurn | null): Promise<void> {
  if (turn === null) return;
  await rescanSince(ctx, wallet, turn, 0);
  await ctx.outOfTurn(() => reacceptTransactions(wallet));
}
