/** Rescans as calls ask for them, and how those fail. Source: lbrycrd wallet/rpcdump.cpp `RescanWallet`. */
import { reacceptTransactions } from '../../../../wallet/spending/broadcasting.js';
import { rescanFromTime, type TimeScanEnd } from '../../../../wallet/scan/rescan.js';
import type { ScanTurn } from '../../../../wallet/scan/scans.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import type { RpcContext } from '../../../declare/method.js';

/** Runs a task while no other may scan the wallet; -4 while another does. With `wanted` false without further ado. */
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

/** -4 where a node that prunes is asked for a rescan. */
export function refusePruned({ services }: RpcContext, wanted: boolean): void {
  if (wanted && services.pruner !== null)
    throw rpcError(RPC_ERROR.WALLET_ERROR, 'Rescan is disabled in pruned mode');
}

/** Looks from a time on; the call is in no one's way meanwhile. */
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

/** The same where all blocks must have been there. */
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
      'Rescan was unable to fully rescan the blockchain. Some transactions may be missing.',
    );
  }
}

/** After something that is watched came in: all of the chain, then what waits to the mempool. */
export async function rescanWatched(ctx: RpcContext, wallet: Wallet, turn: ScanTurn | null): Promise<void> {
  if (turn === null) return;
  await rescanSince(ctx, wallet, turn, 0);
  await ctx.outOfTurn(() => reacceptTransactions(wallet));
}
