/** A server on a free port with methods that wait, stream and fail during an answer, and a client that returns the answers. */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { defineMethod } from '../../../src/rpc/declare/method.js';
import { t } from '../../../src/schema/schema.js';
import {
  RpcHttpServer,
  type HttpServerDeps,
  type HttpServerOptions,
} from '../../../src/server/httpServer.js';
import { SLICE_MS } from '../../../src/util/slices.js';
import { CHUNK_CHARS, hexOf, jsonArray, rawJson } from '../../../src/util/json/jsonWrite.js';
import { SILENT_LOGGER, type Logger } from '../../../src/util/logging.js';
import { testDispatcher } from '../rpc/support.js';

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

/** Numbers of started calls of `test_wait` and `test_slow`, and the promise for which those of `test_slow` wait. */
export const held = { waits: 0, slow: 0, until: Promise.resolve() };

/** From now on, calls of `test_slow` wait. Returns a function that ends the wait. */
export function holdSlow(): () => void {
  let letGo: () => void = () => undefined;
  held.until = new Promise<void>((resolve) => (letGo = resolve));
  return letGo;
}

const waiting = defineMethod({
  name: 'test_wait',
  category: 'hidden',
  summary: '',
  params: [{ name: 'ms', type: 'integer', default: 100, description: '' }],
  result: t.str(),
  run: async (ctx, args) => {
    held.waits++;
    await sleep(args.ms, undefined, { signal: ctx.signal }).catch(() => undefined);
    return ctx.signal.aborted ? 'interrupted' : 'waited';
  },
});

const slow = defineMethod({
  name: 'test_slow',
  category: 'hidden',
  summary: '',
  params: [],
  result: t.str(),
  run: async () => {
    held.slow++;
    await held.until;
    return 'done';
  },
});

const where = defineMethod({
  name: 'test_where',
  category: 'hidden',
  summary: '',
  params: [],
  result: t.array(t.any()),
  run: (ctx) => [ctx.profile, ctx.walletName ?? null],
});

const big = defineMethod({
  name: 'test_big',
  category: 'hidden',
  summary: '',
  params: [{ name: 'bytes', type: 'integer', required: true, description: '' }],
  result: t.hex(),
  run: (_ctx, args) => hexOf(Buffer.alloc(args.bytes)),
});

const bytes = defineMethod({
  name: 'test_bytes',
  category: 'hidden',
  summary: '',
  params: [],
  result: t.any(),
  run: () => ({ before: '\u00e9', of: rawJson(Buffer.from(`["${'\u00e9'.repeat(40_000)}"]`)), after: 1 }),
});

/** Number of aborted answers of `test_endless`, and number of their bytes that were made. */
export const given = { up: 0, bytes: 0 };
const endless = defineMethod({
  name: 'test_endless',
  category: 'hidden',
  summary: '',
  params: [],
  result: t.array(t.str()),
  run: () =>
    jsonArray(
      (function* () {
        try {
          for (; ; given.bytes += 1000) yield 'x'.repeat(1000);
        } finally {
          given.up++;
        }
      })(),
    ),
});

/** The calls of `test_long` in the order in which they began and ended. */
export const long = { begun: [] as number[], ended: [] as number[] };
const longAnswer = defineMethod({
  name: 'test_long',
  category: 'hidden',
  summary: '',
  params: [
    { name: 'number', type: 'integer', required: true, description: '' },
    { name: 'parts', type: 'integer', required: true, description: '' },
  ],
  result: t.array(t.str()),
  run: (_ctx, args) => {
    long.begun.push(args.number);
    return jsonArray(
      (function* () {
        for (let i = 0; i < args.parts; i++) {
          // However fast the machine is, each part takes a whole slice.
          for (const until = performance.now() + SLICE_MS; performance.now() < until;);
          yield 'x'.repeat(CHUNK_CHARS);
        }
        long.ended.push(args.number);
      })(),
    );
  },
});

const broken = defineMethod({
  name: 'test_broken',
  category: 'hidden',
  summary: '',
  params: [],
  result: t.array(t.str()),
  run: () =>
    jsonArray(
      (function* () {
        for (let i = 0; i < 5000; i++) yield 'x'.repeat(1000);
        throw new Error('midway');
      })(),
    ),
});

/** Further methods for tests. */
export const EXTRA = [waiting, slow, where, big, endless, bytes, longAnswer, broken];

/** The two ends of a connection within the process. */
function duplexPair(): [Duplex, Duplex] {
  const ends: Duplex[] = [];
  const end = (other: number): Duplex =>
    new Duplex({
      read: () => undefined,
      write(chunk, _encoding, done) {
        ends[other]!.push(chunk);
        done();
      },
      final(done) {
        ends[other]!.push(null);
        done();
      },
    });
  ends.push(end(1), end(0));
  return [ends[0]!, ends[1]!];
}

/** A folder and at most one server, for one test. */
export class ServerBench {
  readonly folder = mkdtempSync(join(tmpdir(), 'lbcnode-http-'));
  server: RpcHttpServer | undefined;

  /** Starts a server; answers its port. */
  async start(
    overrides: Partial<HttpServerOptions> = {},
    logger: Logger = SILENT_LOGGER,
    deps: Partial<HttpServerDeps> = {},
  ): Promise<number> {
    const { dispatcher } = testDispatcher(EXTRA, [], logger);
    this.server = new RpcHttpServer(
      {
        auth: { user: 'user', password: 'pass', rpcAuth: [], cookieFile: join(this.folder, '.cookie') },
        port: 0,
        binds: [],
        allowIps: undefined,
        timeoutSec: 30,
        threads: 4,
        workQueueDepth: 16,
        profile: 'documented',
        ...overrides,
      },
      { dispatcher, logger, ...deps },
    );
    await this.server.listen();
    return this.server.addresses()[0]!.port;
  }

  /** Sends a request without a body as if it came from an address. Answers the beginning of what comes back. */
  async sendAs(remoteAddress: string, requestLine: string): Promise<string> {
    const [near, far] = duplexPair();
    Object.defineProperty(far, 'remoteAddress', { value: remoteAddress });
    const { servers } = this.server as unknown as { servers: http.Server[] };
    servers[0]!.emit('connection', far);
    near.write(`${requestLine}\r\nContent-Length: 0\r\n\r\n`);
    const [answer] = (await once(near, 'data')) as [Buffer];
    far.destroy();
    return answer.toString('latin1');
  }

  async close(): Promise<void> {
    await this.server?.close();
    rmSync(this.folder, { recursive: true });
  }
}

/** Posts a body, by default with the right password. */
export function ask(
  port: number,
  body: string,
  options: {
    path?: string;
    auth?: string | null;
    method?: string;
    headers?: Record<string, string>;
    agent?: http.Agent;
  } = {},
): Promise<Answer> {
  const auth = options.auth === undefined ? 'user:pass' : options.auth;
  return new Promise((resolve, reject) => {
    const request = http.request(
      {
        host: '127.0.0.1',
        port,
        path: options.path ?? '/',
        method: options.method ?? 'POST',
        ...(auth === null ? {} : { auth }),
        ...(options.agent ? { agent: options.agent } : { agent: false }),
        headers: options.headers ?? {},
      },
      (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text: Buffer.concat(parts).toString(),
          }),
        );
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}
