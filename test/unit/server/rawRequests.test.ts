/** Raw requests: unusual forms that HTTP allows, and the answers to forms that it does not allow. */
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServerBench } from './support.js';

const AUTHORIZATION = `Authorization: Basic ${Buffer.from('user:pass').toString('base64')}\r\n`;
const ECHO = '{"id":1,"method":"echo"}';
const ANSWER = '{"result":[],"error":null,"id":1}\n';

let bench: ServerBench;
let port: number;
beforeAll(async () => {
  bench = new ServerBench();
  port = await bench.start();
});
afterAll(() => bench.close());

function post(body: string, headers = '', version = '1.1'): string {
  return `POST / HTTP/${version}\r\nHost: localhost\r\n${AUTHORIZATION}${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
}

/**
 * Writes pieces one after the other. Resolves with everything that was received when this number of answers has arrived or the
 * server closes the connection.
 */
function send(text: string | readonly string[], answers = Infinity): Promise<string> {
  const pieces = typeof text === 'string' ? [text] : [...text];
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true }, () => {
      const next = (): void => {
        const piece = pieces.shift();
        if (piece !== undefined) socket.write(piece, 'latin1', () => setTimeout(next, 5));
      };
      next();
    });
    socket.on('data', (part) => {
      received += part.toString('latin1');
      if (received.split('"id"').length > answers) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(received));
  });
}

const statuses = (text: string): string[] =>
  [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map((match) => match[1]!);

describe('a request', () => {
  it('may arrive in pieces, in chunks, and many at once', async () => {
    const whole = post(ECHO);
    expect(await send(whole.match(/[^]{1,40}/g)!, 1)).toContain(ANSWER);
    const chunks = `7;x=y\r\n${ECHO.slice(0, 7)}\r\n${(ECHO.length - 7).toString(16)}\r\n${ECHO.slice(7)}\r\n0\r\nTrailer: x\r\n\r\n`;
    const chunked = `POST / HTTP/1.1\r\nHost: localhost\r\n${AUTHORIZATION}Transfer-Encoding: chunked\r\n\r\n${chunks}`;
    expect(await send(chunked, 1)).toContain(ANSWER);
    const waiting = '{"id":2,"method":"test_wait","params":[20]}';
    const many = await send(post(ECHO) + post(waiting) + post(ECHO), 3);
    expect([...many.matchAll(/"id":(\d)/g)].map((match) => match[1])).toEqual(['1', '2', '1']);
  });

  it('may use HTTP/1.0, which ends the connection by default, and need not have a host', async () => {
    expect(await send(post(ECHO, '', '1.0'))).toMatch(/Connection: close\r\n\r\n.*\n$/);
    const kept = await send(post(ECHO, 'Connection: keep-alive\r\n', '1.0') + post(ECHO), 2);
    expect(statuses(kept)).toEqual(['200', '200']);
    expect(await send(post(ECHO).replace('Host: localhost\r\n', ''), 1)).toContain(ANSWER);
    expect(statuses(await send(post(ECHO, 'Connection: close\r\n')))).toEqual(['200']);
  });

  it('may expect a 100 response before its body', async () => {
    const answer = await send(post(ECHO, 'Expect: 100-continue\r\n'), 1);
    expect(statuses(answer)).toEqual(['100', '200']);
  });

  it.each([
    ['no HTTP', '\x16\x03\x01garbage\r\n\r\n'],
    ['no length', post(ECHO).replace(/Content-Length: \d+/, 'Content-Length: x')],
    ['two lengths', post(ECHO, 'Content-Length: 1\r\n')],
    ['another protocol', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a target of 9,000 bytes', `GET /${'a'.repeat(9000)} HTTP/1.1\r\n\r\n`],
    ['a target of 300,000 bytes', `GET /${'a'.repeat(300_000)} HTTP/1.1\r\n\r\n`],
    ['a header of 9,000 bytes', post(ECHO, `X: ${'a'.repeat(9000)}\r\n`)],
    ['headers of 300,000 bytes', post(ECHO, `X: ${'a'.repeat(300)}\r\n`.repeat(1000))],
  ])('with %s answers the page of 400 and ends the connection', async (_what, text) => {
    const page =
      '<HTML><HEAD>\n<TITLE>400 Bad Request</TITLE>\n</HEAD><BODY>\n<H1>Bad Request</H1>\n</BODY></HTML>\n';
    const answer = await send(text);
    expect(answer).toMatch(
      /^HTTP\/1\.1 400 Bad Request\r\nContent-Type: text\/html\r\nConnection: close\r\n/,
    );
    expect(answer.slice(answer.indexOf('\r\n\r\n') + 4)).toBe(page);
  });

  it('with 8,000 bytes of headers is accepted', async () => {
    expect(await send(post(ECHO, `X: ${'a'.repeat(8000)}\r\n`), 1)).toContain(ANSWER);
  });

  it('may have as many header lines as 8,192 bytes contain, with colons and spaces', async () => {
    const line = `X: ${'a'.repeat(17)}\r\n`;
    const plain = post(ECHO);
    const heads = plain.slice(0, plain.indexOf('\r\n\r\n')).split('\r\n');
    const count = Math.floor((8192 - heads.join('').length) / (line.length - 2));
    expect(statuses(await send(post(ECHO, line.repeat(count)), 1))).toEqual(['200']);
    expect(statuses(await send(post(ECHO, line.repeat(count + 1))))).toEqual(['400']);
    const short = Math.floor((8192 - heads.join('').length) / 4);
    expect(short).toBeGreaterThan(2000);
    expect(statuses(await send(post(ECHO, 'X: a\r\n'.repeat(short)), 1))).toEqual(['200']);
    expect(statuses(await send(post(ECHO, 'X: a\r\n'.repeat(short + 1))))).toEqual(['400']);
  });

  it('without HTTP after a running call is not answered in its place', async () => {
    const answer = await send([post('{"id":2,"method":"test_wait","params":[5000]}'), 'garbage\r\n\r\n']);
    expect(answer).toBe('');
  });

  it('over 32 MiB in chunks is refused', async () => {
    const piece = `100000\r\n${' '.repeat(0x100000)}\r\n`;
    const head = `POST / HTTP/1.1\r\n${AUTHORIZATION}Transfer-Encoding: chunked\r\n\r\n`;
    const answer = await send([head, ...Array<string>(32).fill(piece), '1\r\n \r\n']);
    expect(answer).toMatch(/^HTTP\/1\.1 413 [^]*Connection: close[^]*\r\n\r\nRequest body is too large$/);
  });
});
