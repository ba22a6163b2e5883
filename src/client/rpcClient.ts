/**
 * Calls to a node: `await client.call('getblockcount')`. Parameters and results are typed from the methods' declarations
 * (`types/`, generated). Numbers are returned as doubles; `callExact` preserves every number literal. Lightweight on
 * purpose: it imports neither the methods nor the node.
 */
import { Agent, request } from 'node:http';
import { JsonObject, isJsonNumber, numberText, toPlain, type JsonValue } from '../util/json/json.js';
import { parseJson } from '../util/json/jsonParse.js';
import { LOCAL_NETWORKS, localCookieFile, readCookie, type LocalNetwork } from './localNode.js';
import type { RpcMethodTypes } from './types/index.js';

export type RpcMethodName = keyof RpcMethodTypes;
export type RpcParams<M extends RpcMethodName> = RpcMethodTypes[M]['params'];
export type RpcNamedParams<M extends RpcMethodName> = RpcMethodTypes[M]['named'];
export type RpcResult<M extends RpcMethodName> = RpcMethodTypes[M]['result'];

export interface RpcClientOptions {
  /**
   * URL of the node: `http://user:password@127.0.0.1:9245/`. The path chooses a profile, a wallet, or both. Default: the
   * network's RPC port on this machine.
   */
  readonly url?: string;
  /** Network of the default port and cookie; default: `main`. */
  readonly network?: LocalNetwork;
  /** The node's data folder, which contains its cookie; default: `~/.lbcnode`. */
  readonly dataDir?: string;
  /** Path of the cookie file, for a node with `-rpccookiefile`. */
  readonly cookieFile?: string;
  /** Name of the loaded wallet that the calls use. It is added to the URL's path, which may contain a profile. */
  readonly wallet?: string;
  /** Timeout of a call in milliseconds; 0, the default, for none. */
  readonly timeoutMs?: number;
}

/** Thrown if the node returned an error for a call. */
export class RpcCallError extends Error {
  override readonly name = 'RpcCallError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** Error: the node returned no JSON-RPC response, because it is not running, rejects the credentials or is too busy. */
export class RpcTransportError extends Error {
  override readonly name = 'RpcTransportError';
  /** HTTP status of the response; 0 without a response. */
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

/** One element of a batch response: a result or an error. */
export type BatchAnswer = { readonly result: unknown } | { readonly error: RpcCallError };

const LOOPBACK_HOST = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export class RpcClient {
  private readonly options: RpcClientOptions;
  private readonly url: URL;
  private readonly timeoutMs: number;
  private readonly agent = new Agent({ keepAlive: true });
  /** Path of the cookie file; null if the URL contains the credentials. */
  private readonly cookieFile: string | null;
  private credentials: string;
  private nextId = 1;

  /** If the URL has no credentials, the node's cookie is read before the first call, and again when the node has a new one. */
  constructor(options: RpcClientOptions = {}) {
    const network = options.network ?? 'main';
    this.url = new URL(options.url ?? `http://127.0.0.1:${LOCAL_NETWORKS[network].rpcPort}/`);
    this.options = options;
    if (options.wallet !== undefined) {
      const [profile = ''] = /^\/(?:lbrycrd|lbcd)(?=\/|$)/.exec(this.url.pathname) ?? [];
      this.url.pathname = `${profile}/wallet/${encodeURIComponent(options.wallet)}`;
    }
    this.timeoutMs = options.timeoutMs ?? 0;
    const { username, password, hostname } = this.url;
    const hasCredentials = username !== '' || password !== '';
    this.credentials = hasCredentials
      ? `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
      : '';
    // The cookie of this machine is sent to another host only if the caller specifies its file or folder.
    const mayLook =
      options.cookieFile !== undefined || options.dataDir !== undefined || LOOPBACK_HOST.test(hostname);
    this.cookieFile =
      hasCredentials || !mayLook ? null : (options.cookieFile ?? localCookieFile(network, options.dataDir));
  }

  /** Returns a client for a wallet of the same node. The client has separate connections. */
  forWallet(wallet: string): RpcClient {
    return new RpcClient({ ...this.options, wallet });
  }

  /** Calls a method with positional parameters. Throws `RpcCallError` or `RpcTransportError`. */
  async call<M extends RpcMethodName>(method: M, ...params: RpcParams<M>): Promise<RpcResult<M>> {
    return toPlain(await this.callExact(method, params)) as RpcResult<M>;
  }

  /** Calls a method with named parameters. */
  async callNamed<M extends RpcMethodName>(method: M, params: RpcNamedParams<M>): Promise<RpcResult<M>> {
    return toPlain(await this.callExact(method, params)) as RpcResult<M>;
  }

  /** Calls any method. In the result, number literals and the order of object keys are preserved. */
  async callExact(method: string, params: readonly unknown[] | object = []): Promise<JsonValue> {
    const reply = await this.post({ id: this.nextId++, method, params });
    const answer = readReply(reply);
    if ('error' in answer) throw answer.error;
    return answer.result;
  }

  /** Calls several methods in one request; the results are in the order of the calls. */
  async batch(calls: readonly BatchCall[]): Promise<BatchAnswer[]> {
    const requests = calls.map(({ method, params }, index) => ({ id: index, method, params: params ?? [] }));
    const replies = await this.post(requests);
    if (!Array.isArray(replies) || replies.length !== calls.length) {
      throw new RpcTransportError(200, 'the response to a batch does not match the request');
    }
    return replies.map((reply) => {
      const answer = readReply(reply);
      return 'error' in answer ? answer : { result: toPlain(answer.result) };
    });
  }

  /** Closes idle connections of the client. */
  close(): void {
    this.agent.destroy();
  }

  private async post(payload: object): Promise<JsonValue> {
    const body = JSON.stringify(payload);
    if (this.cookieFile === null) return this.send(body);
    if (this.credentials === '') this.credentials = this.cookie(this.cookieFile);
    try {
      return await this.send(body);
    } catch (error) {
      if (!(error instanceof RpcTransportError) || error.status !== 401) throw error;
      // A restarted node has a new cookie, so the cookie file is read once more.
      const known = this.credentials;
      this.credentials = this.cookie(this.cookieFile);
      if (this.credentials === known) throw error;
      return this.send(body);
    }
  }

  private cookie(file: string): string {
    try {
      return readCookie(file);
    } catch (error) {
      throw new RpcTransportError(
        0,
        `The cookie ${file} cannot be read ` +
          `(${(error as NodeJS.ErrnoException).code ?? (error as Error).message}). Check that the node is ` +
          'running. Pass its data folder as dataDir, or put user name and password into the URL.',
      );
    }
  }

  private send(body: string): Promise<JsonValue> {
    const { hostname, port, pathname } = this.url;
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => reject(new RpcTransportError(0, error.message));
      const call = request(
        {
          // In the URL an IPv6 address has brackets, which are not part of the address.
          host: hostname.replace(/^\[|\]$/g, ''),
          port,
          path: pathname,
          method: 'POST',
          agent: this.agent,
          auth: this.credentials,
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
  if (!(reply instanceof JsonObject))
    throw new RpcTransportError(200, 'the response is not a JSON-RPC response');
  const error = reply.get('error') ?? null;
  if (error === null) return { result: reply.get('result') ?? null };
  const code = error instanceof JsonObject ? (error.get('code') ?? null) : null;
  const message = error instanceof JsonObject ? error.get('message') : null;
  return { error: new RpcCallError(isJsonNumber(code) ? Number(numberText(code)) : 0, String(message)) };
}
