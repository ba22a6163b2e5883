/**
 * Queue of node events that a wallet has not applied yet, in order of arrival. Most events are small and applied
 * immediately. A long event is prepared and applied in slices, while no call uses the wallet. A call that arrives during
 * this time waits, or applies the rest of the event immediately. A wallet may therefore be slightly behind the chain, but is
 * always consistent for callers. Source: the reference's `CScheduler` behind the validation interface, `cs_wallet`.
 */
import { yieldIfDue, nextSlice } from '../scheduler/yield.js';
import { equalBytes, type Bytes } from '../util/bytes.js';
import { inSlices } from '../scheduler/slices.js';
import { atOnce, type Slices } from '../util/slices.js';

/** An event of the node that a wallet must process, such as a connected block. */
export interface NodeEvent {
  /**
   * The block that the event adds to or removes from the wallet's chain. `heightBefore`: its height in the wallet's chain
   * before the event; −1 if it is not in the chain.
   */
  readonly moves?: { readonly hash: Bytes; readonly heightBefore: number };
  /** Group of successive events between which other code cannot run. All events of a group have the same object. */
  readonly group?: object;
  /** Memory in bytes that the event occupies while it waits; 0 if its data stays in memory anyway. */
  readonly sizeBytes?: number;
  /** Work that can be done before the event is applied. It must not change the wallet. */
  readonly prepare?: () => Slices<void>;
  /** Whether applying the event takes long. Such an event is queued instead of applied immediately. */
  readonly isLong?: boolean;
  /** Applies the event to the wallet, in slices. Must not throw. */
  take(): Slices<void>;
}

interface Waiting {
  readonly event: NodeEvent;
  readonly waiters: (() => void)[];
}

/**
 * Maximum size in bytes of waiting events. If it is exceeded, all events are applied immediately, because the node does not
 * wait for wallets. Arbitrary.
 */
const MAX_WAITING_BYTES = 32 << 20;
/** Number of finished events in the array at which they are removed. Arbitrary. */
const COMPACT_AT = 4096;

export class EventQueue {
  /** Queue of events. Those before position `first` are finished. */
  private waiting: Waiting[] = [];
  private first = 0;
  private waitingBytes = 0;
  /** `taking`: the event that is being applied. `isWorking`: whether code of that event is on the call stack. */
  private taking: { readonly work: Slices<void>; readonly waiters: (() => void)[] } | null = null;
  private isWorking = false;
  /** Group of the event that was started last. */
  private group: object | undefined;
  private users = 0;
  /** Number of events that were started. */
  private started = 0;
  private isHeld = false;
  private isRunning = false;

  /** Applies an event immediately, or queues it behind waiting events. */
  push(event: NodeEvent): void {
    if (!this.isBehind && !this.isHeld && event.isLong !== true) {
      this.begin(event, []);
      this.finish();
    } else this.wait(event);
  }

  /** Queues an event, even if it could be applied immediately. */
  wait(event: NodeEvent): void {
    this.waiting.push({ event, waiters: [] });
    this.waitingBytes += event.sizeBytes ?? 0;
    if (this.isHeld) return;
    if (this.waitingBytes > MAX_WAITING_BYTES) this.takeAll();
    this.run();
  }

  /** Delays all events until `release` is called. */
  hold(): void {
    this.isHeld = true;
  }

  release(): void {
    this.isHeld = false;
    this.run();
  }

  /** Whether events wait or are being applied. */
  get isBehind(): boolean {
    return this.taking !== null || this.first < this.waiting.length;
  }

  /** Whether no event is waiting or being applied, and the wallet is not in use. */
  get isIdle(): boolean {
    return this.isIdleBeside(0);
  }

  /** Whether no event is waiting or being applied, and at most `users` tasks use the wallet. */
  isIdleBeside(users: number): boolean {
    return !this.isBehind && this.users <= users;
  }

  /** Number of events that were started so far. If it is unchanged, no event has changed the wallet. */
  get startedCount(): number {
    return this.started;
  }

  /** Whether only some of the events of a group have been applied. */
  get isInGroup(): boolean {
    const group = this.waiting[this.first]?.event.group;
    return group !== undefined && group === this.group;
  }

  /** Resolves when all events that are in the queue at the call are applied; null if the queue is empty. */
  caughtUp(): Promise<void> | null {
    if (!this.isBehind) return null;
    const last = this.first < this.waiting.length ? this.waiting.at(-1)! : this.taking!;
    return new Promise((resolve) => last.waiters.push(resolve));
  }

  /** Applies the rest of a started event immediately, so that later reads and writes see a consistent state. */
  finish(): void {
    if (this.taking === null || this.isWorking) return;
    const { work } = this.taking;
    this.isWorking = true;
    atOnce(work);
    this.end();
  }

  /** Marks the wallet as in use until `leave` is called. Events are not applied in slices meanwhile. */
  enter(): void {
    this.finish();
    this.users++;
  }

  leave(): void {
    this.users--;
  }

  /** Marks the wallet as in use while a task runs. */
  async use<T>(task: () => Promise<T>): Promise<T> {
    this.enter();
    try {
      return await task();
    } finally {
      this.leave();
    }
  }

  /**
   * Height of a block in the wallet's chain, −1 if it is not in the chain. Undefined if no waiting event adds or removes the
   * block.
   */
  heightOf(hash: Bytes): number | undefined {
    for (let at = this.first; at < this.waiting.length; at++) {
      const { moves } = this.waiting[at]!.event;
      if (moves !== undefined && equalBytes(moves.hash, hash)) return moves.heightBefore;
    }
    return undefined;
  }

  /** Whether the wallet's chain contains blocks that the node has already disconnected. */
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

  /** Prepares the next event, starts it, or applies a slice of it. Returns the start time of the current time slice. */
  private async step(since: number): Promise<number> {
    const next = this.waiting[this.first];
    if (this.taking === null && next !== undefined) {
      if (next.event.prepare !== undefined) {
        try {
          await inSlices(next.event.prepare());
        } catch {
          // The error is ignored here, because applying the event throws the same error and reports it.
        }
        since = await nextSlice();
      }
      // During the wait other code may have applied the events.
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
    // An event that arrives while another event is being applied is queued for the next turn.
    if (this.isWorking) return;
    this.finish();
    while (this.first < this.waiting.length) {
      this.beginFirst();
      this.finish();
    }
  }

  private beginFirst(): void {
    const { event, waiters } = this.waiting[this.first]!;
    this.first++;
    this.waitingBytes -= event.sizeBytes ?? 0;
    // Finished events are removed in batches, because removing a single event would move all events that follow.
    if (this.first === this.waiting.length || this.first === COMPACT_AT) {
      this.waiting = this.waiting.slice(this.first);
      this.first = 0;
    }
    this.begin(event, waiters);
  }

  private begin(event: NodeEvent, waiters: (() => void)[]): void {
    this.group = event.group;
    this.started++;
    this.taking = { work: event.take(), waiters };
  }

  private end(): void {
    const { waiters } = this.taking!;
    this.taking = null;
    this.isWorking = false;
    for (const resolve of waiters) resolve();
  }
}
