/**
 * Requests that are read without the HTTP parser get the answers that Node's server gives, and every other request reaches it.
 */
import { once } from 'node:events';
import net from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  MAX_PLAIN_HEAD_BYTES,
  readPlainHead,
  readSameGet,
  withLineEnds,
} from '../../../../src/server/plain/plainHead.js';
import { randomOf } from '../../../support/claimLife.js';
import { ServerBench } from '../support.js';

const basic = (text: string): string => `Authorization: Basic ${Buffer.from(text).toString('base64')}\r\n`;
const RIGHT = basic('user:pass');
const ECHO = '{"id":1,"method":"echo","params":["é"]}';

let bench: ServerBench;
let port: number;
beforeAll(async () => {
  bench = new ServerBench();
  port = await bench.start();
});
afterAll(() => bench.close());

interface Parts {
  readonly line?: string;
  readonly headers?: string;
  readonly body?: string;
}

function post({ line = 'POST / HTTP/1.1', headers = RIGHT, body = ECHO }: Parts = {}): Buffer {
  const length = Buffer.byteLength(body);
  return Buffer.from(`${line}\r\nHost: localhost\r\n${headers}Content-Length: ${length}\r\n\r\n${body}`);
}

/**
 * Writes pieces, each after the previous one was sent. Resolves with everything that was received when `done` returns true or the
 * server closes the connection.
 */
function send(pieces: readonly Buffer[], done: (received: string) => boolean): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true }, () => {
      const next = (i: number): void => {
        if (i < pieces.length) socket.write(pieces[i]!, () => setImmediate(next, i + 1));
      };
      next(0);
    });
    socket.on('data', (part) => {
      received += part.toString('latin1');
      if (done(received)) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(received.replaceAll(/^Date: .*\r\n/gm, '')));
  });
}

/** Whether the text has this number of complete responses. */
const complete =
  (count: number) =>
  (text: string): boolean => {
    let at = 0;
    for (let n = 0; n < count; n++) {
      const end = text.indexOf('\r\n\r\n', at);
      if (end < 0) return false;
      const head = text.slice(at, end);
      const length = head.includes(' 204 ') ? '0' : /content-length: (\d+)/i.exec(head)?.[1];
      const last = length === undefined ? text.lastIndexOf('\r\n0\r\n\r\n') : end + 4 + Number(length);
      if (last < 0 || last > text.length) return false;
      at = length === undefined ? last + 7 : last;
    }
    return true;
  };

/** A first piece without the end of the head lets Node's parser handle the connection. */
const byParser = (request: Buffer): Buffer[] => [request.subarray(0, 5), request.subarray(5)];

const BATCH = JSON.stringify(Array.from({ length: 40 }, (_, id) => ({ id, method: 'echo', params: [id] })));

/** A response with its body in one piece. The sizes of chunks depend on when the data was written. */
function withoutChunks(response: string): string {
  const bodyAt = response.indexOf('\r\n\r\n') + 4;
  const head = response.slice(0, bodyAt);
  if (!head.includes('Transfer-Encoding: chunked')) return response;
  let body = '';
  for (let at = bodyAt; at < response.length;) {
    const sizeEnd = response.indexOf('\r\n', at);
    const size = Number.parseInt(response.slice(at, sizeEnd), 16);
    expect(size, 'a chunk without a size').not.toBeNaN();
    body += response.slice(sizeEnd + 2, sizeEnd + 2 + size);
    at = sizeEnd + 2 + size + 2;
  }
  return head + body;
}

