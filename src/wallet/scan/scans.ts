/**
 * State of a wallet's rescans: whether one is running, its progress, and owed rescans. Only one rescan can run at a time. A
 * rescan is owed if it was started and not finished, or if blocks were scanned while the key pool could not be filled
 * because the wallet was locked. Owed rescans are stored in the wallet file, so that they survive a crash. Source: lbrycrd
 * wallet/wallet.h `WalletRescanReserver`, `fAbortRescan`.
 */
import type { Bytes } from '../../util/bytes.js';
import { Reader } from '../../util/reader.js';
import { Writer } from '../../util/writer.js';
import { recordKey, type WalletBatch } from '../store/records.js';

/** Permission to scan. The holder must call `release` at the end of the scan. */
export interface ScanTurn {
  /** Reason why the running scan must end: aborted by the user, or the wallet is being closed. Null while the scan may run. */
  readonly ended: 'abort' | 'close' | null;
  /** Reports the progress of the scan, a number from 0 to 1. */
  tell(progress: number): void;
  release(): void;
}

export interface ScanProgress {
  readonly durationSec: number;
  /** Progress of the scan, a number from 0 to 1. */
  readonly progress: number;
}

/**
 * Types of the rows that store owed rescans. `scanfrom`: height of the first block of an unfinished scan. `lockedfrom`:
 * height of the first block that was scanned without enough keys.
 */
const DEBTS = { unfinished: 'scanfrom', locked: 'lockedfrom' } as const;
type Debt = keyof typeof DEBTS;

/** State of the running scan. */
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

  /** Reserves the permission to scan. Null while a scan is running or the wallet is being closed. */
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

  /** Progress of the running scan; null if no scan is running. */
  get progress(): ScanProgress | null {
    if (this.running === null) return null;
    const { sinceMs, progress } = this.running;
    return { durationSec: Math.floor((performance.now() - sinceMs) / 1000), progress };
  }

  /** Aborts the running scan. Returns false if no scan is running, or if it is already ending. */
  abort(): boolean {
    if (this.running === null || this.running.ended !== null) return false;
    this.running.ended = 'abort';
    return true;
  }

  /** Ends the running scan and prevents further scans. Resolves when no scan is running. An unfinished scan stays owed. */
  async close(): Promise<void> {
    this.isClosing = true;
    if (this.running === null) return;
    this.running.ended ??= 'close';
    await this.idle();
  }

  /** Resolves when no scan is running. The value is false if no scan can start any more. */
  async idle(): Promise<boolean> {
    while (this.running !== null) await new Promise<void>((resolve) => this.waiting.push(resolve));
    return !this.isClosing;
  }

  // Methods about rescans that are not finished.

  /** Height of the first block of an unfinished scan; null if no scan is unfinished. */
  get unfinishedFrom(): number | null {
    return this.owed.unfinished;
  }

  /** Height of the first block that was scanned without enough keys; null if there is none. */
  get lockedFrom(): number | null {
    return this.owed.locked;
  }

  /** Records that a scan from height `first` to the tip is owed, until `settle` is called. */
  owe(batch: WalletBatch, first: number): void {
    this.put(batch, 'unfinished', first);
  }

  /** Records that blocks from height `first` on were scanned while the key pool could not be filled. */
  noteShortage(batch: WalletBatch, first: number): void {
    this.put(batch, 'locked', first);
  }

  /** Records that the scan from height `first` on is not owed any more, because it was finished or aborted. */
  settle(batch: WalletBatch, first: number): void {
    if (this.owed.unfinished !== null && this.owed.unfinished >= first) this.drop(batch, 'unfinished');
  }

  /** Must be called when the missing keys were created. Records that a rescan of the affected blocks is owed. */
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

  /** Loads a row. Returns false if the row has another type. */
  load(kind: string, value: Bytes): boolean {
    for (const debt of ['unfinished', 'locked'] as const) {
      if (kind !== DEBTS[debt]) continue;
      this.owed[debt] = new Reader(value).u32();
      return true;
    }
    return false;
  }
}
