/**
 * Shares the event loop's time among peers. Work for peers waits in a fair queue, and each round of the loop gives one turn.
 * A hundred busy peers therefore take no more time than one, and RPC, timers and the chain are not blocked. The peer with
 * the least usage is served first, so a peer that sends little does not wait for peers that send much. There is one queue
 * per process, because there is one event loop.
 */
import type { Slices } from '../util/slices.js';
import { FairQueue } from './fairQueue.js';
import { runSlices } from './slices.js';

/** Maximum length of a turn in ms. Indivisible work may take longer. */
const TURN_MS = 4;
/** Maximum usage credit in ms of an idle peer. Its next message is handled first if it takes less time than this. */
const CREDIT_MS = TURN_MS;
/**
 * Rest after turns while more than one peer waits, as a share of the duration of the turns. Other work runs during the rest.
 * Arbitrary.
 */
const REST_SHARE = 0.5;
/** Minimum rest in ms; shorter rests are accumulated. A timer cannot wait for less, and turns of microseconds need no rest. */
const MIN_REST_MS = 2;

/** Interface to the event loop. Tests replace it. */
export interface Loop {
  /** Monotonic time in ms. */
  nowMs(): number;
  /** Runs both functions in the next round of the event loop: `second` directly after `first` and its microtasks. */
  nextRound(first: () => void, second: () => void): void;
  /** Runs a task after `ms` milliseconds. */
  after(ms: number, task: () => void): void;
}

const PROCESS_LOOP: Loop = {
  nowMs: () => performance.now(),
  nextRound(first, second) {
    // Node.js runs only microtasks between two immediates of one round of the event loop.
    setImmediate(first);
    setImmediate(second);
  },
  after: (ms, task) => void setTimeout(task, ms),
};

/** Account of the fair queue to which work is charged if it belongs to no peer. */
const NO_PEER = {};

export class PeerQueue {
  private readonly loop: Loop;
  private readonly queue: FairQueue<(sinceMs: number) => void>;
  private isMoving = false;
  private owedMs = 0;
  private turns = 0;
  /** Peer that has the current turn; null between turns. */
  private present: object | null = null;
  /** Whether the work of the current turn benefits the node. Such work is not charged to the peer. */
  private isUseful = false;
  private sinceMs = 0;

  constructor(loop: Loop = PROCESS_LOOP) {
    this.loop = loop;
    this.queue = new FairQueue({ nowMs: () => loop.nowMs(), creditMs: CREDIT_MS });
  }

  /** Monotonic time in ms. */
  nowMs(): number {
    return this.loop.nowMs();
  }

  /** Waits for a new turn, even if the current turn could continue. Resolves with the start time of the new turn. */
  nextTurn(peer: object | null = null): Promise<number> {
    return new Promise((go) => {
      this.queue.add(peer ?? NO_PEER, go);
      if (!this.isMoving) this.move();
    });
  }

  /**
   * Returns `sinceMs`, the start time of the current turn, if the turn may continue. Otherwise waits for the next turn of
   * `peer`, which is charged for the work, and resolves with its start time. Must be called often during long work.
   */
  yieldIfDue(sinceMs: number, peer: object | null = null): Promise<number> | number {
    if (this.loop.nowMs() - sinceMs < TURN_MS) return sinceMs;
    return this.nextTurn(peer);
  }

  /** Number of the current turn, to be passed to `isOver`. */
  get turn(): number {
    return this.turns;
  }

  /** Whether the turn with this number has ended or has reached its maximum length. */
  isOver(turn: number): boolean {
    return turn !== this.turns || this.present === null || this.loop.nowMs() - this.sinceMs >= TURN_MS;
  }

  /** Marks the current turn, if it belongs to `peer`, as useful for the node. The turn is then not charged to the peer. */
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

  /** Ends the turn after all its synchronous work is done. */
  private end(): void {
    const peer = this.present!;
    const tookMs = this.isUseful ? 0 : this.loop.nowMs() - this.sinceMs;
    this.isUseful = false;
    this.queue.charge(peer, tookMs);
    this.present = null;
    // No rest is needed for a single peer, because other work gets time in each round.
    this.owedMs = this.queue.isAlone(peer) ? 0 : this.owedMs + tookMs * REST_SHARE;
    if (this.queue.size === 0) this.isMoving = false;
    else if (this.owedMs < MIN_REST_MS) this.move();
    else {
      this.loop.after(this.owedMs, () => this.move());
      this.owedMs = 0;
    }
  }
}

/** Queue that all components of the process share. */
export const peerQueue = new PeerQueue();

/** Calls `PeerQueue.yieldIfDue` of the process's queue. */
export function yieldIfDue(sinceMs: number, peer: object | null = null): Promise<number> | number {
  return peerQueue.yieldIfDue(sinceMs, peer);
}

/** Runs work in turns of a peer: in the current turn, and in as many further turns as needed. */
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
