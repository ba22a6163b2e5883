/**
 * Runs calls: their turns in the work queue, their cancellation, and the sending of responses. Contains the queue. A call
 * that finishes synchronously needs no promises and no abort signals. Other calls get promises and abort signals.
 */
import { JobQueue, QueueShare } from '../scheduler/jobQueue.js';
import type { Logger } from '../util/logging.js';
import type { HttpConnection } from './connections.js';
import { isPromise } from '../util/maybePromise.js';
import { sendText } from './errorPages.js';
import type { HttpResponse } from './httpResponse.js';
import { sendPieces, sendReply, sendWhole, type HttpReply } from './replyStream.js';
import type { CallSignals, QueueLoad } from './routes.js';

/**
 * Maximum number of calls that may give up their turn in the work queue while they wait. Further calls keep their turn while
 * they wait. Arbitrary.
 */
const MAX_OUT_OF_TURN = 1000;

/**
 * Number of time slices after which a call moves behind calls that arrived later, so that a call that takes minutes does not
 * block the others. Arbitrary: two seconds.
 */
const SLICES_IN_LINE = 128;

/** Maximum number of pipelined calls of one connection that wait for the previous call. Arbitrary. */
const MAX_PIPELINED = 256;
/**
 * Maximum number of pipelined calls without a password that wait for the previous call of their connection. Low, because
 * anyone can send such calls, and waiting requests stay in memory. Arbitrary.
 */
const MAX_OPEN_PIPELINED = 16;

/** Interval in ms of log lines about rejected calls, after the first line. Arbitrary. */
const REPORT_MS = 10_000;
const WHY_REFUSED =
  'because http work queue depth exceeded, it can be increased with the -rpcworkqueue= setting';

/** Computes the response to a call. */
type Run = (call: CallSignals) => HttpReply | Promise<HttpReply>;

/** A received call that waits to be run. */
interface Request {
  readonly connection: HttpConnection;
  readonly response: HttpResponse;
  readonly run: Run;
  /** Whether the call needs no password. */
  readonly isOpen: boolean;
}

export interface CallQueueOptions {
  readonly threads: number;
  readonly depth: number;
  /** Time limit for a stalled response: a client that reads none of its response for this time is disconnected. */
  readonly stallMs: number;
}

/** One call. Its abort signals are created when they are first read. */
class Call implements CallSignals {
  readonly connection: HttpConnection;
  readonly response: HttpResponse;
  private readonly calls: CallQueue;
  private readonly queue: JobQueue;
  private hasTurn = false;
  /** Start time of the call's first turn; 0 before the first turn. */
  sinceMs = 0;
  /** `arrival`: the call's position in the order of long calls. `slices`: number of its time slices so far. */
  private arrival: number;
  private slices = 0;
  private goneControl: AbortController | null = null;
  private signalControl: AbortController | null = null;

  constructor(calls: CallQueue, queue: JobQueue, connection: HttpConnection, response: HttpResponse) {
    this.calls = calls;
    this.queue = queue;
    this.connection = connection;
    this.response = response;
    this.arrival = queue.nextArrival();
  }

  /** Records that the call has a slot of the work queue and starts to run. */
  begin(): void {
    this.hasTurn = true;
    if (this.sinceMs === 0) this.sinceMs = performance.now();
    this.connection.busy++;
  }

  /** Ends the current turn, if the call has one. */
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
      if (this.isGone || this.calls.isStopping) this.signalControl.abort();
    }
    return this.signalControl.signal;
  }

  /** Aborts the call, because the client has disconnected. */
  abandon(): void {
    this.goneControl?.abort();
    this.signalControl?.abort();
  }

  /** Aborts the call's signal because the node stops. */
  interrupt(): void {
    this.signalControl?.abort();
  }

  /** Yields the turn to waiting calls at the end of a time slice. Returns null if no call is waiting. */
  giveWay(): Promise<void> | null {
    if (++this.slices % SLICES_IN_LINE === 0) this.arrival = this.queue.nextArrival();
    return this.hasTurn ? this.queue.giveWay(this.arrival) : null;
  }

  get outOfTurn(): CallSignals['outOfTurn'] {
    return async (wait) => {
      // While the client waits for the node, the connection counts as busy and is not closed for being idle.
      this.connection.busy++;
      try {
        return await this.withoutTurn(wait, () => this.queue.reenter());
      } finally {
        this.connection.busy--;
      }
    };
  }

  /** Releases the turn while the node waits for the client to read. The connection counts as idle during the wait. */
  whileSlow(wait: () => Promise<void>): Promise<void> {
    return this.withoutTurn(wait, () => this.queue.reenterLong(this.arrival));
  }

  private async withoutTurn<T>(wait: () => Promise<T>, reenter: () => Promise<void>): Promise<T> {
    if (!this.hasTurn || !this.calls.stepOut()) return wait();
    this.leave();
    try {
      return await wait();
    } finally {
      this.calls.stepIn();
      await reenter();
      this.begin();
    }
  }
}

