/** The origin of a WebSocket call: the client that sent it, and its turn in the queue of WebSocket calls. */
import type { RpcOrigin } from '../../rpc/call/dispatch.js';
import type { JobQueue } from '../../scheduler/jobQueue.js';

export class CallOrigin implements RpcOrigin {
  readonly profile = 'lbcd';
  readonly walletName = undefined;
  readonly user: string;
  readonly gone: AbortSignal;
  private readonly queue: JobQueue;
  private readonly arrival: number;
  private hasTurn = false;

  constructor(queue: JobQueue, gone: AbortSignal, user: string) {
    this.queue = queue;
    this.gone = gone;
    this.user = user;
    this.arrival = queue.nextArrival();
  }

  get signal(): AbortSignal {
    return this.gone;
  }

  /** Waits for a free slot of the work queue. The queue is long enough for the concurrent calls of all clients. */
  async enter(): Promise<void> {
    if (!this.queue.tryEnter()) {
      const turn = this.queue.enter();
      if (turn === null) throw new Error('the queue of WebSocket calls is full');
      await turn;
    }
    this.hasTurn = true;
  }

  leave(): void {
    if (!this.hasTurn) return;
    this.hasTurn = false;
    this.queue.leave();
  }

  readonly outOfTurn = async <T>(wait: () => Promise<T>): Promise<T> => {
    if (!this.hasTurn) return wait();
    this.leave();
    try {
      return await wait();
    } finally {
      await this.queue.reenter();
      this.hasTurn = true;
    }
  };

  giveWay(): Promise<void> | null {
    return this.hasTurn ? this.queue.giveWay(this.arrival) : null;
  }
}
