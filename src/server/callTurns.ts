/**
 * Calls being worked on: their turns in the work queue, what ends them early, and the sending of their answers. Owns the
 * queue. A call that is answered at once costs neither promises nor signals; those that wait get both.
 */
import type { ServerResponse } from 'node:http';
import { JobQueue, QueueShare } from '../scheduler/jobQueue.js';
import type { Logger } from '../util/logging.js';
import type { HttpConnection } from './connections.js';
import { sendText } from './errorPages.js';
import { sendReply, sendWhole, type HttpReply } from './replyStream.js';
import type { CallSignals, QueueLoad } from './routes.js';

/** The number of calls that may wait without a turn in the work queue; beyond it they keep theirs. Arbitrary. */
const MAX_OUT_OF_TURN = 1000;

/**
 * After this many slices a call lines up again behind those that came since, so that one that takes minutes keeps no one
 * out. Arbitrary: two seconds' worth.
 */
const SLICES_IN_LINE = 128;

/** The number of calls of one connection that may wait for the one before. Arbitrary. */
const MAX_SENT_AHEAD = 256;
/** The same for what needs no password, whose requests are kept meanwhile. Arbitrary. */
const MAX_OPEN_SENT_AHEAD = 16;

/** Refusals after the first are reported in sums, so often. Arbitrary. */
const REPORT_MS = 10_000;
const WHY_REFUSED =
  'because http work queue depth exceeded, it can be increased with the -rpcworkqueue= setting';

/** Makes the answer to a call. */
type Run = (call: CallSignals) => HttpReply | Promise<HttpReply>;

/** A call as it came. */
interface Request {
  readonly connection: HttpConnection;
  readonly response: ServerResponse;
  readonly run: Run;
  /** Whether it needs no password. */
  readonly isOpen: boolean;
}

export interface CallTurnsOptions {
  readonly threads: number;
  readonly depth: number;
  /** A client that takes nothing of its answer for this long is cut off. */
  readonly stallMs: number;
}

/** One call. Its signals are made when a caller asks for them. */
class Call implements CallSignals {
  readonly connection: HttpConnection;
  readonly response: ServerResponse;
  private readonly turns: CallTurns;
  private readonly queue: JobQueue;
  private hasTurn = false;
  /** When its first turn began. */
  sinceMs = 0;
  /** Its place among those that take long, and how many slices it has had. */
  private arrival: number;
  private slices = 0;
  private goneControl: AbortController | null = null;
  private signalControl: AbortController | null = null;

  constructor(turns: CallTurns, queue: JobQueue, connection: HttpConnection, response: ServerResponse) {
    this.turns = turns;
    this.queue = queue;
    this.connection = connection;
    this.response = response;
    this.arrival = queue.nextArrival();
  }

  /** Notes a turn that was taken. */
  begin(): void {
    this.hasTurn = true;
    if (this.sinceMs === 0) this.sinceMs = performance.now();
    this.connection.busy++;
  }

  /** Ends the turn, if the call has one. */
  leave(): void {
    if (!this.hasTurn) return;
    this.hasTurn = false;
    this.connection.busy--;
    this.queue.leave();
  }

  get isGone(): boolean {
    return this.response.destroyed && !this.response.writableFinished;
  }

  get gone(): AbortSignal {
    if (this.goneControl === null) {
      this.goneControl = new AbortController();
      if (this.isGone) this.goneControl.abort();
    }
    return this.goneControl.signal;
  }

  get signal(): AbortSignal {
    if (this.signalControl === null) {
      this.signalControl = new AbortController();
      if (this.isGone || this.turns.isStopping) this.signalControl.abort();
    }
    return this.signalControl.signal;
  }

  /** The client has gone. */
  abandon(): void {
    this.goneControl?.abort();
    this.signalControl?.abort();
  }

  /** The node stops. */
  interrupt(): void {
    this.signalControl?.abort();
  }

  /** Lets calls that wait have the turn for a while; null if none do. */
  giveWay(): Promise<void> | null {
    if (++this.slices % SLICES_IN_LINE === 0) this.arrival = this.queue.nextArrival();
    return this.hasTurn ? this.queue.giveWay(this.arrival) : null;
  }

  get outOfTurn(): CallSignals['outOfTurn'] {
    return async (wait) => {
      // Its connection stays in use: it is the node that keeps the caller waiting.
      this.connection.busy++;
      try {
        return await this.withoutTurn(wait, () => this.queue.reenter());
      } finally {
        this.connection.busy--;
      }
    };
  }

  /** The same while the client is slow, whose connection counts as idle meanwhile. */
  whileSlow(wait: () => Promise<void>): Promise<void> {
    return this.withoutTurn(wait, () => this.queue.reenterLong(this.arrival));
  }

  private async withoutTurn<T>(wait: () => Promise<T>, reenter: () => Promise<void>): Promise<T> {
    if (!this.hasTurn || !this.turns.stepOut()) return wait();
    this.leave();
    try {
      return await wait();
    } finally {
      this.turns.stepIn();
      await reenter();
      this.begin();
    }
  }
}

export class CallTurns {
  private readonly options: CallTurnsOptions;
  private readonly logger: Logger;
  private readonly queue: JobQueue;
  /** Queue of calls without a password, which thus cannot block calls with one. */
  private readonly open: QueueShare;
  /** Calls that were not answered at once. */
  private readonly underWay = new Set<Call>();
  private outOfTurn = 0;
  private refusals = 0;
  /** Refusals that the log does not know of, and when it will; null when nothing was refused recently. */
  private untold = 0;
  private reportTimer: NodeJS.Timeout | null = null;
  isStopping = false;

