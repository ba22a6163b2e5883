/**
 * `lbcnode/lbcnet`: calls to a daemon for content and wallets with typed parameters and results, which are generated from
 * the methods' declarations. Works with lbcnet and, for the methods that both have, with lbrynet.
 *
 *   const client = new LbcnetClient();
 *   const { items } = await client.call('claim_search', { any_tags: ['music'], page_size: 5 });
 */
import { Agent, request } from 'node:http';
import type { LbcnetMethods } from './methods.js';

export type * from './methods.js';
export type * from './shapes.js';

export type LbcnetMethodName = keyof LbcnetMethods;
export type LbcnetParams<M extends LbcnetMethodName> = LbcnetMethods[M]['params'];
export type LbcnetResult<M extends LbcnetMethodName> = LbcnetMethods[M]['result'];

/** Methods without required parameters may be called without parameters. */
type ParamsOf<M extends LbcnetMethodName> =
  Record<string, never> extends LbcnetParams<M> ? [params?: LbcnetParams<M>] : [params: LbcnetParams<M>];

export interface LbcnetClientOptions {
  /** URL of the daemon. Default: the daemon on this machine. */
  readonly url?: string;
  /** Timeout of a call; 0 (the default): none. */
  readonly timeoutMs?: number;
}

const DEFAULT_URL = 'http://localhost:5279/';

/** The daemon returned an error. */
export class LbcnetCallError extends Error {
  override readonly name = 'LbcnetCallError';
  readonly code: number;
  /** The class of the error, such as `InsufficientFundsError`; empty if the call did not reach a method. */
  readonly kind: string;

  constructor(code: number, message: string, kind: string) {
    super(message);
    this.code = code;
    this.kind = kind;
  }
}

/** The daemon returned no JSON-RPC response: it is not running, or rejects the caller. */
export class LbcnetTransportError extends Error {
  override readonly name = 'LbcnetTransportError';
  /** The HTTP status, 0 without a response. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface Envelope {
  readonly result?: unknown;
  readonly error?: {
    readonly code: number;
    readonly message: string;
    readonly data?: { readonly name?: string };
  };
}

export class LbcnetClient {
  private readonly url: URL;
  private readonly timeoutMs: number;
  private readonly agent = new Agent({ keepAlive: true });

  constructor({ url = DEFAULT_URL, timeoutMs = 0 }: LbcnetClientOptions = {}) {
    this.url = new URL(url);
    this.timeoutMs = timeoutMs;
  }

  /** Throws `LbcnetCallError` or `LbcnetTransportError`. */
  async call<M extends LbcnetMethodName>(method: M, ...[params]: ParamsOf<M>): Promise<LbcnetResult<M>> {
    const { status, text } = await this.post(JSON.stringify({ method, params: params ?? {} }));
    let answer: Envelope;
    try {
      answer = JSON.parse(text) as Envelope;
    } catch {
      throw new LbcnetTransportError(
        status,
        text === '' ? `the daemon answered with status ${status}` : text,
      );
    }
    const { error } = answer;
    if (error) throw new LbcnetCallError(error.code, error.message, error.data?.name ?? '');
    return answer.result as LbcnetResult<M>;
  }

  /** Closes idle connections. */
  close(): void {
    this.agent.destroy();
  }

  private post(body: string): Promise<{ status: number; text: string }> {
    const { hostname, port, pathname } = this.url;
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => reject(new LbcnetTransportError(0, error.message));
      const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
      const call = request(
        // The brackets of an IPv6 address are part of the URL, not of the address.
        {
          host: hostname.replace(/^\[|\]$/g, ''),
          port,
          path: pathname,
          method: 'POST',
          agent: this.agent,
          headers,
        },
        (response) => {
          const parts: Buffer[] = [];
          response.on('data', (part: Buffer) => parts.push(part));
          response.on('error', fail);
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString() }),
          );
        },
      );
      call.on('error', fail);
      if (this.timeoutMs > 0)
        call.setTimeout(this.timeoutMs, () => call.destroy(new Error('the daemon did not answer in time')));
      call.end(body);
    });
  }
}
