/**
 * Scans blocks of the chain for transactions of a wallet, in the background. The follower, not the scan, applies new blocks.
 * Source: lbrycrd wallet/wallet.cpp `ScanForWalletTransactions`.
 */
import { yieldIfDue } from '../../scheduler/yield.js';
import { equalBytes, type Bytes } from '../../util/bytes.js';
import { inSlices } from '../../scheduler/slices.js';
import { atOnce } from '../../util/slices.js';
import type { Entry } from '../ledger/entry.js';
import type { ChainPort, WalletBlock } from '../port.js';
import { WalletBatch } from '../store/records.js';
import type { Wallet } from '../wallet.js';
import { EveryHeight, IndexedHeights, type ScanBounds, type ScanHeights } from './scanHeights.js';
import { QuickScan } from './quickScan.js';
import type { ScanTurn } from './scans.js';
import { endShortage } from './shortage.js';
import { factsAhead, hasMuchOf, takeBlock } from './takeBlock.js';

/** Interval in milliseconds of progress lines in the log. Source: `ScanForWalletTransactions`. */
export const LOG_EVERY_MS = 60_000;
/** Number of blocks that are read concurrently. Arbitrary. */
const READ_AHEAD = 8;

/** Describes the progress of a scan for the log. */
export function progressAt(height: number, { height: tip }: ChainPort): string {
  return `block ${height}. Progress=${(height / Math.max(tip, 1)).toFixed(6)}`;
}

export interface ScanEnd {
  /** Whether the scan reached its last block. False if it was aborted. */
  readonly isComplete: boolean;
  /** Height of the highest block that could not be read; −1 if there is none. */
  readonly unreadable: number;
}

/** Scans blocks. When the promise resolves, the results are written to the wallet file, but may not survive a power failure. */
export function scanBlocks(wallet: Wallet, turn: ScanTurn, bounds: ScanBounds): Promise<ScanEnd> {
  return wallet.events.use(() => scan(wallet, turn, bounds));
}

async function scan(wallet: Wallet, turn: ScanTurn, bounds: ScanBounds): Promise<ScanEnd> {
  const { keyring, logName } = wallet;
  const { chain, log } = wallet.node;
  const { first } = bounds;
  const reader = new ReadAhead(chain);
  const quick = new QuickScan(wallet);
  let heights: ScanHeights = (await IndexedHeights.ask(wallet, bounds)) ?? new EveryHeight(chain, bounds);
  let unreadable = -1;
  let loggedMs = performance.now();
  let since = loggedMs;
  log.info(`${logName} Rescan started from block ${first}...`);
  for (let height = await heights.next(); height !== null; height = await heights.next()) {
    const progress = progressAt(height, chain);
    if (turn.ended !== null) {
      const how = turn.ended === 'abort' ? 'aborted' : 'interrupted by shutdown request';
      log.info(`${logName} Rescan ${how} at ${progress}`);
      await wallet.reconsiderOutputs();
      return { isComplete: false, unreadable };
    }
    turn.tell((height - first) / Math.max((bounds.last ?? chain.height) - first, 1));
    if (performance.now() - loggedMs >= LOG_EVERY_MS) {
      loggedMs = performance.now();
      log.info(`${logName} Still rescanning. At ${progress}`);
    }
    const passed = await quick.look([height, ...heights.ahead(quick.wanted - 1)], bounds.isOwn === true);
    if (passed > 0) {
      heights.skip(passed - 1);
      since = await yieldIfDue(since);
      continue;
    }
    const block = await reader.read(height, quick.isPossible ? [] : heights.ahead(READ_AHEAD));
    // Waits until the wallet has applied all queued events. The follower applies blocks that the wallet has not reached
    // yet.
    await wallet.events.caughtUp();
    if (block === null) unreadable = Math.max(unreadable, height);
    // If a block is not in the active chain any more, the follower has applied the block that replaced it.
    else if (block !== 'gone' && chain.heightOf(block.hash) === height) {
      const made: Bytes[] = [];
      const look = { since: first, reported: new Set<Entry>(), onlyChanges: bounds.isOwn === true };
      for (let more: Bytes[] | null = []; more !== null; more = await endShortage(wallet)) {
        const batch = new WalletBatch();
        made.push(...more);
        const ahead = hasMuchOf(wallet, block) ? await inSlices(factsAhead(wallet, block)) : undefined;
        // The chain may have changed during the awaits above.
        if (chain.heightOf(block.hash) !== height) break;
        made.push(...keyring.addedBy(() => atOnce(takeBlock(wallet, batch, block, look, ahead))));
        await wallet.write(batch, { sync: false });
      }
      if (made.length > 0 && !(await heights.keysMade(height, made)))
        heights = new EveryHeight(chain, bounds);
    }
    since = await yieldIfDue(since);
  }
  // After a scan, other outputs of known transactions may also belong to the keys that were created during the scan.
  await wallet.reconsiderOutputs();
  return { isComplete: true, unreadable };
}

/** Reads the next blocks of the scan concurrently. */
class ReadAhead {
  private readonly chain: ChainPort;
  private readonly reading = new Map<number, Promise<WalletBlock | 'gone' | null>>();

  constructor(chain: ChainPort) {
    this.chain = chain;
  }

  /**
   * Returns the block at `height`. Null if it cannot be read; `gone` if the active chain has a different block or none at
   * this height.
   */
  async read(height: number, ahead: readonly number[]): Promise<WalletBlock | 'gone' | null> {
    for (const other of this.reading.keys())
      if (other !== height && !ahead.includes(other)) this.reading.delete(other);
    const reading = this.reading.get(height) ?? this.begin(height);
    this.reading.delete(height);
    for (const next of ahead) if (!this.reading.has(next)) this.reading.set(next, this.begin(next));
    return reading;
  }

  private async begin(height: number): Promise<WalletBlock | 'gone' | null> {
    const { chain } = this;
    const hash = chain.hashAt(height);
    if (hash === null) return 'gone';
    if (!chain.hasBlock(height)) return null;
    try {
      return await chain.readBlock(height);
    } catch {
      const now = chain.hashAt(height);
      return now !== null && equalBytes(now, hash) ? null : 'gone';
    }
  }
}
