/**
 * Limits the event loop time of callers that pipeline requests. In one event loop turn Node handles one chunk of input from
 * each readable connection, and a chunk can contain a thousand requests or more. A connection that sends too many requests
 * in an event loop turn is paused for as long as that turn took. Unauthenticated connections share a time slice of each
 * turn, whatever their number. No request is lost.
 */
import type { Socket } from 'node:net';
import { inNextRound } from '../scheduler/rounds.js';
import type { HttpConnection } from './connections.js';

/**
 * Number of requests that a connection may send in one event loop turn before it is paused. A client that waits for each
 * response sends one request per turn. Arbitrary.
 */
const FREE_REQUESTS = 64;
/**
 * Number of requests of an authenticated connection from which on the end of the event loop turn is awaited. Below it, requests of
 * several turns are counted as if they arrived in one turn. Arbitrary: the wait takes a part of the time of a short call.
 */
const UNTIMED_REQUESTS = 16;
/**
 * Time in each event loop turn for the requests of all unauthenticated connections together. When it is used up, these
 * connections are paused. The chunk that is being handled may exceed it. Arbitrary.
 */
const OPEN_SLICE_MS = 5;
/** Number of unauthenticated connections that are resumed together after a pause. Most of them have no input. Arbitrary. */
const GROUP = 8;
/** Minimum number of milliseconds for which connections are paused. */
const MIN_REST_MS = 2;
/** Milliseconds in which the request count of an unauthenticated connection decays to half. Arbitrary. */
const HALF_LIFE_MS = 10_000;

export class PipeliningLimit {
  /** Returns all open connections. */
  private readonly connections: () => Iterable<HttpConnection>;
  /**
   * `senders`: paused connections that sent too many requests, the longest waiting first. `bystanders`: unauthenticated
   * connections paused because the time slice was used up.
   */
  private readonly senders: HttpConnection[] = [];
  private bystanders: HttpConnection[] = [];
  private isResting = false;
  /** Number of event loop turns whose end was awaited. */
  private turns = 0;
  private waitsForEnd = false;
  /**
   * Time of the first unauthenticated request in this turn. Null before such a request, infinite once the time slice is used
   * up.
   */
  private openSinceMs: number | null = null;
  private readonly endTurn = (): void => {
    this.waitsForEnd = false;
    this.turns++;
    this.openSinceMs = null;
  };

  /** `connections` returns all open connections. */
  constructor(connections: () => Iterable<HttpConnection>) {
    this.connections = connections;
  }

  /** Counts a request of a connection, and pauses connections if a limit is exceeded. */
  note(connection: HttpConnection): void {
    if (connection.turn !== this.turns) {
      connection.turn = this.turns;
      connection.sentInTurn = 0;
    }
    const sent = ++connection.sentInTurn;
    if (!this.waitsForEnd && (sent >= UNTIMED_REQUESTS || !connection.isKnown)) {
      this.waitsForEnd = true;
      inNextRound(this.endTurn);
    }
    if (sent > FREE_REQUESTS) this.hold(connection, this.senders);
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

  /** Resumes connections after the current event loop turn and a pause that is as long as that turn. */
  private rest(): void {
    this.isResting = true;
    const sinceMs = performance.now();
    inNextRound(() => {
      const tookMs = performance.now() - sinceMs;
      setTimeout(() => this.goOn(), Math.max(MIN_REST_MS, tookMs)).unref();
    });
  }

  /**
   * Resumes paused connections: of the `senders` (whose requests led to the pause) the one that waits longest, and of the
   * others (`bystanders`) a group with the fewest recent requests, the newest first.
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

/** Number of recent unauthenticated requests of a connection. Older requests weigh less. */
function openRequests({ open }: HttpConnection, nowMs: number): number {
  return open.count * 0.5 ** ((nowMs - open.atMs) / HALF_LIFE_MS);
}

function countOpen(connection: HttpConnection, nowMs: number): void {
  connection.open.count = openRequests(connection, nowMs) + 1;
  connection.open.atMs = nowMs;
}

/** Keeps a paused socket paused, because Node resumes the socket for each request whose body is read. */
function pauseAgain(this: Socket): void {
  this.pause();
}
