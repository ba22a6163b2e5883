/** Bodies of answers that share one buffer: each client gets its own text, however the answers overlap. */
import { createServer, get, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { BodyBuffer } from '../../../../src/daemon/http/bodyBuffer.js';

const bodies = new BodyBuffer();
const SIZES = [10, 1 << 14, 40_000, 1 << 20, (1 << 20) + 1, 100_000];
/** A text of this size, different for each number. */
const bodyOf = (n: number): string => String.fromCharCode(97 + (n % 26)).repeat(SIZES[n % SIZES.length]!);
let started = 0;
const server = createServer((request, response) => {
  started++;
  const text = bodyOf(Number(request.url!.slice(1)));
  response.writeHead(200, { 'Content-Length': text.length });
  const middle = text.length >> 1;
  bodies.send(response, [text.slice(0, middle), text.slice(middle)]);
});
const port = (): number => (server.address() as AddressInfo).port;

beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => server.close());

const answerTo = (n: number): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    get({ port: port(), path: `/${n}`, agent: false }, resolve).on('error', reject);
  });

async function textOf(n: number): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of await answerTo(n)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('latin1');
}

it('sends each body whole, one after the other and many at once', async () => {
  for (let n = 0; n < 12; n++) expect(await textOf(n)).toBe(bodyOf(n));
  const numbers = Array.from({ length: 40 }, (_, n) => n);
  const texts = await Promise.all(numbers.map(textOf));
  expect(texts.map((text, n) => text === bodyOf(n))).toEqual(numbers.map(() => true));
});

it('sends whole bodies to a client that sends all requests first and reads later', async () => {
  const numbers = Array.from({ length: 16 }, (_, n) => 3 + 6 * n);
  const socket = connect(port(), '127.0.0.1').pause();
  for (const n of numbers) socket.write(`GET /${n} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  const hasStarted = (): boolean => started >= before + numbers.length;
  const before = started;
  await vi.waitUntil(hasStarted, { timeout: 60_000 });
  const wantedBytes = numbers.reduce((sum, n) => sum + bodyOf(n).length, 0);
  let text = '';
  for await (const chunk of socket) {
    text += (chunk as Buffer).toString('latin1');
    if (text.length > wantedBytes && text.endsWith(bodyOf(numbers.at(-1)!))) break;
  }
  const found = text.split('HTTP/1.1 200 OK').slice(1);
  expect(found.map((answer, n) => answer.endsWith(bodyOf(numbers[n]!)))).toEqual(numbers.map(() => true));
});