describe('a call', () => {
  it.each<[string, Parts]>([
    ['in the usual form', {}],
    ['on the path of a profile', { line: 'POST /lbrycrd HTTP/1.1', body: '{"id":1,"method":"test_where"}' }],
    [
      'on the path of a wallet',
      { line: 'POST /wallet/a%20b HTTP/1.1', body: '{"id":1,"method":"test_where"}' },
    ],
    ['with a wrong password', { headers: basic('user:wrong') }],
    ['with other headers', { headers: `${RIGHT}User-Agent: x/1.0 (y)\r\nAccept: */*\r\nX: a: b\r\n` }],
    ['that names the kind of connection', { headers: `${RIGHT}Connection: keep-alive\r\n` }],
    ['without a body', { body: '' }],
    ['that is not JSON', { body: '{"id":' }],
    ['of an unknown method', { body: '{"id":1,"method":"none"}' }],
    ['without an answer', { body: '{"jsonrpc":"2.0","method":"echo"}' }],
    ['in a batch', { body: BATCH }],
    ['that waits', { body: '{"id":2,"method":"test_wait","params":[10]}' }],
    ['with a long answer', { body: '{"id":3,"method":"test_big","params":[200000]}' }],
    ['with an answer in chunks', { body: '{"id":3,"method":"test_big","params":[600000]}' }],
    ['with an answer in bytes', { body: '{"id":3,"method":"test_bytes"}' }],
    [
      'with answers in bytes in a batch',
      { body: '[{"id":3,"method":"test_bytes"},{"id":4,"method":"test_bytes"}]' },
    ],
    ['on another path', { line: 'POST /other HTTP/1.1' }],
    ['without a password', { headers: '' }],
  ])('%s has the answer of the HTTP parser', async (_what, parts) => {
    const request = post(parts);
    const plain = await send([request], complete(1));
    expect(plain).toMatch(/^HTTP\/1\.1 \d{3} /);
    expect(withoutChunks(plain)).toBe(withoutChunks(await send(byParser(request), complete(1))));
  });

  it.each<[string, Parts]>([
    ['asks to close', { headers: `${RIGHT}Connection: close\r\n` }],
    ['is of HTTP/1.0', { line: 'POST / HTTP/1.0' }],
    ['is in chunks', { headers: `${RIGHT}Transfer-Encoding: chunked\r\n` }],
    ['has two lengths', { headers: `${RIGHT}Content-Length: 3\r\n` }],
    ['has a folded header', { headers: `${RIGHT}X: a\r\n b\r\nConnection: close\r\n` }],
  ])('with %s ends as with the HTTP parser', async (_what, parts) => {
    const plain = await send([post(parts)], () => false);
    expect(plain).toBe(await send(byParser(post(parts)), () => false));
  });

  it('is answered in order with others of its connection, in any pieces', async () => {
    const random = randomOf(29);
    const bodies = [
      ...[1, 2, 3].map((id) => `{"id":${id},"method":"echo","params":["${'x'.repeat(id * 400)}"]}`),
      '{"id":4,"method":"test_wait","params":[1]}',
      '{"id":5,"method":"test_big","params":[100000]}',
      ECHO,
    ];
    const requests = bodies.map((body) => post({ body }));
    const wanted = (await Promise.all(requests.map((one) => send([one], complete(1))))).join('');
    const all = Buffer.concat(requests);
    for (let round = 0; round < 60; round++) {
      const cuts = Array.from({ length: random(12) }, () => random(all.length)).sort((a, b) => a - b);
      const pieces = [0, ...cuts].map((at, i) => all.subarray(at, cuts[i] ?? all.length));
      expect(await send(pieces, complete(requests.length))).toBe(wanted);
    }
  });

  it('with a line feed alone after a line of the head is answered, as by lbrycrd', async () => {
    /** A request as a stratum server of yiimp sends it: the head, then the body. */
    const asYiimp = (body: string): Buffer[] => {
      const request = post({ body });
      const end = request.indexOf('\r\n\r\n') + 4;
      const head = request.toString('latin1', 0, end).replace('localhost\r\n', 'localhost\n');
      return [Buffer.from(head, 'latin1'), request.subarray(end)];
    };
    const twice = await send([...asYiimp(ECHO), ...asYiimp(ECHO)], complete(2));
    expect(twice).toBe((await send([post()], complete(1))).repeat(2));
    // Node's parser reads a large body. It refuses such a line, so the connection ends with the response.
    const large = `{"id":1,"method":"echo","params":["${'x'.repeat(300_000)}"]}`;
    const first = await send(asYiimp(large), () => false);
    expect(first).toContain('\r\nConnection: close\r\n');
    expect(first).toContain('x'.repeat(300_000));
  });

  it('whose client ends its side within the request is refused', async () => {
    const [first, rest] = [post(), post().subarray(0, -1)];
    const received = await new Promise<string>((resolve) => {
      let text = '';
      const socket = net.connect({ port, host: '127.0.0.1' }, () => socket.write(first));
      socket.once('data', () => socket.end(rest));
      socket.on('data', (part) => (text += part.toString('latin1')));
      socket.on('close', () => resolve(text));
    });
    expect([...received.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status)).toEqual(['200', '400']);
  });
});

