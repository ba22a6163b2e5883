/** The command-line client over TLS: the certificates that it trusts, and the errors for others. */
import { createPrivateKey } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runCli } from '../../src/bin/cli/run.js';
import { RpcDispatcher } from '../../src/rpc/call/dispatch.js';
import { MethodTable } from '../../src/rpc/declare/table.js';
import { echo } from '../../src/rpc/methods/hidden/echo.js';
import { RpcHttpServer } from '../../src/server/httpServer.js';
import { newPrivateKey, selfSignedCertificate } from '../../src/server/tls/certificate.js';
import { SILENT_LOGGER } from '../../src/util/logging.js';
import { testServices } from '../unit/rpc/support.js';

let folder: string;
let cert: string;
let server: RpcHttpServer;
let port: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnode-cli-tls-'));
  mkdirSync(join(folder, 'regtest'));
  const key = newPrivateKey();
  const names = { organization: 'test', hosts: ['localhost', '127.0.0.1'] };
  cert = selfSignedCertificate(createPrivateKey(key), names, new Date());
  const dispatcher = new RpcDispatcher(
    { deprecated: new Set() },
    {
      table: new MethodTable([echo]),
      services: testServices(),
      logger: SILENT_LOGGER,
      onException: () => undefined,
    },
  );
  dispatcher.finishWarmup();
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
      certificate: { key, cert },
    },
    { dispatcher, logger: SILENT_LOGGER },
  );
  await server.listen();
  port = server.addresses()[0]!.port;
});

afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

async function ask(...words: string[]): Promise<{ status: number; out: string; err: string }> {
  let [out, err] = ['', ''];
  const all = ['-regtest', `-datadir=${folder}`, `-rpcport=${port}`, '-rpcuser=user', '-rpcpassword=pass'];
  const status = await runCli([...all, ...words], {
    out: (text) => (out += text),
    err: (text) => (err += text),
    input: () => {
      throw new Error('nothing is to be read');
    },
    home: folder,
    version: '1',
  });
  return { status, out, err };
}

const ANSWER = { status: 0, out: '[\n  "x"\n]\n', err: '' };

it('a certificate that is not trusted is refused, unless -skipverify is given', async () => {
  const { status, out, err } = await ask('-tls', 'echo', 'x');
  expect([status, out]).toEqual([1, '']);
  expect(err).toContain(
    'its certificate is not trusted, DEPTH_ZERO_SELF_SIGNED_CERT: copy rpc.cert of the node',
  );
  expect(await ask('-tls', '-skipverify', 'echo', 'x')).toEqual(ANSWER);
});

it('-rpccert is trusted, and rpc.cert in the folder of the network', async () => {
  const copy = join(folder, 'copy.pem');
  writeFileSync(copy, cert);
  expect(await ask('-tls', `-rpccert=${copy}`, 'echo', 'x')).toEqual(ANSWER);
  expect((await ask('-tls', '-rpccert=absent.pem', 'echo', 'x')).err).toMatch(
    /^error: The certificate .*absent\.pem \(-rpccert\) cannot be read: /,
  );
  writeFileSync(join(folder, 'regtest', 'rpc.cert'), cert);
  expect(await ask('-tls', '-rpcconnect=localhost', 'echo', 'x')).toEqual(ANSWER);
  const options = join(folder, 'lbcnode.conf');
  writeFileSync(options, 'tls=1\n');
  expect(await ask('echo', 'x')).toEqual(ANSWER);
  rmSync(options);
});

it('a certificate for another host is refused', async () => {
  const key = newPrivateKey();
  const names = { organization: 'test', hosts: ['other.example'] };
  const other = selfSignedCertificate(createPrivateKey(key), names, new Date());
  const file = join(folder, 'other.pem');
  writeFileSync(file, other);
  expect((await ask('-tls', `-rpccert=${file}`, 'echo', 'x')).err).toContain(
    'its certificate is not trusted',
  );
});

it('a server without TLS and a server that requires TLS give different errors', async () => {
  const plain = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (bytes) =>
      socket.end(
        bytes[0] === 0x16
          ? 'HTTP/1.1 400 Bad Request\r\n\r\n'
          : 'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n',
      ),
    );
  });
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  const at = `-rpcconnect=127.0.0.1:${(plain.address() as AddressInfo).port}`;
  const words = ['-rpcuser=user', '-rpcpassword=pass', '-regtest', `-datadir=${folder}`, at, 'echo'];
  const errors: string[] = [];
  for (const option of ['-tls', '-tls=0'])
    await runCli([option, ...words], {
      out: () => undefined,
      err: (text) => errors.push(text),
      input: () => {
        throw new Error('nothing is to be read');
      },
      home: folder,
      version: '1',
    });
  plain.close();
  expect(errors[0]).toMatch(/it does not use TLS, [A-Z_0-9]+: omit -tls/);
  expect(errors[1]).toBe('error: The server requires TLS. Call it with -tls\n');
});
