/**
 * Sends requests to the node's thread. Only a few requests are sent at the same time, so that under heavy load requests of
 * visitors wait in the explorer's thread and do not slow the node's thread. If the same request is already pending, it is
 * not sent a second time.
 */
import { JsonNumber, JsonObject, type JsonValue } from '../util/json/json.js';
import { parseJson } from '../util/json/jsonParse.js';
import type { NodeCalls } from './messages.js';

/** Maximum number of requests that the node's thread runs at the same time for the explorer. */
const AT_A_TIME = 2;
/** Maximum number of requests that wait to be sent. */
const MOST_WAITING = 64;
const TIMEOUT_MS = 10_000;

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
  private readonly shared = new Map<string, Promise<string>>();
  private readonly nowMs: () => number;
  private callsMs = 0;

  constructor(send: NodeCalls['rpc'], nowMs: () => number = () => performance.now()) {
    this.send = send;
    this.nowMs = nowMs;
  }

  /** Time in milliseconds from the sending of requests to their answers, summed over all requests. */
  get calledMs(): number {
    return this.callsMs;
  }

  /**
   * Calls an RPC method in the node's thread and resolves to its result. A number that a double would round is a string with its
   * digits. Rejects with `AskError` or `BusyError`.
   */
  ask<Result>(method: string, ...params: readonly unknown[]): Promise<Result> {
    const answer = this.textOf(method, params).then(resultOf);
    // A page that fails may leave other answers unread, and a rejection that is not handled would end the thread.
    answer.catch(() => undefined);
    return answer as Promise<Result>;
  }

  /** Calls an RPC method as `ask` does, and resolves to its result with all numbers as the method wrote them. */
  async askExactly(method: string, ...params: readonly unknown[]): Promise<JsonValue> {
    const text = await this.textOf(method, params);
    // Throws the error of the method.
    resultOf(text);
    return (parseJson(text) as JsonObject).get('result') ?? null;
  }

  /** Text of the response to a call. A call that is pending is not sent again. */
  private textOf(method: string, params: readonly unknown[]): Promise<string> {
    const key = JSON.stringify([method, params]);
    const known = this.shared.get(key);
    if (known) return known;
    const answer = this.put(method, params);
    this.shared.set(key, answer);
    const forget = (): void => {
      if (this.shared.get(key) === answer) this.shared.delete(key);
    };
    answer.then(forget, forget);
    return answer;
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
    while (this.waiting.length > 0 && this.running.size < AT_A_TIME) {
      const question = this.waiting.shift()!;
      question.sentMs = this.nowMs();
      this.running.add(question);
      void this.call(question);
    }
  }

  private async call(question: Question): Promise<void> {
    try {
      question.resolve(await this.send(question.method, question.params));
    } catch (error) {
      question.reject(error as Error);
    } finally {
      this.running.delete(question);
      this.callsMs += this.nowMs() - question.sentMs;
      this.next();
    }
  }
}

/** Finds numbers with so many digits that a double may round them. May also match text within a string. */
const LONG_NUMBER = /[:[,]\s*-?(?:\d{16}|\d{8,}\.\d{8})/;
/** The form of amounts and counts. */
const FIXED_POINT = /^-?\d+(?:\.(\d+))?$/;

/** Whether a double would change the digits of a literal. */
function isRounded(literal: string): boolean {
  const [found, decimals = ''] = FIXED_POINT.exec(literal) ?? [];
  return found !== undefined && Number(literal).toFixed(decimals.length) !== literal;
}

/** Converts an exact value to plain values. A number that a double would round becomes a string. */
function unrounded(value: JsonValue): unknown {
  if (value instanceof JsonNumber) return isRounded(value.text) ? value.text : Number(value.text);
  if (Array.isArray(value)) return value.map(unrounded);
  if (value instanceof JsonObject)
    return Object.fromEntries(value.entries.map(([key, inner]) => [key, unrounded(inner)]));
  return value;
}

function resultOf(text: string): unknown {
  // `JSON.parse` takes a fraction of the time of `parseJson`.
  const parsed = LONG_NUMBER.test(text) ? unrounded(parseJson(text)) : (JSON.parse(text) as unknown);
  const { result, error } = parsed as {
    result: unknown;
    error?: { code: number; message: string } | null;
  };
  if (error) throw new AskError(error.code, error.message);
  return result;
}
