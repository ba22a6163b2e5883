/** TLS and plain HTTP on one port. */
import { once } from 'node:events';
import { createPrivateKey } from 'node:crypto';
import https from 'node:https';
import net from 'node:net';
import { networkInterfaces } from 'node:os';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newPrivateKey, selfSignedCertificate } from '../../../../src/server/tls/certificate.js';
import { ask, ServerBench } from '../support.js';

const key = newPrivateKey();
const hosts = ['localhost', '127.0.0.1', '::1'];
const cert = selfSignedCertificate(createPrivateKey(key), { organization: 'test', hosts }, new Date());
const certificate = { key, cert };
const CALL = '{"id":1,"method":"echo","params":["a"]}';
const ANSWER = '{"result":["a"],"error":null,"id":1}\n';

function askTls(port: number, agent: https.Agent | false = false): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method: 'POST', auth: 'user:pass', ca: cert, agent };
    const request = https.request(options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve(text)).on('error', reject);
    });
    request.on('error', reject).end(CALL);
  });
}

/** Resolves to all bytes until the peer closes. */
async function readAll(socket: net.Socket): Promise<string> {
  const parts: Buffer[] = [];
  socket.on('data', (part: Buffer) => parts.push(part));
  await once(socket, 'close');
  return Buffer.concat(parts).toString();
}

describe('a server with a certificate', () => {
  let bench: ServerBench;
  beforeEach(() => {
    bench = new ServerBench();
  });
  afterEach(() => bench.close());

  it('answers over TLS, and by plain HTTP to this machine', async () => {
    const port = await bench.start({ certificate });
    expect(await askTls(port)).toBe(ANSWER);
    expect((await ask(port, CALL)).text).toBe(ANSWER);
  });

  it('answers several calls over one connection, which counts once', async () => {
    const port = await bench.start({ certificate, maxConnections: 1 });
    const agent = new https.Agent({ keepAlive: true, maxSockets: 1 });
    for (let i = 0; i < 3; i++) expect(await askTls(port, agent)).toBe(ANSWER);
    agent.destroy();
  });

  it('reads a request that arrives byte by byte', async () => {
    const port = await bench.start({ certificate });
    const socket = net.connect(port, '127.0.0.1').setNoDelay();
    const answer = readAll(socket);
    for (const letter of 'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n') socket.write(letter);
    expect(await answer).toMatch(/^HTTP\/1\.1 404 Not Found\r\n/);
  });

  it('closes a connection that speaks neither, and continues', async () => {
    const port = await bench.start({ certificate });
    const socket = net.connect(port, '127.0.0.1');
    const answer = readAll(socket);
    socket.write(Buffer.from([0x16, 0x03, 0x01, 0x00, 0x06, 0xff, 0x00, 0x00, 0x02, 0xff, 0xff]));
    // At most an alert of TLS.
    expect((await answer).length).toBeLessThan(16);
    const other = net.connect(port, '127.0.0.1');
    const refusal = readAll(other);
    other.write('nonsense\r\n\r\n');
    expect(await refusal).toMatch(/^HTTP\/1\.1 400 /);
    expect(await askTls(port)).toBe(ANSWER);
  });

  it('refuses versions of TLS before 1.2', async () => {
    const port = await bench.start({ certificate });
    const socket = connectTls({
      port,
      host: '127.0.0.1',
      ca: cert,
      maxVersion: 'TLSv1.1',
      minVersion: 'TLSv1',
    });
    await expect(once(socket, 'secureConnect')).rejects.toThrow();
  });

  it('closes connections that send nothing, and stops while some are open', async () => {
    const port = await bench.start({ certificate, timeoutSec: 0.05 });
    expect(await readAll(net.connect(port, '127.0.0.1'))).toBe('');
  });

  it('refuses plain HTTP from other machines', async (ctx) => {
    const outside = Object.values(networkInterfaces())
      .flatMap((list) => list ?? [])
      .find(({ internal, family }) => !internal && family === 'IPv4');
    if (outside === undefined) return ctx.skip('this machine has no address beside the loopback');
    const { address } = outside;
    const options = { certificate, allowIps: [address], binds: [address] };
    const port = await bench.start(options);
    const socket = net.connect(port, address);
    const answer = readAll(socket);
    socket.write('POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n');
    expect(await answer).toBe(
      'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n',
    );
  });
});
