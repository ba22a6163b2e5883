/**
 * Queue of node events that a wallet has not applied yet, in order of arrival. Most events are small and applied at once. A
 * long event is prepared in slices. It is also applied in slices while the wallet is not in use; a call during that time
 * waits, or applies the rest at once. So a wallet may be slightly behind the chain, but is always consistent for callers.
 * Source: the reference's `CScheduler` behind the validation interface, `cs_wallet`.
 */
import { yieldIfDue, nextSlice } from '../scheduler/yield.js';
import { equalBytes, type Bytes } from '../util/bytes.js';
import { inSlices } from '../scheduler/slices.js';
import { atOnce, type Slices } from '../util/slices.js';

/** An event of the node. */
export interface NodeEvent {
  /** The block that the event adds to the wallet's chain or removes from it, and its height before the event; −1 for none. */
  readonly moves?: { readonly hash: Bytes; readonly heightBefore: number };
  /** Shared by successive events between which other code could not run. */
  readonly group?: object;
  /** Memory that the waiting event needs; 0 if the data exists anyway. */
  readonly sizeBytes?: number;
  /** Work that can be done in advance. It must not change the wallet. */
  readonly prepare?: () => Slices<void>;
  /** Whether the event takes long. It is then queued instead of applied at once. */
  readonly isLong?: boolean;
  /** Applies the event. Must not throw. */
  take(): Slices<void>;
}

interface Waiting {
  readonly event: NodeEvent;
  readonly told: (() => void)[];
}

/** Maximum size of waiting events. The node does not wait for wallets, so beyond it all events are applied at once. Arbitrary. */
const MAX_WAITING_BYTES = 32 << 20;
/** Maximum number of finished events in the array. Arbitrary. */
const COMPACT_AT = 4096;

export class EventLine {
  /** Waiting events; those before `first` are done. */
  private waiting: Waiting[] = [];
  private first = 0;
  private waitingBytes = 0;
  /** The event that is being applied, and whether its code is on the call stack. */
  private taking: { readonly work: Slices<void>; readonly told: (() => void)[] } | null = null;
  private isWorking = false;
  /** Group of the last started event. */
  private group: object | undefined;
  private users = 0;
  private isHeld = false;
  private isRunning = false;

  /** Applies an event, or queues it behind waiting ones. */
  hear(event: NodeEvent): void {
    if (!this.isBehind && !this.isHeld && event.isLong !== true) {
      this.begin(event, []);
      this.finish();
    } else this.wait(event);
  }

  /** Queues an event in any case. */
  wait(event: NodeEvent): void {
    this.waiting.push({ event, told: [] });
    this.waitingBytes += event.sizeBytes ?? 0;
    if (this.isHeld) return;
    if (this.waitingBytes > MAX_WAITING_BYTES) this.takeAll();
    this.run();
  }

  /** Delays all events until `release`. */
  hold(): void {
    this.isHeld = true;
  }

  release(): void {
    this.isHeld = false;
    this.run();
  }

  /** Whether events are waiting or being applied. */
  get isBehind(): boolean {
    return this.taking !== null || this.first < this.waiting.length;
  }

  /** Whether only a part of a group of events has been applied. */
  get isInGroup(): boolean {
    const group = this.waiting[this.first]?.event.group;
    return group !== undefined && group === this.group;
  }

  /** Resolves when all events so far are applied; null if they are. */
  caughtUp(): Promise<void> | null {
    if (!this.isBehind) return null;
    const last = this.first < this.waiting.length ? this.waiting.at(-1)! : this.taking!;
    return new Promise((resolve) => last.told.push(resolve));
  }

  /** Applies the rest of a started event at once, so that later reads and writes see a consistent state. */
  finish(): void {
    if (this.taking === null || this.isWorking) return;
    const { work } = this.taking;
    this.isWorking = true;
    atOnce(work);
    this.end();
  }

  /** Marks the wallet as in use until `leave`: events are not applied in slices. */
  enter(): void {
    this.finish();
    this.users++;
  }

  leave(): void {
    this.users--;
  }

  /** The same for the duration of a task. */
  async use<T>(task: () => Promise<T>): Promise<T> {
    this.enter();
    try {
      return await task();
    } finally {
      this.leave();
    }
  }

  /** The height of a block in the wallet's chain, −1 for none; undefined if no waiting event moves it. */
  heightOf(hash: Bytes): number | undefined {
    for (let at = this.first; at < this.waiting.length; at++) {
      const { moves } = this.waiting[at]!.event;
      if (moves !== undefined && equalBytes(moves.hash, hash)) return moves.heightBefore;
    }
    return undefined;
  }

  /** Whether the wallet's chain has blocks that are not in the node's active chain any more. */
  get isOnOldBranch(): boolean {
    for (let at = this.first; at < this.waiting.length; at++)
      if ((this.waiting[at]!.event.moves?.heightBefore ?? -1) >= 0) return true;
    return false;
  }

  private run(): void {
    if (this.isRunning || !this.isBehind) return;
    this.isRunning = true;
    void this.takeInTurns();
  }

  private async takeInTurns(): Promise<void> {
    let since = await nextSlice();
    while (this.isBehind && !this.isHeld) {
      since = await this.step(since);
      since = await yieldIfDue(since);
    }
    this.isRunning = false;
  }

  /** Prepares the next event, starts it, or applies a part of it. Returns the start time of the present slice. */
  private async step(since: number): Promise<number> {
    const next = this.waiting[this.first];
    if (this.taking === null && next !== undefined) {
      if (next.event.prepare !== undefined) {
        try {
          await inSlices(next.event.prepare());
        } catch {
          // Applying the event throws the same error, and reports it.
        }
        since = await nextSlice();
      }
      // All events may have been applied meanwhile.
      if (this.taking !== null || this.waiting[this.first] !== next) return since;
      this.beginFirst();
    }
    if (this.users > 0) this.finish();
    else this.workOn();
    return since;
  }

  private workOn(): void {
    if (this.taking === null) return;
    this.isWorking = true;
    if (this.taking.work.next().done === true) this.end();
    this.isWorking = false;
  }

  private takeAll(): void {
    // An event that arrives while another one is being applied waits for the next turn.
    if (this.isWorking) return;
    this.finish();
    while (this.first < this.waiting.length) {
      this.beginFirst();
      this.finish();
    }
  }

  private beginFirst(): void {
    const { event, told } = this.waiting[this.first]!;
    this.first++;
    this.waitingBytes -= event.sizeBytes ?? 0;
    // Removes finished events in batches: they must not stay in memory, nor be moved one by one.
    if (this.first === this.waiting.length || this.first === COMPACT_AT) {
      this.waiting = this.waiting.slice(this.first);
      this.first = 0;
    }
    this.begin(event, told);
  }

  private begin(event: NodeEvent, told: (() => void)[]): void {
    this.group = event.group;
    this.taking = { work: event.take(), told };
  }

  private end(): void {
    const { told } = this.taking!;
    this.taking = null;
    this.isWorking = false;
    for (const resolve of told) resolve();
  }
}