export class CallQueue {
  private readonly options: CallQueueOptions;
  private readonly logger: Logger;
  private readonly queue: JobQueue;
  /**
   * Share of the queue for calls without a password. The share is limited, so that calls with a password find space in the
   * queue.
   */
  private readonly open: QueueShare;
  /** Asynchronous calls in progress. */
  private readonly underWay = new Set<Call>();
  private outOfTurn = 0;
  private refusals = 0;
  /**
   * `unlogged`: number of rejections that are not logged yet. `reportTimer`: timer of the next log line; null if no rejection
   * happened recently.
   */
  private unlogged = 0;
  private reportTimer: NodeJS.Timeout | null = null;
  isStopping = false;

  constructor(options: CallQueueOptions, logger: Logger) {
    this.options = options;
    this.logger = logger;
    this.queue = new JobQueue(Math.max(1, options.threads), Math.max(1, options.depth));
    this.open = new QueueShare(Math.max(1, options.depth >> 1));
  }

  /** Runs a call immediately if a turn is free. If a promise is returned, it resolves when the call has ended. */
  private begin(
    connection: HttpConnection,
    response: HttpResponse,
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
    if (isPromise(reply) || !this.sendAtOnce(response, reply)) return this.finish(call, reply);
    call.leave();
  }

  /**
   * Waits for a turn, computes the response, and sends it as fast as the client reads it. If the queue is full, the response
   * is 503. An exception of `run` closes the connection. Calls of one connection run one by one, so pipelined requests run
   * in order and use only one entry of the queue.
   */
  serve(connection: HttpConnection, response: HttpResponse, run: Run): void {
    this.serveInOrder({ connection, response, run, isOpen: false });
  }

  /** Like `serve`, for a call without a password. Such calls may use only half of the queue. */
  serveOpen(connection: HttpConnection, response: HttpResponse, run: Run): void {
    this.serveInOrder({ connection, response, run, isOpen: true });
  }

  private serveInOrder(request: Request): void {
    const { connection, response, run, isOpen } = request;
    if (connection.socket.destroyed) return;
    if (connection.waiting !== null) {
      const max = isOpen ? MAX_OPEN_PIPELINED : MAX_PIPELINED;
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

  /** Aborts the waits of running calls, because the node stops. From then on each connection is closed after its response. */
  stop(): void {
    this.isStopping = true;
    this.report();
    this.endReports();
    for (const call of this.underWay) call.interrupt();
  }

  /**
   * Registers a call that waits without a turn. Returns false if too many calls already wait without a turn. The caller must
   * call `stepIn` when the wait ends.
   */
  stepOut(): boolean {
    if (this.outOfTurn >= MAX_OUT_OF_TURN) return false;
    this.outOfTurn++;
    return true;
  }

  stepIn(): void {
    this.outOfTurn--;
  }

  /** Current load of the work queue. */
  load(): QueueLoad {
    return {
      running: this.queue.runningCount,
      queued: this.queue.waitingCount,
      waiting: this.outOfTurn,
      refused: this.refusals,
    };
  }

  private refuse(response: HttpResponse): void {
    this.refusals++;
    if (this.reportTimer === null) {
      this.logger.warn(`request rejected ${WHY_REFUSED}`);
      this.reportTimer = setInterval(() => this.report(), REPORT_MS).unref();
    } else this.unlogged++;
    sendText(response, 503, 'Work queue depth exceeded');
  }

  /** Logs the number of rejections since the last log line. If there were none, the next rejection is logged immediately. */
  private report(): void {
    if (this.unlogged > 0) this.logger.warn(`${this.unlogged} more requests rejected ${WHY_REFUSED}`);
    else this.endReports();
    this.unlogged = 0;
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

  /** Sends an asynchronous or streamed response. `answer` is null if the client has disconnected. */
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
      if (!this.sendAtOnce(response, reply)) {
        await sendReply(response, reply, {
          stallMs: this.options.stallMs,
          isLast: this.isStopping,
          sinceMs: call.sinceMs,
          whileSlow: (wait) => call.whileSlow(wait),
          giveWay: () => call.giveWay(),
        });
      }
    } catch (error) {
      this.logger.debug('http', () => `The response to ${connection.peer} was interrupted: ${String(error)}`);
    } finally {
      call.leave();
      this.underWay.delete(call);
      if (!response.writableEnded) response.destroy();
    }
  }

  /** Sends a response whose body is complete. Returns false if it is not. */
  private sendAtOnce(response: HttpResponse, reply: HttpReply): boolean {
    const { status, contentType, headers, text, pieces } = reply;
    if (pieces !== undefined) sendPieces(response, reply, pieces, this.isStopping);
    else if (typeof text !== 'string') return false;
    else if (
      response.sendJson !== undefined &&
      status === 200 &&
      contentType === undefined &&
      headers === undefined &&
      !this.isStopping
    )
      response.sendJson(text);
    else sendWhole(response, status, contentType, text, this.isStopping, headers);
    return true;
  }
}
