/**
 * Sends requests to the node's thread. Only a few requests are sent at the same time, so that under heavy load requests of
 * visitors wait in the explorer's thread and do not slow the node's thread. If the same request is already pending, it is
 * not sent a second time.
 */
import type { NodeCalls } from './messages.js';
import { TimeBudget } from './timeBudget.js';

/** Maximum number of requests that the node's thread runs at the same time for the explorer. */
const AT_A_TIME = 2;
/** Maximum number of requests that wait to be sent. */
const MOST_WAITING = 64;
const TIMEOUT_MS = 10_000;
/** Share of the node thread's time that requests may use during the sync, so that many requests do not slow the sync. */
const SYNC_SHARE = 0.03;
/** Maximum time in milliseconds that requests may use in one burst during the sync. Enough for some pages. */
const SYNC_BURST_MS = 300;

/** Error: the RPC method returned an error. */
export class AskError extends Error {
  override readonly name = 'AskError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Error: too many requests wait, or a request took too long. */
export class BusyError extends Error {
  override readonly name = 'BusyError';
  /** Whether a request was sent and had no answer in time. Otherwise too many requests waited. */
  readonly isLate: boolean;

  constructor(message: string, isLate: boolean) {
    super(message);
    this.isLate = isLate;
  }
}

interface Question {
  /** Time at which the request was sent, in milliseconds. */
  sentMs: number;
  readonly method: string;
  readonly params: readonly unknown[];
  resolve(text: string): void;
  reject(error: Error): void;
}

/** Client end of the RPC calls between the explorer's thread and the node's thread. The other end runs the methods. */
export class ExplorerRpcClient {
  private readonly send: NodeCalls['rpc'];
  private readonly running = new Set<Question>();
  private readonly waiting: Question[] = [];
  private readonly shared = new Map<string, Promise<unknown>>();
  private readonly nowMs: () => number;
  private readonly budget: TimeBudget;
  private pause: NodeJS.Timeout | null = null;
  /** Whether the node is syncing. If so, requests are sent one by one, and may use only the share `SYNC_SHARE` of the time. */
  isSyncing = false;

  constructor(send: NodeCalls['rpc'], nowMs: () => number = () => performance.now()) {
    this.send = send;
    this.nowMs = nowMs;
    this.budget = new TimeBudget(SYNC_SHARE, SYNC_BURST_MS, nowMs);
  }

  /** Calls an RPC method in the node's thread and resolves to its result. Rejects with `AskError` or `BusyError`. */
  ask<Result>(method: string, ...params: readonly unknown[]): Promise<Result> {
    const key = JSON.stringify([method, params]);
    const known = this.shared.get(key);
    if (known) return known as Promise<Result>;
    const answer = this.put(method, params).then(resultOf);
    this.shared.set(key, answer);
    const forget = (): void => {
      if (this.shared.get(key) === answer) this.shared.delete(key);
    };
    answer.then(forget, forget);
    return answer as Promise<Result>;
  }

  /**
   * Lets later requests be sent again even if the same request is pending, because the pending one may return the state from
   * before a change of the chain or the mempool.
   */
  forget(): void {
    this.shared.clear();
  }

  private put(method: string, params: readonly unknown[]): Promise<string> {
    if (this.waiting.length >= MOST_WAITING)
      return Promise.reject(new BusyError('too many calls are queued', false));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        const at = this.waiting.indexOf(question);
        if (at >= 0) this.waiting.splice(at, 1);
        reject(new BusyError(`${method} took too long`, at < 0));
      }, TIMEOUT_MS);
      const question: Question = {
        sentMs: 0,
        method,
        params,
        resolve: (text) => {
          clearTimeout(timer);
          resolve(text);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      };
      this.waiting.push(question);
      this.next();
    });
  }

  private next(): void {
    while (this.waiting.length > 0 && this.mayAsk()) {
      const question = this.waiting.shift()!;
      question.sentMs = this.nowMs();
      this.running.add(question);
      void this.call(question);
    }
  }

  private mayAsk(): boolean {
    if (!this.isSyncing) return this.running.size < AT_A_TIME;
    if (this.running.size > 0 || this.pause !== null) return false;
    const waitMs = this.budget.waitMs();
    if (waitMs === 0) return true;
    this.pause = setTimeout(() => {
      this.pause = null;
      this.next();
    }, waitMs).unref();
    return false;
  }

  private async call(question: Question): Promise<void> {
    try {
      question.resolve(await this.send(question.method, question.params));
    } catch (error) {
      question.reject(error as Error);
    } finally {
      this.running.delete(question);
      if (this.isSyncing) this.budget.spend(this.nowMs() - question.sentMs);
      this.next();
    }
  }
}

function resultOf(text: string): unknown {
  const { result, error } = JSON.parse(text) as {
    result: unknown;
    error?: { code: number; message: string } | null;
  };
  if (error) throw new AskError(error.code, error.message);
  return result;
}
