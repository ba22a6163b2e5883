import { createHmac } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defineMethod } from '../../../src/rpc/method.js';
import { t } from '../../../src/rpc/schema.js';
import {
  MAX_BODY_BYTES,
  RpcHttpServer,
  ServerStartError,
  type HttpServerOptions,
} from '../../../src/server/httpServer.js';
import { SILENT_LOGGER, type Logger } from '../../../src/util/logging.js';
import { hexOf, jsonArray } from '../../../src/util/jsonWrite.js';
import { testDispatcher } from '../rpc/support.js';

interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

const waiting = defineMethod({
  name: 'test_wait',
  category: 'hidden',
  summary: '',
  params: [{ name: 'ms', type: 'integer', default: 100, description: '' }],
  result: t.str(),
  run: async (ctx, args) => {
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
  run: () => sleep(300, 'done'),
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

let released = 0;
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
          for (;;) yield 'x'.repeat(1000);
        } finally {
          released++;
        }
      })(),
    ),
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

const EXTRA = [waiting, slow, where, big, endless, broken];

describe('RpcHttpServer', () => {
  let folder: string;
  let server: RpcHttpServer | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'lbcnode-http-'));
  });

  afterEach(async () => {
    await server?.close();
    server = undefined;
    rmSync(folder, { recursive: true });
  });

  async function start(
    overrides: Partial<HttpServerOptions> = {},
    logger: Logger = SILENT_LOGGER,
  ): Promise<number> {
    const { dispatcher } = testDispatcher(EXTRA, [], logger);
    server = new RpcHttpServer(
      {
        auth: { user: 'user', password: 'pass', rpcAuth: [], cookieFile: join(folder, '.cookie') },
        port: 0,
        binds: [],
        allowIps: undefined,
        timeoutSec: 30,
        threads: 4,
        workQueueDepth: 16,
        profile: 'documented',
        ...overrides,
      },
      { dispatcher, logger },
    );
    await server.listen();
    return server.addresses()[0]!.port;
  }

  function ask(
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

  it('answers with the exact content type and a length', async () => {
    const port = await start();
    const answer = await ask(port, '{"id":1,"method":"echo","params":["a"]}');
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.headers['content-length']).toBe(String(Buffer.byteLength(answer.text)));
    expect(answer.text).toBe('{"result":["a"],"error":null,"id":1}\n');
  });

  it.each([
    'text/plain',
    'application/json',
    'text/plain;',
    'application/x-www-form-urlencoded',
    'nonsense',
    '; ;',
    'application/json; charset=x',
  ])('takes the content type %j', async (type) => {
    const port = await start();
    expect((await ask(port, '{"method":"echo"}', { headers: { 'content-type': type } })).status).toBe(200);
  });

  it('takes a body without a content type, and an empty one as a parse error', async () => {
    const port = await start();
    expect((await ask(port, '{"method":"echo"}')).status).toBe(200);
    const empty = await ask(port, '');
    expect(empty.status).toBe(500);
    expect(JSON.parse(empty.text)).toMatchObject({ error: { code: -32700 } });
  });

  it('maps errors to statuses', async () => {
    const port = await start();
    expect((await ask(port, '{"method":"nosuch"}')).status).toBe(404);
    expect((await ask(port, '{}')).status).toBe(400);
    expect((await ask(port, '{"method":"help","params":[1,2]}')).status).toBe(500);
    expect((await ask(port, '{"jsonrpc":"2.0","method":"uptime"}')).status).toBe(204);
    expect((await ask(port, '[]')).text).toBe('[]\n');
  });

  it('refuses wrong methods, paths and callers', async () => {
    const port = await start();
    for (const method of ['GET', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
      const answer = await ask(port, '', { method });
      expect([answer.status, answer.text], method).toEqual([
        405,
        'JSONRPC server handles only POST requests',
      ]);
    }
    expect((await ask(port, '', { method: 'HEAD' })).status).toBe(405);
    expect((await ask(port, '{}', { path: '/nosuch' })).status).toBe(404);
    expect((await ask(port, '', { path: '/nosuch', method: 'GET' })).status).toBe(404);
    const missing = await ask(port, '{"method":"uptime"}', { auth: null });
    expect([missing.status, missing.text, missing.headers['www-authenticate']]).toEqual([
      401,
      '',
      'Basic realm="jsonrpc"',
    ]);
  });

  it('makes a wrong password wait, and tells the log', async () => {
    const lines: string[] = [];
    const port = await start({}, { ...SILENT_LOGGER, info: (line) => void lines.push(line) });
    for (const auth of ['user:wrong', 'user:pass2', 'other:pass', 'user', ':']) {
      const before = performance.now();
      const answer = await ask(port, '{"method":"uptime"}', { auth });
      expect(answer.status, auth).toBe(401);
      expect(performance.now() - before).toBeGreaterThan(240);
    }
    expect((await ask(port, '{}', { auth: null, headers: { authorization: 'Bearer x' } })).status).toBe(401);
    expect(
      (await ask(port, '{}', { auth: null, headers: { authorization: 'basic dXNlcjpwYXNz' } })).status,
    ).toBe(401);
    expect(
      lines.filter((line) => line.startsWith('ThreadRPCServer incorrect password attempt from 127.0.0.1'))
        .length,
    ).toBe(7);
  });

  it('takes a password with a colon and non-ASCII letters', async () => {
    const port = await start({
      auth: { user: 'u', password: 'a:b:ü', rpcAuth: [], cookieFile: join(folder, '.cookie') },
    });
    const header = `Basic ${Buffer.from('u:a:b:ü').toString('base64')}`;
    expect(
      (await ask(port, '{"method":"echo"}', { auth: null, headers: { authorization: header } })).status,
    ).toBe(200);
    expect(existsSync(join(folder, '.cookie'))).toBe(false);
  });

  it('makes a cookie that only its owner may read, and removes it', async () => {
    const cookieFile = join(folder, '.cookie');
    writeFileSync(`${cookieFile}.tmp`, 'left behind', { mode: 0o666 });
    const port = await start({ auth: { user: '', password: '', rpcAuth: [], cookieFile } });
    const cookie = readFileSync(cookieFile, 'utf8');
    expect(cookie).toMatch(/^__cookie__:[0-9a-f]{64}$/);
    expect(statSync(cookieFile).mode & 0o777).toBe(0o600);
    expect((await ask(port, '{"method":"echo"}', { auth: cookie })).status).toBe(200);
    expect((await ask(port, '{"method":"echo"}', { auth: `${cookie}0` })).status).toBe(401);
    await server?.close();
    server = undefined;
    expect(existsSync(cookieFile)).toBe(false);
  });

  it('leaves the cookie of another node alone', async () => {
    const cookieFile = join(folder, '.cookie');
    await start({ auth: { user: '', password: '', rpcAuth: [], cookieFile } });
    writeFileSync(cookieFile, '__cookie__:other');
    await server?.close();
    server = undefined;
    expect(readFileSync(cookieFile, 'utf8')).toBe('__cookie__:other');
  });

  it('takes rpcauth users beside the main one', async () => {
    const hash = createHmac('sha256', 'f7efda5c189b999524f151318c0c86').update('secret').digest('hex');
    const rpcAuth = ['malformed', `rt:f7efda5c189b999524f151318c0c86$${hash}`];
    const port = await start({
      auth: { user: 'user', password: 'pass', rpcAuth, cookieFile: join(folder, '.cookie') },
    });
    expect((await ask(port, '{"method":"echo"}', { auth: 'rt:secret' })).status).toBe(200);
    expect((await ask(port, '{"method":"echo"}', { auth: 'user:pass' })).status).toBe(200);
    expect((await ask(port, '{"method":"echo"}', { auth: 'rt:secret2' })).status).toBe(401);
    expect((await ask(port, '{"method":"echo"}', { auth: 'rtx:secret' })).status).toBe(401);
  });

  it('answers by path: profiles and wallets', async () => {
    const port = await start();
    const at = async (path: string): Promise<unknown> =>
      (JSON.parse((await ask(port, '{"method":"test_where"}', { path })).text) as { result: unknown }).result;
    expect(await at('/')).toEqual(['documented', null]);
    expect(await at('/lbrycrd')).toEqual(['lbrycrd', null]);
    expect(await at('/lbcd')).toEqual(['lbcd', null]);
    expect(await at('/wallet/')).toEqual(['documented', '']);
    expect(await at('/wallet/my%20wallet%2fx')).toEqual(['documented', 'my wallet/x']);
    expect(await at('/wallet/100%25')).toEqual(['documented', '100%']);
  });

  it('refuses callers from networks that are not allowed, before anything else', async () => {
    let app: FastifyInstance | undefined;
    const { dispatcher } = testDispatcher(EXTRA);
    const auth = { user: 'user', password: 'pass', rpcAuth: [], cookieFile: join(folder, '.cookie') };
    server = new RpcHttpServer(
      {
        auth,
        port: 0,
        binds: ['127.0.0.1'],
        allowIps: ['10.0.0.0/8'],
        timeoutSec: 30,
        threads: 4,
        workQueueDepth: 16,
        profile: 'documented',
      },
      { dispatcher, logger: SILENT_LOGGER, extraRoutes: (instance) => (app = instance) },
    );
    await server.listen();
    const from = async (remoteAddress: string, url = '/'): Promise<number> =>
      (await app!.inject({ method: 'POST', url, remoteAddress, headers: { authorization: 'none' } }))
        .statusCode;
    expect(await from('11.0.0.1')).toBe(403);
    expect(await from('11.0.0.1', '/nosuch')).toBe(403);
    expect(await from('2001:db8::1')).toBe(403);
    expect(await from('10.1.2.3')).toBe(401);
    expect(await from('::ffff:10.1.2.3')).toBe(401);
    expect((await ask(server.addresses()[0]!.port, '{"method":"echo"}')).status).toBe(200);
    expect(
      () => new RpcHttpServer({ ...({} as HttpServerOptions), allowIps: ['1.2.3.4/33'] }, {} as never),
    ).toThrow(ServerStartError);
  });

  it('cannot start where nothing can be bound', async () => {
    const blocker = net.createServer();
    await new Promise<void>((resolve) => blocker.listen({ port: 0, host: '127.0.0.1' }, resolve));
    const taken = (blocker.address() as net.AddressInfo).port;
    await expect(start({ allowIps: ['127.0.0.1'], binds: [`127.0.0.1:${taken}`] })).rejects.toThrow(
      'Unable to start HTTP server. See debug log for details.',
    );
    server = undefined;
    await new Promise((resolve) => blocker.close(resolve));
  });

  it('ignores rpcbind without rpcallowip', async () => {
    const lines: string[] = [];
    await start({ binds: ['0.0.0.0'] }, { ...SILENT_LOGGER, warn: (line) => void lines.push(line) });
    expect(
      server
        ?.addresses()
        .map((address) => address.host)
        .filter((host) => host !== '::1'),
    ).toEqual(['127.0.0.1']);
    expect(lines).toEqual([expect.stringContaining('-rpcbind was ignored')]);
  });

  it('tells the log who calls what, with addresses when that is wanted', async () => {
    const lines: string[] = [];
    const logger: Logger = {
      ...SILENT_LOGGER,
      debug: (category, line) => category === 'rpc' && lines.push(typeof line === 'string' ? line : line()),
    };
    const port = await start({}, logger);
    await ask(port, '{"method":"e\\ncho"}');
    await server?.close();
    await ask(await start({ logIps: true }, logger), '{"method":"echo"}');
    expect(lines).toEqual([
      'ThreadRPCServer method=echo user=user',
      expect.stringMatching(/^ThreadRPCServer method=echo user=user peeraddr=127\.0\.0\.1:\d+$/),
    ]);
  });

  it('keeps connections alive', async () => {
    const port = await start();
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<number | undefined>();
    agent.on('free', (socket: net.Socket) => sockets.add(socket.localPort));
    for (let i = 0; i < 5; i++) expect((await ask(port, '{"method":"echo"}', { agent })).status).toBe(200);
    await sleep(10);
    expect(sockets.size).toBe(1);
    agent.destroy();
  });

  it('refuses work beyond the queue', async () => {
    const port = await start({ threads: 1, workQueueDepth: 2 });
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(port, '{"method":"test_slow"}')));
    const refused = answers.filter((answer) => answer.status === 503);
    expect(answers.filter((answer) => answer.status === 200).length).toBe(3);
    expect(refused.length).toBe(3);
    expect(refused[0]?.text).toBe('Work queue depth exceeded');
  });

  it('refuses bodies over the limit', async () => {
    const port = await start();
    const answer = await new Promise<number>((resolve, reject) => {
      const headers = { 'content-length': String(MAX_BODY_BYTES + 1) };
      const request = http.request({
        host: '127.0.0.1',
        port,
        method: 'POST',
        auth: 'user:pass',
        headers,
        agent: false,
      });
      request.on('response', (response) => {
        resolve(response.statusCode ?? 0);
        request.destroy();
      });
      request.on('error', reject);
      request.write('{');
    });
    expect(answer).toBe(413);
  });

  it('takes a body of several megabytes', async () => {
    const port = await start();
    const text = 'ab'.repeat(4_000_000);
    const answer = await ask(port, JSON.stringify({ method: 'echo', params: [text] }));
    expect((JSON.parse(answer.text) as { result: string[] }).result[0]).toBe(text);
  });

  it('streams large answers in chunks', async () => {
    const port = await start();
    const answer = await ask(port, '{"method":"test_big","params":[5000000]}');
    expect(answer.headers['transfer-encoding']).toBe('chunked');
    expect((JSON.parse(answer.text) as { result: string }).result).toBe('00'.repeat(5_000_000));
  });

  it('cuts the connection when an answer breaks off', async () => {
    const port = await start();
    await expect(ask(port, '{"method":"test_broken"}')).rejects.toThrow(/aborted|hang up|ECONNRESET/);
    expect((await ask(port, '{"method":"echo"}')).status).toBe(200);
  });

  it('stops working for a client that goes away', async () => {
    const port = await start();
    released = 0;
    await new Promise<void>((resolve) => {
      const request = http.request(
        { host: '127.0.0.1', port, method: 'POST', auth: 'user:pass', agent: false },
        (response) => {
          response.once('data', () => request.destroy());
        },
      );
      request.on('error', () => undefined);
      request.on('close', () => resolve());
      request.end('{"method":"test_endless"}');
    });
    for (let i = 0; i < 100 && released === 0; i++) await sleep(20);
    expect(released).toBe(1);
  });

  it('cuts off a client that does not read, in bounded memory, and serves others meanwhile', async () => {
    const port = await start({ threads: 1, timeoutSec: 1 });
    released = 0;
    const socket = net.connect(port, '127.0.0.1');
    const body = '{"method":"test_endless"}';
    const auth = Buffer.from('user:pass').toString('base64');
    socket.write(
      `POST / HTTP/1.1\r\nHost: x\r\nAuthorization: Basic ${auth}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    socket.pause();
    socket.on('error', () => undefined);
    const before = process.memoryUsage().rss;
    await sleep(500);
    expect((await ask(port, '{"method":"echo"}')).status).toBe(200);
    for (let i = 0; i < 100 && released === 0; i++) await sleep(50);
    expect(released).toBe(1);
    expect(process.memoryUsage().rss - before).toBeLessThan(100e6);
    socket.destroy();
  });

  it('ends the wait of a client that goes away', async () => {
    const port = await start({ threads: 1 });
    const request = http.request({
      host: '127.0.0.1',
      port,
      method: 'POST',
      auth: 'user:pass',
      agent: false,
    });
    request.on('error', () => undefined);
    request.end('{"method":"test_wait","params":[60000]}');
    await sleep(100);
    request.destroy();
    expect((await ask(port, '{"method":"echo"}')).status).toBe(200);
  });

  it('survives garbage on the socket', async () => {
    const port = await start();
    const answer = await new Promise<string>((resolve) => {
      let text = '';
      const socket = net.connect(port, '127.0.0.1', () => socket.write('\x16\x03\x01garbage\r\n\r\n'));
      socket.on('data', (part) => (text += part.toString()));
      socket.on('error', () => undefined);
      socket.on('close', () => resolve(text));
    });
    expect(answer).toMatch(/^HTTP\/1.1 400/);
    expect((await ask(port, '{"method":"echo"}')).status).toBe(200);
  });

  it('finishes answers under way when it stops, ends waits and takes no more', async () => {
    const port = await start();
    const agent = new http.Agent({ keepAlive: true });
    await ask(port, '{"method":"echo"}', { agent });
    const slowAnswer = ask(port, '{"method":"test_slow"}');
    const waitAnswer = ask(port, '{"method":"test_wait","params":[60000]}');
    await sleep(100);
    const before = performance.now();
    const closing = server?.close();
    server = undefined;
    expect(JSON.parse((await waitAnswer).text)).toMatchObject({ result: 'interrupted' });
    expect(JSON.parse((await slowAnswer).text)).toMatchObject({ result: 'done' });
    await closing;
    expect(performance.now() - before).toBeLessThan(2000);
    await expect(ask(port, '{"method":"echo"}')).rejects.toThrow('ECONNREFUSED');
    agent.destroy();
  });
});
