/**
 * Shares the event loop's time among peers. Work for peers waits in a fair queue; one turn is given in each round of the
 * loop. A hundred busy peers therefore take no more of the loop's time than one, and RPC, timers and the chain continue. The
 * peer with the least usage is served first: a peer that sends little does not wait for those that send much. There is one
 * queue per process, as there is one event loop.
 */
import type { Slices } from '../util/slices.js';
import { FairQueue } from './fairQueue.js';
import { runSlices } from './slices.js';

/** Maximum length of a turn; indivisible work may take longer. */
const TURN_MS = 4;
/** Credit of an idle peer: its next message is handled first if it takes less time. */
const CREDIT_MS = TURN_MS;
/** Idle time left to other work after turns while more than one peer waits, as a share of those turns. Arbitrary. */
const REST_SHARE = 0.5;
/** Rests are accumulated up to this time: a timer cannot wait less, and turns of microseconds need none. */
const MIN_REST_MS = 2;

/** The event loop, which tests replace. */
export interface Loop {
  /** A monotonic clock, in milliseconds. */
  nowMs(): number;
  /** Runs both in the loop's next round, the second directly after the first and its microtasks. */
  nextRound(first: () => void, second: () => void): void;
  /** Runs a task after this many milliseconds. */
  after(ms: number, task: () => void): void;
}

const PROCESS_LOOP: Loop = {
  nowMs: () => performance.now(),
  nextRound(first, second) {
    // Only microtasks run between two immediates of one round.
    setImmediate(first);
    setImmediate(second);
  },
  after: (ms, task) => void setTimeout(task, ms),
};

/** The client for work that belongs to no peer. */
const NO_PEER = {};

export class PeerQueue {
  private readonly loop: Loop;
  private readonly queue: FairQueue<(sinceMs: number) => void>;
  private isMoving = false;
  private owedMs = 0;
  private turns = 0;
  /** The peer of the current turn. */
  private present: object | null = null;
  /** Whether the work of the current turn serves the node: then it is not charged. */
  private isUseful = false;
  private sinceMs = 0;

  constructor(loop: Loop = PROCESS_LOOP) {
    this.loop = loop;
    this.queue = new FairQueue({ nowMs: () => loop.nowMs(), creditMs: CREDIT_MS });
  }

  /** The queue's clock, in milliseconds. */
  nowMs(): number {
    return this.loop.nowMs();
  }

  /** Always waits for a turn. Resolves with its start time. */
  nextTurn(peer: object | null = null): Promise<number> {
    return new Promise((go) => {
      this.queue.add(peer ?? NO_PEER, go);
      if (!this.isMoving) this.move();
    });
  }

  /**
   * Call it often with the start time of the current turn: it waits for the next turn when this one is used up. The work is
   * charged to `peer`. Returns the start time of the turn that is current afterwards.
   */
  yieldIfDue(sinceMs: number, peer: object | null = null): Promise<number> | number {
    if (this.loop.nowMs() - sinceMs < TURN_MS) return sinceMs;
    return this.nextTurn(peer);
  }

  /** The number of the current turn, for `isOver`. */
  get turn(): number {
    return this.turns;
  }

  /** Whether a turn has ended, or has reached its maximum length. */
  isOver(turn: number): boolean {
    return turn !== this.turns || this.present === null || this.loop.nowMs() - this.sinceMs >= TURN_MS;
  }

  /** Records that the current turn of this peer serves the node more than the peer: it is not charged. */
  noteUseful(peer: object): void {
    if (peer === this.present) this.isUseful = true;
  }

  private move(): void {
    this.isMoving = true;
    this.loop.nextRound(
      () => this.begin(),
      () => this.end(),
    );
  }

  private begin(): void {
    const { client, item: go } = this.queue.take()!;
    this.turns++;
    this.present = client;
    this.sinceMs = this.loop.nowMs();
    go(this.sinceMs);
  }

  /** Ends the turn: all synchronous work is done. */
  private end(): void {
    const peer = this.present!;
    const tookMs = this.isUseful ? 0 : this.loop.nowMs() - this.sinceMs;
    this.isUseful = false;
    this.queue.charge(peer, tookMs);
    this.present = null;
    // A single peer needs no rest: other work has had its part of each round.
    this.owedMs = this.queue.isAlone(peer) ? 0 : this.owedMs + tookMs * REST_SHARE;
    if (this.queue.size === 0) this.isMoving = false;
    else if (this.owedMs < MIN_REST_MS) this.move();
    else {
      this.loop.after(this.owedMs, () => this.move());
      this.owedMs = 0;
    }
  }
}

/** The queue of the process. */
export const peerQueue = new PeerQueue();

/** Calls `PeerQueue.yieldIfDue` of the process's queue. */
export function yieldIfDue(sinceMs: number, peer: object | null = null): Promise<number> | number {
  return peerQueue.yieldIfDue(sinceMs, peer);
}

/** Runs work in turns of a peer: the current one, and as many more as needed. */
export function inTurns<T>(work: Slices<T>, peer: object): Promise<T> {
  let since = peerQueue.nowMs();
  const begin = (nowMs: number): void => {
    since = nowMs;
  };
  return runSlices(work, () => {
    const pause = yieldIfDue(since, peer);
    return typeof pause === 'number' ? null : pause.then(begin);
  });
}
