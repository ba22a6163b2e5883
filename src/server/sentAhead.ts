/**
 * Clients that send requests on and on without waiting for answers. What of them comes in one piece, a thousand requests or
 * more, is handled in one turn of the loop; so they are read one at a time, and after each all others have as long as it
 * took. Owns no connection.
 */
import type { Socket } from 'node:net';
import type { Connection } from './connections.js';

/**
 * So many requests of a connection may come in one turn of the loop before it waits for its time. Who waits for answers
 * sends one. Arbitrary.
 */
const FREE_REQUESTS = 64;
/** What others have at least. */
const MIN_REST_MS = 2;

export class SentAhead {
  private readonly waiting: Connection[] = [];
  private isResting = false;
  /** Turns of the loop in which requests came, the present one being the last. */
  private turns = 0;
  private isTurnOver = true;
  private readonly endTurn = (): void => {
    this.isTurnOver = true;
  };

  /** Notes a request. */
  note(connection: Connection): void {
    if (this.isTurnOver) {
      this.isTurnOver = false;
      this.turns++;
      setImmediate(this.endTurn);
    }
    if (connection.turn !== this.turns) {
      connection.turn = this.turns;
      connection.sentInTurn = 0;
    }
    if (++connection.sentInTurn <= FREE_REQUESTS || connection.isHeld) return;
    connection.isHeld = true;
    connection.socket.pause();
    connection.socket.on('resume', pauseAgain);
    this.waiting.push(connection);
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

  /** Reads on from the one that waits the longest. */
  private goOn(): void {
    this.isResting = false;
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      if (next.socket.destroyed) continue;
      next.isHeld = false;
      next.socket.off('resume', pauseAgain);
      next.socket.resume();
      this.rest();
      return;
    }
  }
}

/** Node's HTTP resumes a socket for each request whose body is wanted. */
function pauseAgain(this: Socket): void {
  this.pause();
}
