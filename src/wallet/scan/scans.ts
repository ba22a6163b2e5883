/**
 * State of a wallet's rescans: whether one is running, its progress, and owed rescans. Only one can run at a time. Owed
 * rescans are stored in the wallet file, so that they survive a crash: scans that were started and not finished, and scans
 * of blocks at a time when the keypool could not be filled because the wallet was locked. Source: lbrycrd wallet/wallet.h
 * `WalletRescanReserver`, `fAbortRescan`.
 */
import type { Bytes } from '../../util/bytes.js';
import { Reader } from '../../util/reader.js';
import { Writer } from '../../util/writer.js';
import { recordKey, type WalletBatch } from '../store/records.js';

/** Permission to scan. Call `release` at the end. */
export interface ScanTurn {
  /** Null, or the reason why the scan must end. */
  readonly ended: 'abort' | 'close' | null;
  /** Reports the progress of the scan, from 0 to 1. */
  tell(progress: number): void;
  release(): void;
}

export interface ScanProgress {
  readonly durationSec: number;
  /** Progress from 0 to 1. */
  readonly progress: number;
}

/** Row kinds of owed rescans: the first block of an unfinished scan, and the first block that was scanned without enough keys. */
const DEBTS = { unfinished: 'scanfrom', locked: 'lockedfrom' } as const;
type Debt = keyof typeof DEBTS;

/** A running scan. */
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

  /** Null while a scan is running or the wallet is being closed. */
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

  /** Progress of the running scan; null without one. */
  get progress(): ScanProgress | null {
    if (this.running === null) return null;
    const { sinceMs, progress } = this.running;
    return { durationSec: Math.floor((performance.now() - sinceMs) / 1000), progress };
  }

  /** Aborts the running scan; false if there is none, or it is already ending. */
  abort(): boolean {
    if (this.running === null || this.running.ended !== null) return false;
    this.running.ended = 'abort';
    return true;
  }

  /** Ends the running scan and prevents others; resolves when none is running. An unfinished scan stays owed. */
  async close(): Promise<void> {
    this.isClosing = true;
    if (this.running === null) return;
    this.running.ended ??= 'close';
    await this.idle();
  }

  /** Resolves when no scan is running, with false if no scan can start any more. */
  async idle(): Promise<boolean> {
    while (this.running !== null) await new Promise<void>((resolve) => this.waiting.push(resolve));
    return !this.isClosing;
  }

  // What is owed.

  /** First block of an unfinished scan; null if none is owed. */
  get unfinishedFrom(): number | null {
    return this.owed.unfinished;
  }

  /** First block that was scanned without enough keys; null without one. */
  get lockedFrom(): number | null {
    return this.owed.locked;
  }

  /** Records a scan from that height to the tip as owed until `settle`. */
  owe(batch: WalletBatch, first: number): void {
    this.put(batch, 'unfinished', first);
  }

  /** Records that blocks from that height on were scanned while the pool could not be filled. */
  noteShortage(batch: WalletBatch, first: number): void {
    this.put(batch, 'locked', first);
  }

  /** Records that a scan from that height on was finished or aborted. */
  settle(batch: WalletBatch, first: number): void {
    if (this.owed.unfinished !== null && this.owed.unfinished >= first) this.drop(batch, 'unfinished');
  }

  /** The missing keys were created: records a rescan of their blocks as owed. */
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

  /** Loads a row; false if it is of another kind. */
  load(kind: string, value: Bytes): boolean {
    for (const debt of ['unfinished', 'locked'] as const) {
      if (kind !== DEBTS[debt]) continue;
      this.owed[debt] = new Reader(value).u32();
      return true;
    }
    return false;
  }
}
