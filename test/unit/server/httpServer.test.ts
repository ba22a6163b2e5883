/** The HTTP transport: paths, callers, statuses, cookie. Connections and streams are in connections.test.ts. */
import { createHmac } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RpcHttpServer, ServerStartError, type HttpServerOptions } from '../../../src/server/httpServer.js';
import { SILENT_LOGGER, type Logger } from '../../../src/util/logging.js';
import { ask, ServerBench } from './support.js';

let bench: ServerBench;
beforeEach(() => {
  bench = new ServerBench();
});
afterEach(async () => {
  vi.useRealTimers();
  await bench.close();
});

describe('RpcHttpServer', () => {
  it('answers with the exact content type and a length', async () => {
    const port = await bench.start();
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
  ])('accepts the content type %j', async (type) => {
    const port = await bench.start();
    expect((await ask(port, '{"method":"echo"}', { headers: { 'content-type': type } })).status).toBe(200);
  });

  it('accepts a body without a content type, and treats an empty one as a parse error', async () => {
    const port = await bench.start();
    expect((await ask(port, '{"method":"echo"}')).status).toBe(200);
    const empty = await ask(port, '');
    expect(empty.status).toBe(500);
    expect(JSON.parse(empty.text)).toMatchObject({ error: { code: -32700 } });
  });

  it('maps errors to statuses', async () => {
    const port = await bench.start();
    expect((await ask(port, '{"method":"nosuch"}')).status).toBe(404);
    expect((await ask(port, '{}')).status).toBe(400);
    expect((await ask(port, '{"method":"help","params":[1,2]}')).status).toBe(500);
    expect((await ask(port, '{"jsonrpc":"2.0","method":"uptime"}')).status).toBe(204);
    expect((await ask(port, '[]')).text).toBe('[]\n');
  });

  it('uses a path as it is written, query and encoding included', async () => {
    const port = await bench.start();
    for (const path of [
      '/?x=1',
      '/?',
      '//',
      '/%2f',
      '/wallet',
      '/%77allet/x',
      '/lbcd?x',
      '/lbrycrd//',
      '/lbrycrd/x',
      '/nosuch',
    ]) {
      const answer = await ask(port, '{"method":"test_where"}', { path });
      expect([answer.status, answer.text], path).toEqual([404, '']);
    }
    for (const [path, wallet] of [
      ['/wallet/x?y=1', 'x?y=1'],
      ['/wallet/%zz', '%zz'],
      ['/wallet/a/b', 'a/b'],
    ] as const) {
      const answer = await ask(port, '{"method":"test_where"}', { path });
      expect((JSON.parse(answer.text) as { result: unknown }).result, path).toEqual(['documented', wallet]);
    }
  });

  // The answers of the reference, whose library only knows the methods GET, POST, HEAD, PUT and DELETE.
  it('refuses wrong methods, paths and callers with a content type', async () => {
    const port = await bench.start();
    const html = 'text/html; charset=ISO-8859-1';
    const refusal = async (method: string, path = '/', auth?: null): Promise<unknown[]> => {
      const answer = await ask(port, '', { method, path, ...(auth === null ? { auth } : {}) });
      return [answer.status, answer.headers['content-type'], answer.text];
    };
    for (const method of ['GET', 'PUT'])
      expect(await refusal(method), method).toEqual([405, html, 'JSONRPC server handles only POST requests']);
    expect(await refusal('DELETE')).toEqual([405, html, '']);
    expect(await refusal('DELETE', '/nosuch')).toEqual([405, html, '']);
    expect((await ask(port, '', { method: 'HEAD' })).status).toBe(405);
    for (const method of ['OPTIONS', 'PATCH', 'TRACE']) {
      const page =
        '<HTML><HEAD>\n<TITLE>501 Not Implemented</TITLE>\n</HEAD><BODY>\n<H1>Not Implemented</H1>\n</BODY></HTML>\n';
      expect(await refusal(method), method).toEqual([501, 'text/html', page]);
    }
    expect(await refusal('POST', '/nosuch')).toEqual([404, html, '']);
    expect(await refusal('GET', '/nosuch')).toEqual([404, html, '']);
    expect(await refusal('POST', '/', null)).toEqual([401, html, '']);
    const missing = await ask(port, '{"method":"uptime"}', { auth: null });
    expect(missing.headers['www-authenticate']).toBe('Basic realm="jsonrpc"');
  });

  it('delays the answer to a wrong password, and logs it', async () => {
    const lines: string[] = [];
    const port = await bench.start({}, { ...SILENT_LOGGER, info: (line) => void lines.push(line) });
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

  it('answers right passwords at once while a few wrong ones from the same address wait', async () => {
    const port = await bench.start();
    // Fake time: the requests with a wrong password get no answer.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const lines: string[] = [];
    const wrong = Array.from({ length: 15 }, (_, i) =>
      ask(port, '{"method":"echo"}', { auth: `user:wrong${i}` }).then(({ status }) =>
        lines.push(`${status}`),
      ),
    );
    for (let i = 0; i < 5; i++) {
      expect((await ask(port, '{"method":"echo"}')).status).toBe(200);
      await ask(port, '{"method":"echo"}', { auth: null }).then(({ status }) => expect(status).toBe(401));
    }
    expect(lines).toEqual([]);
    vi.useRealTimers();
    await bench.server?.close();
    await Promise.allSettled(wrong);
    expect(lines).toEqual(Array<string>(15).fill('401'));
  });

  it('stores no wrong password, and right ones of several users', async () => {
    const hash = createHmac('sha256', 'aa').update('secret').digest('hex');
    const rpcAuth = Array.from({ length: 12 }, (_, i) => `rt${i}:aa$${hash}`);
    const port = await bench.start({
      auth: { user: 'user', password: 'pass', rpcAuth, cookieFile: join(bench.folder, '.cookie') },
    });
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 12; i++)
        expect((await ask(port, '{"method":"echo"}', { auth: `rt${i}:secret` })).status).toBe(200);
    }
    for (const auth of ['rt0:secreT', 'rt0:secret1', 'rt0:secre'])
      expect((await ask(port, '{"method":"echo"}', { auth })).status, auth).toBe(401);
  });

  it('accepts a password with a colon and non-ASCII letters', async () => {
    const port = await bench.start({
      auth: { user: 'u', password: 'a:b:ü', rpcAuth: [], cookieFile: join(bench.folder, '.cookie') },
    });
    const header = `Basic ${Buffer.from('u:a:b:ü').toString('base64')}`;
    expect(
      (await ask(port, '{"method":"echo"}', { auth: null, headers: { authorization: header } })).status,
    ).toBe(200);
    expect(existsSync(join(bench.folder, '.cookie'))).toBe(false);
  });

  it('reports the reason why a cookie cannot be written', async () => {
    const cookieFile = join(bench.folder, 'absent', 'cookie');
    await expect(bench.start({ auth: { user: '', password: '', rpcAuth: [], cookieFile } })).rejects.toThrow(
      `The RPC authentication cookie ${cookieFile} cannot be written: it is missing (ENOENT). Its folder must exist and be writable: correct -rpccookiefile, or use -rpcuser and -rpcpassword.`,
    );
    // A folder has the name of the file. The temporary file beside it is removed.
    const folder = join(bench.folder, 'taken');
    mkdirSync(folder);
    await expect(
      bench.start({ auth: { user: '', password: '', rpcAuth: [], cookieFile: folder } }),
    ).rejects.toThrow(`The RPC authentication cookie ${folder} cannot be written: it is a folder`);
    expect(existsSync(`${folder}.tmp`)).toBe(false);
  });

  it('creates a cookie that only its owner may read, and removes it', async () => {
    const cookieFile = join(bench.folder, '.cookie');
    writeFileSync(`${cookieFile}.tmp`, 'left behind', { mode: 0o666 });
    const port = await bench.start({ auth: { user: '', password: '', rpcAuth: [], cookieFile } });
    const cookie = readFileSync(cookieFile, 'utf8');
    expect(cookie).toMatch(/^__cookie__:[0-9a-f]{64}$/);
    expect(statSync(cookieFile).mode & 0o777).toBe(0o600);
    expect((await ask(port, '{"method":"echo"}', { auth: cookie })).status).toBe(200);
    expect((await ask(port, '{"method":"echo"}', { auth: `${cookie}0` })).status).toBe(401);
    await bench.server?.close();
    expect(existsSync(cookieFile)).toBe(false);
  });

  it('creates a cookie with the mode of the umask on request', async () => {
    const cookieFile = join(bench.folder, '.cookie');
    const umask = process.umask(0o027);
    try {
      await bench.start({
        auth: { user: '', password: '', rpcAuth: [], cookieFile, cookieFollowsUmask: true },
      });
    } finally {
      process.umask(umask);
    }
    expect(statSync(cookieFile).mode & 0o777).toBe(0o640);
  });

  it('does not remove the cookie of another node', async () => {
    const cookieFile = join(bench.folder, '.cookie');
    await bench.start({ auth: { user: '', password: '', rpcAuth: [], cookieFile } });
    writeFileSync(cookieFile, '__cookie__:other');
    await bench.server?.close();
    expect(readFileSync(cookieFile, 'utf8')).toBe('__cookie__:other');
  });

  it('accepts rpcauth users in addition to the main one', async () => {
    const hash = createHmac('sha256', 'f7efda5c189b999524f151318c0c86').update('secret').digest('hex');
    const rpcAuth = ['malformed', `rt:f7efda5c189b999524f151318c0c86$${hash}`];
    const port = await bench.start({
      auth: { user: 'user', password: 'pass', rpcAuth, cookieFile: join(bench.folder, '.cookie') },
    });
    expect((await ask(port, '{"method":"echo"}', { auth: 'rt:secret' })).status).toBe(200);
    expect((await ask(port, '{"method":"echo"}', { auth: 'user:pass' })).status).toBe(200);
    expect((await ask(port, '{"method":"echo"}', { auth: 'rt:secret2' })).status).toBe(401);
    expect((await ask(port, '{"method":"echo"}', { auth: 'rtx:secret' })).status).toBe(401);
  });

  it('answers by path: profiles and wallets', async () => {
    const port = await bench.start();
    const at = async (path: string): Promise<unknown> =>
      (JSON.parse((await ask(port, '{"method":"test_where"}', { path })).text) as { result: unknown }).result;
    expect(await at('/')).toEqual(['documented', null]);
    expect(await at('/lbrycrd')).toEqual(['lbrycrd', null]);
    expect(await at('/lbrycrd/')).toEqual(['lbrycrd', null]);
    expect(await at('/lbcd')).toEqual(['lbcd', null]);
    expect(await at('/lbcd/')).toEqual(['lbcd', null]);
    expect(await at('/wallet/')).toEqual(['documented', '']);
    expect(await at('/wallet/my%20wallet%2fx')).toEqual(['documented', 'my wallet/x']);
    expect(await at('/wallet/100%25')).toEqual(['documented', '100%']);
    // A slash at the end belongs to the name, as in the reference; a zero byte ends it.
    expect(await at('/wallet/x/')).toEqual(['documented', 'x/']);
    expect(await at('/wallet/x%00y')).toEqual(['documented', 'x']);
  });

  it('refuses callers from networks that are not allowed, before any other check', async () => {
    const port = await bench.start({ binds: ['127.0.0.1'], allowIps: ['10.0.0.0/8'] });
    const from = async (remoteAddress: string, url = '/'): Promise<number> =>
      Number(/^HTTP\/1\.1 (\d+)/.exec(await bench.sendAs(remoteAddress, `POST ${url} HTTP/1.1`))?.[1]);
    expect(await from('11.0.0.1')).toBe(403);
    expect(await from('11.0.0.1', '/nosuch')).toBe(403);
    expect(await from('2001:db8::1')).toBe(403);
    expect(await from('10.1.2.3')).toBe(401);
    expect(await from('::ffff:10.1.2.3')).toBe(401);
    expect((await ask(port, '{"method":"echo"}')).status).toBe(200);
    expect(
      () => new RpcHttpServer({ ...({} as HttpServerOptions), allowIps: ['1.2.3.4/33'] }, {} as never),
    ).toThrow(ServerStartError);
  });

  it('cannot start if no address can be bound', async () => {
    const blocker = net.createServer();
    await new Promise<void>((resolve) => blocker.listen({ port: 0, host: '127.0.0.1' }, resolve));
    const taken = (blocker.address() as net.AddressInfo).port;
    await expect(bench.start({ allowIps: ['127.0.0.1'], binds: [`127.0.0.1:${taken}`] })).rejects.toThrow(
      `Unable to start HTTP server. RPC cannot listen at 127.0.0.1:${taken}: port ${taken} is in use (EADDRINUSE), possibly by another lbcnode. Stop that program, or choose another port with -rpcport=<port>.`,
    );
    const place = `127.0.0.1:${taken}`;
    await expect(bench.start({ allowIps: ['127.0.0.1'], binds: [place, place] })).rejects.toThrow(
      `RPC cannot listen at ${place} and ${place}: port ${taken} is in use (EADDRINUSE)`,
    );
    await new Promise((resolve) => blocker.close(resolve));
  });

  it('ignores rpcbind without rpcallowip', async () => {
    const lines: string[] = [];
    await bench.start({ binds: ['0.0.0.0'] }, { ...SILENT_LOGGER, warn: (line) => void lines.push(line) });
    expect(
      bench.server
        ?.addresses()
        .map((address) => address.host)
        .filter((host) => host !== '::1'),
    ).toEqual(['127.0.0.1']);
    expect(lines).toEqual([expect.stringContaining('-rpcbind was ignored')]);
  });

  it('logs who calls what, with addresses on request', async () => {
    const lines: string[] = [];
    const logger: Logger = {
      ...SILENT_LOGGER,
      willLog: () => true,
      debug: (category, line) => category === 'rpc' && lines.push(typeof line === 'string' ? line : line()),
    };
    const port = await bench.start({}, logger);
    await ask(port, '{"method":"e\\ncho"}');
    await bench.server?.close();
    await ask(await bench.start({ logIps: true }, logger), '{"method":"echo"}');
    expect(lines).toEqual([
      'ThreadRPCServer method=echo user=user',
      expect.stringMatching(/^ThreadRPCServer method=echo user=user peeraddr=127\.0\.0\.1:\d+$/),
    ]);
  });
});
