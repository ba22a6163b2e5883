/**
 * Runs rescans: on request, from the creation time of keys or over a range of blocks; and "owed" rescans (recorded as not
 * done yet), which start automatically. Source: lbrycrd wallet/wallet.cpp `RescanFromTime`.
 */
import { yieldIfDue } from '../../scheduler/yield.js';
import { WalletBatch } from '../store/records.js';
import type { Wallet } from '../wallet.js';
import { scanBlocks, type ScanEnd } from './scanBlocks.js';
import type { ScanBounds } from './scanHeights.js';
import type { ScanTurn } from './scans.js';
import { takeUnconfirmed } from './takeBlock.js';

/**
 * Maximum difference in seconds between the creation time of a key and the time of a block that pays to it. Source:
 * `TIMESTAMP_WINDOW`.
 */
export const TIMESTAMP_WINDOW_SEC = 2 * 60 * 60;

export interface TimeScanEnd {
  readonly isComplete: boolean;
  /** Time from which on the scan is complete: the requested time, or a later one if blocks could not be read. */
  readonly scannedFromSec: number;
}

/**
 * Scans the chain for payments to keys that were created at or after a time. When the promise resolves, the results are on
 * disk. Until then the wallet file contains a record of the rescan, so after a crash it starts again automatically.
 */
export async function rescanFromTime(wallet: Wallet, turn: ScanTurn, timeSec: number): Promise<TimeScanEnd> {
  const { chain, log } = wallet.node;
  const first = chain.firstFrom(timeSec - TIMESTAMP_WINDOW_SEC);
  const count = first < 0 ? 0 : chain.height - first + 1;
  log.info(`${wallet.logName} RescanFromTime: Rescanning last ${count} blocks`);
  if (first < 0) return { isComplete: true, scannedFromSec: timeSec };
  const { isComplete, unreadable } = await rescanBlocks(wallet, turn, { first, last: null });
  const scannedFromSec =
    unreadable < 0 ? timeSec : maxTimeSecAt(wallet, unreadable) + TIMESTAMP_WINDOW_SEC + 1;
  return { isComplete, scannedFromSec };
}

/** The latest time of all blocks up to and including `height`. Source: `GetBlockTimeMax`. */
function maxTimeSecAt({ node: { chain } }: Wallet, height: number): number {
  let latest = 0;
  for (let at = 0; at <= height; at++) latest = Math.max(latest, chain.timeSecAt(at));
  return latest;
}

/**
 * Scans a range of heights. Until the results are on disk the rescan is recorded as owed, so after a crash it starts again
 * automatically.
 */
export async function rescanBlocks(wallet: Wallet, turn: ScanTurn, bounds: ScanBounds): Promise<ScanEnd> {
  const { scans } = wallet;
  await wallet.change((batch) => scans.owe(batch, bounds.first));
  const end = await scanBlocks(wallet, turn, bounds);
  if (end.isComplete && bounds.last === null) await takeMempool(wallet);
  // A scan that the user aborted is not owed any more. A scan that was interrupted by the end of the program stays owed.
  if (turn.ended !== 'close') await wallet.change((batch) => scans.settle(batch, bounds.first));
  return end;
}

/** Like `rescanBlocks`, for a wallet that is being opened. Ends early if the opening is aborted. */
export async function lookAgain(wallet: Wallet, bounds: ScanBounds, signal?: AbortSignal): Promise<void> {
  const turn = wallet.scans.reserve();
  if (turn === null) return;
  const end = (): void => void wallet.scans.close();
  signal?.addEventListener('abort', end);
  try {
    if (signal?.aborted !== true) await rescanBlocks(wallet, turn, { ...bounds, isOwn: true });
  } finally {
    signal?.removeEventListener('abort', end);
    turn.release();
  }
}

/** Applies the transactions that are in the mempool. */
async function takeMempool(wallet: Wallet): Promise<void> {
  const { mempool } = wallet.node;
  let since = performance.now();
  for (const { txid, bytes } of [...mempool.all()]) {
    if (!mempool.has(txid)) continue;
    const batch = new WalletBatch();
    takeUnconfirmed(wallet, batch, txid, bytes);
    await wallet.write(batch, { sync: false });
    since = await yieldIfDue(since);
  }
}

/** Starts the owed rescan of a wallet, if one is recorded. It runs as soon as no other rescan is running. */
export function beginOwedScan(wallet: Wallet): void {
  payDebt(wallet).catch((error: unknown) => wallet.node.onFatal(error));
}

async function payDebt(wallet: Wallet): Promise<void> {
  const { scans } = wallet;
  while (scans.unfinishedFrom !== null) {
    const turn = scans.reserve();
    if (turn === null) {
      if (!(await scans.idle())) return;
      continue;
    }
    try {
      await rescanBlocks(wallet, turn, { first: scans.unfinishedFrom, last: null, isOwn: true });
      if (turn.ended !== null) return;
    } finally {
      turn.release();
    }
  }
}
