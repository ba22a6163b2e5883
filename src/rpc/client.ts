/**
 * A typed client for programs: `await client.call('getblockcount')`. Parameters and answers are typed from the methods'
 * declarations (`clientTypes.ts`, generated). Numbers come as doubles; `callExact` keeps every literal as it was sent.
 * Light on purpose: it imports neither the methods nor the node. With it come claims and transactions offline, which need
 * no node at all (`claimOutputs.ts`, `clientTransactions.ts`).
 */
import { Agent, request } from 'node:http';
import { JsonObject, isJsonNumber, numberText, toPlain, type JsonValue } from '../util/json.js';
import { parseJson } from '../util/jsonParse.js';
import type { RpcMethodTypes } from './clientTypes.js';

export {
  addressOfScript,
  claimIdOf,
  claimOperationOf,
  claimOutput,
  coinsOf,
  paymentOutput,
  satoshisOf,
  scriptForAddress,
  supportOutput,
  updateOutput,
  type ClaimKind,
  type ClaimOperation,
  type ClaimRequest,
  type NetworkName,
  type OutputDraft,
  type PaymentRequest,
  type SupportRequest,
  type UpdateRequest,
} from './claimOutputs.js';
export {
  abandonTransaction,
  buildTransaction,
  signTransaction,
  transactionId,
  virtualSizeOf,
  type AbandonRequest,
  type InputDraft,
  type OutputRef,
  type SignAnswer,
  type SignRequest,
  type SpentOutput,
  type TransactionRequest,
} from './clientTransactions.js';

export type RpcMethodName = keyof RpcMethodTypes;
export type RpcParams<M extends RpcMethodName> = RpcMethodTypes[M]['params'];
export type RpcNamedParams<M extends RpcMethodName> = RpcMethodTypes[M]['named'];
export type RpcResult<M extends RpcMethodName> = RpcMethodTypes[M]['result'];

export interface RpcClientOptions {
  /** `http://user:password@127.0.0.1:9245/`; the path chooses a profile or a wallet. */
  readonly url: string;
  /** Gives up on a call after this long; 0 (the default) waits for ever. */
  readonly timeoutMs?: number;
}

/** The node answered with an error. */
export class RpcCallError extends Error {
  override readonly name = 'RpcCallError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** The node gave no JSON-RPC answer: it is not there, refuses the credentials or is too busy. */
export class RpcTransportError extends Error {
  override readonly name = 'RpcTransportError';
  /** The HTTP status, 0 when there was none. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export interface BatchCall {
  readonly method: string;
  readonly params?: readonly unknown[] | object;
}

/** A member of a batch's answer: a result, or the error in its place. */
export type BatchAnswer = { readonly result: unknown } | { readonly error: RpcCallError };

export class RpcClient {
  private readonly url: URL;
  private readonly timeoutMs: number;
  private readonly agent = new Agent({ keepAlive: true });
  private nextId = 1;

  constructor(options: RpcClientOptions) {
    this.url = new URL(options.url);
    this.timeoutMs = options.timeoutMs ?? 0;
  }

  /** Calls by position. Throws `RpcCallError` or `RpcTransportError`. */
  async call<M extends RpcMethodName>(method: M, ...params: RpcParams<M>): Promise<RpcResult<M>> {
    return toPlain(await this.callExact(method, params)) as RpcResult<M>;
  }

  /** Calls by name. */
  async callNamed<M extends RpcMethodName>(method: M, params: RpcNamedParams<M>): Promise<RpcResult<M>> {
    return toPlain(await this.callExact(method, params)) as RpcResult<M>;
  }

  /** Calls any method; numbers keep their text, objects their order. */
  async callExact(method: string, params: readonly unknown[] | object = []): Promise<JsonValue> {
    const reply = await this.post({ id: this.nextId++, method, params });
    const answer = readReply(reply);
    if ('error' in answer) throw answer.error;
    return answer.result;
  }

  /** Calls several methods in one request; the answers stand in the order of the calls. */
  async batch(calls: readonly BatchCall[]): Promise<BatchAnswer[]> {
    const requests = calls.map(({ method, params }, index) => ({ id: index, method, params: params ?? [] }));
    const replies = await this.post(requests);
    if (!Array.isArray(replies) || replies.length !== calls.length) {
      throw new RpcTransportError(200, 'the answer to a batch does not match it');
    }
    return replies.map((reply) => {
      const answer = readReply(reply);
      return 'error' in answer ? answer : { result: toPlain(answer.result) };
    });
  }

  /** Closes idle connections. */
  close(): void {
    this.agent.destroy();
  }

  private post(payload: object): Promise<JsonValue> {
    const body = JSON.stringify(payload);
    const { hostname, port, pathname, username, password } = this.url;
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => reject(new RpcTransportError(0, error.message));
      const call = request(
        {
          // The brackets of an IPv6 address belong to the URL, not to the address.
          host: hostname.replace(/^\[|\]$/g, ''),
          port,
          path: pathname,
          method: 'POST',
          agent: this.agent,
          auth: `${decodeURIComponent(username)}:${decodeURIComponent(password)}`,
          headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) },
        },
        (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('error', fail);
          response.on('end', () => {
            const text = Buffer.concat(parts).toString();
            const status = response.statusCode ?? 0;
            try {
              resolve(parseJson(text, Infinity));
            } catch {
              reject(
                new RpcTransportError(status, text === '' ? `the node answered with status ${status}` : text),
              );
            }
          });
        },
      );
      call.on('error', fail);
      if (this.timeoutMs > 0) {
        call.setTimeout(this.timeoutMs, () => call.destroy(new Error('the node did not answer in time')));
      }
      call.end(body);
    });
  }
}

function readReply(reply: JsonValue): { readonly result: JsonValue } | { readonly error: RpcCallError } {
  if (!(reply instanceof JsonObject)) throw new RpcTransportError(200, 'the answer is not a JSON-RPC reply');
  const error = reply.get('error') ?? null;
  if (error === null) return { result: reply.get('result') ?? null };
  const code = error instanceof JsonObject ? (error.get('code') ?? null) : null;
  const message = error instanceof JsonObject ? error.get('message') : null;
  return { error: new RpcCallError(isJsonNumber(code) ? Number(numberText(code)) : 0, String(message)) };
}