describe('a head', () => {
  const LINES = ['POST / HTTP/1.1', 'Host: localhost', 'Authorization: Basic eDp5', 'Content-Length: 12'];
  const head = (...more: string[]): string => [...LINES, ...more].join('\r\n');

  it('is read', () => {
    expect(readPlainHead(head('User-Agent: curl/8'))).toEqual({
      method: 'POST',
      target: '/',
      authorization: 'Basic eDp5',
      userAgent: 'curl/8',
      host: 'localhost',
      origin: undefined,
      bodyBytes: 12,
    });
    expect(head().length).toBeLessThan(MAX_PLAIN_HEAD_BYTES);
  });

  it('may have lines that end with a line feed alone, if it is a POST', () => {
    const lone = head('X: a').replace('localhost\r\n', 'localhost\n');
    expect(readPlainHead(lone)).toEqual(readPlainHead(head('X: a')));
    expect(withLineEnds(Buffer.from(`${lone}\r\n\r\nbody\n`)).toString()).toBe(
      `${head('X: a')}\r\nConnection: close\r\n\r\nbody\n`,
    );
    const others = [
      `${head()}\r\n\r\nbody\n`,
      lone,
      `${lone.replace('POST', 'GET')}\r\n\r\n`,
      `${lone}\nConnection: x\r\n\r\n`,
      `${lone}\n\nX: b\r\n\r\n`,
    ];
    for (const text of others) expect(withLineEnds(Buffer.from(text)).toString(), text).toBe(text);
    for (const text of others.slice(2)) expect(readPlainHead(text.slice(0, -4)), text).toBeNull();
  });

  it('of a GET needs no password and has no body', () => {
    const get = (...more: string[]): string => ['GET /api/x?y HTTP/1.1', 'Host: a', ...more].join('\r\n');
    expect(readPlainHead(get('Origin: https://b'))).toMatchObject({
      method: 'GET',
      target: '/api/x?y',
      authorization: '',
      host: 'a',
      origin: 'https://b',
      bodyBytes: 0,
    });
    const earlier = readPlainHead(get())!;
    const rest = get().slice('GET /api/x?y'.length);
    for (const line of [
      'GET /api/z?a=b HTTP/1.1',
      'GET / HTTP/1.0',
      'GET api HTTP/1.1',
      'GET /a b HTTP/1.1',
    ]) {
      const other = get().replace(/^.*/, line);
      expect(readSameGet(other, earlier, rest)).toEqual(readPlainHead(other));
    }
    const others = ['POST /api/x', 'GET', 'GET ', 'GET /\xe9', 'GET / HTTP/1.1\r\nX: b', '\r\nGET /'];
    for (const start of others) expect(readSameGet(start + rest, earlier, rest), start).toBeNull();
    expect(readSameGet(get('X: b'), earlier, rest)).toBeNull();
    for (const line of ['Content-Length: 0', 'Upgrade: websocket', 'Connection: close', 'Host: b'])
      expect(readPlainHead(get(line))).toBeNull();
  });

  it.each([
    ['a second length', 'content-length: 12'],
    ['a coding of the transfer', 'Transfer-Encoding: identity'],
    ['an expectation', 'Expect: 100-continue'],
    ['another protocol', 'Upgrade: websocket'],
    ['an end of the connection', 'Connection: close'],
    ['a list of options', 'Connection: keep-alive, Upgrade'],
    ['a folded line', ' more'],
    ['a space before the colon', 'X : a'],
    ['a control character', 'X: a\x01b'],
    ['a character beyond ASCII', 'X: \xe9'],
    ['a single line feed', 'X: a\nContent-Length: 3'],
    ['no colon', 'X'],
  ])('with %s is left to the HTTP parser', (_what, line) => {
    expect(readPlainHead(head(line))).toBeNull();
  });

  it.each([0, 2, 3])('without its line %i is left to the HTTP parser', (missing) => {
    expect(readPlainHead(LINES.filter((_, i) => i !== missing).join('\r\n'))).toBeNull();
  });

  it.each(['-1', '+1', '0x10', '1e3', '12 13', ''])(
    'with the length %j is left to the HTTP parser',
    (length) => {
      expect(readPlainHead(LINES.with(3, `Content-Length: ${length}`).join('\r\n'))).toBeNull();
    },
  );
});

describe('an idle connection', () => {
  const TIMEOUT_MS = 30_000;
  let own: ServerBench;
  let ownPort: number;
  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    own = new ServerBench();
    ownPort = await own.start({ timeoutSec: TIMEOUT_MS / 1000 });
  });
  afterEach(async () => {
    vi.useRealTimers();
    await own.close();
  });

  const open = async (): Promise<net.Socket> => {
    const socket = net.connect({ port: ownPort, host: '127.0.0.1', noDelay: true });
    await once(socket, 'connect');
    return socket;
  };
  const call = async (socket: net.Socket): Promise<void> => {
    socket.write(post());
    await once(socket, 'data');
  };
  /** Lets the fake time pass, and events of sockets happen. */
  const pass = async (ms: number): Promise<void> => {
    await vi.advanceTimersByTimeAsync(ms);
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };

  it('is closed when the time since its last response has passed', async () => {
    const socket = await open();
    let isClosed = false;
    socket.on('close', () => (isClosed = true));
    await call(socket);
    await pass(TIMEOUT_MS - 1000);
    await call(socket);
    await pass(TIMEOUT_MS - 1000);
    expect(isClosed).toBe(false);
    const closed = once(socket, 'close');
    await pass(1000);
    await closed;
  });

  it.each([
    ['sent nothing', ''],
    [
      'sent a part of a request',
      'POST / HTTP/1.1\r\nAuthorization: Basic eA==\r\nContent-Length: 9\r\n\r\n{',
    ],
  ])('that %s is closed after the time', async (_what, text) => {
    const socket = await open();
    if (text !== '') socket.write(text);
    await pass(0);
    await pass(TIMEOUT_MS - 1);
    expect(socket.destroyed).toBe(false);
    const closed = once(socket, 'close');
    await pass(1000);
    await closed;
  });
});
