/**
 * Whether a wallet looks through blocks again, how far it is, and from where it still owes such a look. There is one at a
 * time. What is owed is in the wallet's file, so that neither a crash nor a locked wallet makes it forgotten: a scan that
 * was begun and not finished, and blocks that were looked through while keys were missing that only an unlocked wallet
 * makes. Source: lbrycrd wallet/wallet.h `WalletRescanReserver`, `fAbortRescan`.
 */
import type { Bytes } from '../../util/bytes.js';
import { Reader } from '../../util/reader.js';
import { Writer } from '../../util/writer.js';
import { recordKey, type WalletBatch } from '../store/records.js';

/** Leave to scan, which must be given back. */
export interface ScanTurn {
  /** Whether the scan is to end, and on whose account. */
  readonly ended: 'abort' | 'close' | null;
  /** How much of the scan is done, from 0 to 1. */
  tell(progress: number): void;
  release(): void;
}

export interface ScanProgress {
  readonly durationSec: number;
  /** Progress from 0 to 1. */
  readonly progress: number;
}

/** What is owed: the first block of a scan that is not finished, and of those that want keys to be made first. */
const DEBTS = { unfinished: 'scanfrom', locked: 'lockedfrom' } as const;
type Debt = keyof typeof DEBTS;

/** A scan that is under way. */
interface Running {
  readonly sinceMs: number;
  progress: number;
  ended: ScanTurn['ended'];
}

export class Scans {
  private running: Running | null = null;
  private isClosing = false;
  private readonly waiting: (() => void)[] = [];
  private readonly owed: Record<Debt, number | null> = { unfinished: null, locked: null };

  /** Null while a scan is under way, or the wallet is being closed. */
  reserve(): ScanTurn | null {
    if (this.running !== null || this.isClosing) return null;
    const running: Running = { sinceMs: performance.now(), progress: 0, ended: null };
    this.running = running;
    return {
      get ended() {
        return running.ended;
      },
      tell(progress) {
        running.progress = progress;
      },
      release: () => {
        if (this.running !== running) return;
        this.running = null;
        for (const resolve of this.waiting.splice(0)) resolve();
      },
    };
  }

  /** How far the scan is that is under way; null without one. */
  get progress(): ScanProgress | null {
    if (this.running === null) return null;
    const { sinceMs, progress } = this.running;
    return { durationSec: Math.floor((performance.now() - sinceMs) / 1000), progress };
  }

  /** Ends the scan that is under way; false when there is none, or it is ending. */
  abort(): boolean {
    if (this.running === null || this.running.ended !== null) return false;
    this.running.ended = 'abort';
    return true;
  }

  /** Ends the scan that is under way and lets none begin; resolves when there is none. What is left of it stays owed. */
  async close(): Promise<void> {
    this.isClosing = true;
    if (this.running === null) return;
    this.running.ended ??= 'close';
    await this.idle();
  }

  /** Resolves when no scan is under way: with false when none will be any more. */
  async idle(): Promise<boolean> {
    while (this.running !== null) await new Promise<void>((resolve) => this.waiting.push(resolve));
    return !this.isClosing;
  }

  // What is owed.

  /** The first block of a scan that was not finished; null when none is owed. */
  get unfinishedFrom(): number | null {
    return this.owed.unfinished;
  }

  /** The first block that was looked through while keys were missing; null when none were. */
  get lockedFrom(): number | null {
    return this.owed.locked;
  }

  /** A scan from that height to the tip begins; until `settle` it is owed. */
  owe(batch: WalletBatch, first: number): void {
    this.put(batch, 'unfinished', first);
  }

  /** Blocks from that height on were looked through while the pool could not be filled. */
  noteShortage(batch: WalletBatch, first: number): void {
    this.put(batch, 'locked', first);
  }

  /** A scan from that height on is finished, or given up. */
  settle(batch: WalletBatch, first: number): void {
    if (this.owed.unfinished !== null && this.owed.unfinished >= first) this.drop(batch, 'unfinished');
  }

  /** The keys that were missing are there: their blocks are owed a scan from here on. */
  endShortage(batch: WalletBatch): void {
    if (this.owed.locked === null) return;
    this.owe(batch, this.owed.locked);
    this.drop(batch, 'locked');
  }

  private put(batch: WalletBatch, debt: Debt, first: number): void {
    const known = this.owed[debt];
    if (known !== null && known <= first) return;
    this.owed[debt] = first;
    batch.put(recordKey(DEBTS[debt]), new Writer(4).u32(first).finish());
  }

  private drop(batch: WalletBatch, debt: Debt): void {
    if (this.owed[debt] === null) return;
    this.owed[debt] = null;
    batch.del(recordKey(DEBTS[debt]));
  }

  /** Takes in a row; false when it is of another kind. */
  load(kind: string, value: Bytes): boolean {
    for (const debt of ['unfinished', 'locked'] as const) {
      if (kind !== DEBTS[debt]) continue;
      this.owed[debt] = new Reader(value).u32();
      return true;
    }
    return false;
  }
}
