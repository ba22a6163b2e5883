/**
 * Limits the event loop's time for callers that send requests without waiting for answers. What of a connection comes in one
 * piece, a thousand requests or more, is handled in one turn of the loop, and so is one piece of each connection that has
 * something. So a connection that sends on and on is read again when others have had as long as it took; and those that have
 * shown no password have a slice of each turn together, whatever their number. Nothing of theirs is lost. Owns no
 * connection.
 */
import type { Socket } from 'node:net';
import type { HttpConnection } from './connections.js';

/**
 * The number of requests of a connection that may come in one turn of the loop before it waits for its time. A caller that
 * waits for answers sends one. Arbitrary.
 */
const FREE_REQUESTS = 64;
/** What all without a password may take of a turn before they wait, except for the piece that is being handled. Arbitrary. */
const OPEN_SLICE_MS = 5;
/** The number of connections waiting for the slice that are read at a time: most have nothing to be read. Arbitrary. */
const GROUP = 8;
/** What others have at least. */
const MIN_REST_MS = 2;
/** Requests of connections without a password count half after this time. Arbitrary. */
const HALF_LIFE_MS = 10_000;

export class PipeliningLimit {
  /** All there are. */
  private readonly connections: () => Iterable<HttpConnection>;
  /** Paused connections, the longest waiting first. */
  private readonly senders: HttpConnection[] = [];
  private bystanders: HttpConnection[] = [];
  private isResting = false;
  /** Turns of the loop in which requests came, the present one being the last. */
  private turns = 0;
  private isTurnOver = true;
  /** When the first request without a password came in this turn; null before, infinite once the slice is spent. */
  private openSinceMs: number | null = null;
  private readonly endTurn = (): void => {
    this.isTurnOver = true;
    this.openSinceMs = null;
  };

  /** `connections` lists all that are open. */
  constructor(connections: () => Iterable<HttpConnection>) {
    this.connections = connections;
  }

  /** Notes a request. */
  note(connection: HttpConnection): void {
    if (this.isTurnOver) {
      this.isTurnOver = false;
      this.turns++;
      setImmediate(this.endTurn);
    }
    if (connection.turn !== this.turns) {
      connection.turn = this.turns;
      connection.sentInTurn = 0;
    }
    if (++connection.sentInTurn > FREE_REQUESTS) this.hold(connection, this.senders);
    if (!connection.isKnown) this.noteOpen(connection);
  }

  private noteOpen(connection: HttpConnection): void {
    const nowMs = performance.now();
    countOpen(connection, nowMs);
    this.openSinceMs ??= nowMs;
    if (nowMs - this.openSinceMs < OPEN_SLICE_MS) return;
    this.openSinceMs = Infinity;
    for (const each of this.connections()) if (!each.isKnown) this.hold(each, this.bystanders);
  }

  private hold(connection: HttpConnection, waiting: HttpConnection[]): void {
    if (connection.isHeld || connection.socket.destroyed) return;
    connection.isHeld = true;
    connection.socket.pause();
    connection.socket.on('resume', pauseAgain);
    waiting.push(connection);
    if (!this.isResting) this.rest();
  }

  /** Goes on when the present turn of the loop is over, and after as long again. */
  private rest(): void {
    this.isResting = true;
    const sinceMs = performance.now();
    setImmediate(() => {
      const tookMs = performance.now() - sinceMs;
      setTimeout(() => this.goOn(), Math.max(MIN_REST_MS, tookMs)).unref();
    });
  }

  /**
   * Reads on: of those that sent much, from the one that waits the longest; of those that wait for the slice, from some that
   * had the least of it, the newest first, since a new connection has had nothing.
   */
  private goOn(): void {
    this.isResting = false;
    const sender = nextOf(this.senders);
    if (sender !== undefined) release(sender);
    const group = this.nextBystanders();
    group.forEach(release);
    if (this.senders.length + this.bystanders.length > 0) this.rest();
  }

  private nextBystanders(): HttpConnection[] {
    const waiting = this.bystanders.filter(({ socket }) => !socket.destroyed);
    if (waiting.length <= GROUP) {
      this.bystanders = [];
      return waiting;
    }
    const nowMs = performance.now();
    const rank = new Map(waiting.map((each) => [each, each.isKnown ? -1 : openRequests(each, nowMs)]));
    const ranked = waiting.reverse().sort((one, other) => (rank.get(one) ?? 0) - (rank.get(other) ?? 0));
    this.bystanders = ranked.slice(GROUP).reverse();
    return ranked.slice(0, GROUP);
  }
}

function nextOf(waiting: HttpConnection[]): HttpConnection | undefined {
  let next = waiting.shift();
  while (next?.socket.destroyed === true) next = waiting.shift();
  return next;
}

function release(connection: HttpConnection): void {
  connection.isHeld = false;
  connection.socket.off('resume', pauseAgain);
  connection.socket.resume();
}

/** Requests that a connection sent recently without a password. */
function openRequests({ open }: HttpConnection, nowMs: number): number {
  return open.count * 0.5 ** ((nowMs - open.atMs) / HALF_LIFE_MS);
}

function countOpen(connection: HttpConnection, nowMs: number): void {
  connection.open.count = openRequests(connection, nowMs) + 1;
  connection.open.atMs = nowMs;
}

/** Node's HTTP resumes a socket for each request whose body is wanted. */
function pauseAgain(this: Socket): void {
  this.pause();
}
