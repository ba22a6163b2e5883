/**
 * Events of the node that a wallet has not applied yet: one event after the other, in the order in which they came. Most are
 * little and applied at once. What is much is made ready in slices, and applied in slices too as long as no one uses the
 * wallet; a call meanwhile waits, or applies the rest at once. So a wallet may be a little behind the chain, but is
 * consistent for its user. Source: the reference's `CScheduler` behind the validation interface,
 * `cs_wallet`.
 */
import { yieldIfDue, nextSlice } from '../scheduler/yield.js';
import { equalBytes, type Bytes } from '../util/bytes.js';
import { inSlices } from '../scheduler/slices.js';
import { atOnce, type Slices } from '../util/slices.js';

/** An event of the node. */
export interface NodeEvent {
  /** The block that it adds to the wallet's chain or takes from it, and the height of it there before; −1 for none. */
  readonly moves?: { readonly hash: Bytes; readonly heightBefore: number };
  /** The same for events one after the other between which no one could have looked at the node. */
  readonly group?: object;
  /** What it holds in memory while it waits; 0 for what is there anyway. */
  readonly sizeBytes?: number;
  /** What can be done of it ahead. Must not change the wallet. */
  readonly prepare?: () => Slices<void>;
  /** Whether it is much: then it is not applied where it is heard. */
  readonly isLong?: boolean;
  /** Takes it in. Must not throw. */
  take(): Slices<void>;
}

interface Waiting {
  readonly event: NodeEvent;
  readonly told: (() => void)[];
}

/** The node does not wait for its wallets: those that are so far behind take what waits in at once. Arbitrary. */
const MAX_WAITING_BYTES = 32 << 20;
/** The largest number of finished events kept. Arbitrary. */
const COMPACT_AT = 4096;

export class EventLine {
  /** Waiting events; those before `first` are done. */
  private waiting: Waiting[] = [];
  private first = 0;
  private waitingBytes = 0;
  /** What is being applied, and whether it works this very moment. */
  private taking: { readonly work: Slices<void>; readonly told: (() => void)[] } | null = null;
  private isWorking = false;
  /** Group of the last started event. */
  private group: object | undefined;
  private users = 0;
  private isHeld = false;
  private isRunning = false;

  /** Takes an event in, or lets it wait behind those that do. */
  hear(event: NodeEvent): void {
    if (!this.isBehind && !this.isHeld && event.isLong !== true) {
      this.begin(event, []);
      this.finish();
    } else this.wait(event);
  }

  /** Lets an event wait in any case. */
  wait(event: NodeEvent): void {
    this.waiting.push({ event, told: [] });
    this.waitingBytes += event.sizeBytes ?? 0;
    if (this.isHeld) return;
    if (this.waitingBytes > MAX_WAITING_BYTES) this.takeAll();
    this.run();
  }

  /** Has all events wait until `release`. */
  hold(): void {
    this.isHeld = true;
  }

  release(): void {
    this.isHeld = false;
    this.run();
  }

  /** Whether something waits, or is being applied. */
  get isBehind(): boolean {
    return this.taking !== null || this.first < this.waiting.length;
  }

  /** Whether the wallet knows a part of what happened at once. */
  get isInGroup(): boolean {
    const group = this.waiting[this.first]?.event.group;
    return group !== undefined && group === this.group;
  }

  /** Resolves when all events of the node so far are applied; null when it is. */
  caughtUp(): Promise<void> | null {
    if (!this.isBehind) return null;
    const last = this.first < this.waiting.length ? this.waiting.at(-1)! : this.taking!;
    return new Promise((resolve) => last.told.push(resolve));
  }

  /** Takes in at once what is left of an event that was begun: what is read or written next is of a whole state. */
  finish(): void {
    if (this.taking === null || this.isWorking) return;
    const { work } = this.taking;
    this.isWorking = true;
    atOnce(work);
    this.end();
  }

  /** Someone uses the wallet until `leave`: nothing is applied in slices. */
  enter(): void {
    this.finish();
    this.users++;
  }

  leave(): void {
    this.users--;
  }

  /** The same for a task. */
  async use<T>(task: () => Promise<T>): Promise<T> {
    this.enter();
    try {
      return await task();
    } finally {
      this.leave();
    }
  }

  /** The height of a block in the wallet's chain, −1 for none; undefined if nothing waits that moves it. */
  heightOf(hash: Bytes): number | undefined {
    for (let at = this.first; at < this.waiting.length; at++) {
      const { moves } = this.waiting[at]!.event;
      if (moves !== undefined && equalBytes(moves.hash, hash)) return moves.heightBefore;
    }
    return undefined;
  }

  /** Whether the wallet's chain has blocks that the node's does not have any more. */
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

  /** Makes ready what is next, begins it, or continues with it for a while. Answers when the present slice began. */
  private async step(since: number): Promise<number> {
    const next = this.waiting[this.first];
    if (this.taking === null && next !== undefined) {
      if (next.event.prepare !== undefined) {
        try {
          await inSlices(next.event.prepare());
        } catch {
          // Applying it meets the same, and reports it.
        }
        since = await nextSlice();
      }
      // All may have been applied meanwhile.
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
    // What is told while an event is applied waits for the next turn.
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
    // What is done must not stay in memory, nor be moved for each that follows.
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