  constructor(options: CallTurnsOptions, logger: Logger) {
    this.options = options;
    this.logger = logger;
    this.queue = new JobQueue(Math.max(1, options.threads), Math.max(1, options.depth));
    this.open = new QueueShare(Math.max(1, options.depth >> 1));
  }

  /** Serves a call at once if it may; the promise is of its end. */
  private begin(
    connection: HttpConnection,
    response: ServerResponse,
    run: Run,
    share: QueueShare | undefined,
  ): void | Promise<void> {
    const call = new Call(this, this.queue, connection, response);
    if (!this.queue.tryEnter()) return this.serveLater(call, run, share);
    call.begin();
    let reply: HttpReply | Promise<HttpReply>;
    try {
      reply = run(call);
    } catch (error) {
      reply = Promise.reject(error as Error);
    }
    if ('then' in reply || typeof reply.text !== 'string') return this.finish(call, reply);
    this.sendWhole(response, reply, reply.text);
    call.leave();
  }

  /**
   * Waits for a turn, asks for the answer and sends it as fast as the client takes it. A full queue is answered 503; what
   * `run` throws cuts the connection. One call of a connection is served after the other: what a client sends ahead is not
   * run before what it sent first, and takes no more than one place in the queue.
   */
  serve(connection: HttpConnection, response: ServerResponse, run: Run): void {
    this.serveInOrder({ connection, response, run, isOpen: false });
  }

  /** The same for a call that needs no password, which waits under a bound of its own: half the depth of the queue. */
  serveOpen(connection: HttpConnection, response: ServerResponse, run: Run): void {
    this.serveInOrder({ connection, response, run, isOpen: true });
  }

  private serveInOrder(request: Request): void {
    const { connection, response, run, isOpen } = request;
    if (connection.socket.destroyed) return;
    if (connection.waiting !== null) {
      const max = isOpen ? MAX_OPEN_SENT_AHEAD : MAX_SENT_AHEAD;
      if (connection.waiting.length >= max) this.refuse(response);
      else connection.waiting.push(() => this.serveInOrder(request));
      return;
    }
    const served = this.begin(connection, response, run, isOpen ? this.open : undefined);
    if (served === undefined) return;
    connection.waiting = [];
    void served.then(() => {
      const waiting = connection.waiting ?? [];
      connection.waiting = null;
      for (const next of waiting) next();
    });
  }

  /** Ends the waits of calls; each answer from here on is the last of its connection. */
  stop(): void {
    this.isStopping = true;
    this.report();
    this.endReports();
    for (const call of this.underWay) call.interrupt();
  }

  /** Whether one more may wait without a turn; ends with `stepIn`. */
  stepOut(): boolean {
    if (this.outOfTurn >= MAX_OUT_OF_TURN) return false;
    this.outOfTurn++;
    return true;
  }

  stepIn(): void {
    this.outOfTurn--;
  }

  /** How busy the queue is. */
  load(): QueueLoad {
    return {
      running: this.queue.runningCount,
      queued: this.queue.waitingCount,
      waiting: this.outOfTurn,
      refused: this.refusals,
    };
  }

  private refuse(response: ServerResponse): void {
    this.refusals++;
    if (this.reportTimer === null) {
      this.logger.warn(`request rejected ${WHY_REFUSED}`);
      this.reportTimer = setInterval(() => this.report(), REPORT_MS).unref();
    } else this.untold++;
    sendText(response, 503, 'Work queue depth exceeded');
  }

  /** Tells the log of the refusals since the last time; where there are none, the next one is reported at once again. */
  private report(): void {
    if (this.untold > 0) this.logger.warn(`${this.untold} more requests rejected ${WHY_REFUSED}`);
    else this.endReports();
    this.untold = 0;
  }

  private endReports(): void {
    if (this.reportTimer !== null) clearInterval(this.reportTimer);
    this.reportTimer = null;
  }

  private async serveLater(call: Call, run: Run, share: QueueShare | undefined): Promise<void> {
    const turn = this.queue.enter(share);
    if (turn === null) {
      this.refuse(call.response);
      return;
    }
    call.connection.busy++;
    await turn;
    call.connection.busy--;
    call.begin();
    await this.finish(call, call.isGone ? null : run);
  }

  /** Sends an answer that is not there yet, or not whole; null when no one waits for it any more. */
  private async finish(call: Call, answer: HttpReply | Promise<HttpReply> | Run | null): Promise<void> {
    const { response, connection } = call;
    const onClose = (): void => {
      if (!response.writableFinished) call.abandon();
    };
    response.once('close', onClose);
    this.underWay.add(call);
    try {
      if (answer === null) return;
      const reply = await (typeof answer === 'function' ? answer(call) : answer);
      if (typeof reply.text === 'string') this.sendWhole(response, reply, reply.text);
      else {
        await sendReply(response, reply, {
          stallMs: this.options.stallMs,
          isLast: this.isStopping,
          sinceMs: call.sinceMs,
          whileSlow: (wait) => call.whileSlow(wait),
          giveWay: () => call.giveWay(),
        });
      }
    } catch (error) {
      this.logger.debug('http', () => `Answer to ${connection.peer} was cut off: ${String(error)}`);
    } finally {
      call.leave();
      this.underWay.delete(call);
      if (!response.writableEnded) response.destroy();
    }
  }

  private sendWhole(
    response: ServerResponse,
    { status, contentType, headers }: HttpReply,
    text: string,
  ): void {
    sendWhole(response, status, contentType, text, this.isStopping, headers);
  }
}
