import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import WebSocket from 'ws';
import { Live } from '../../../src/explorer/live.js';

const DEPS = { allows: () => true, addressOf: () => '127.0.0.1', admits: () => true };

const server = createServer();
let live: Live;
let nowMs = 0;
const clients: WebSocket[] = [];

beforeEach(async () => {
  nowMs = 100_000;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  live = new Live({ ...DEPS, tipHash: () => 'ab' });
  server.on('upgrade', (request, socket, head) => live.upgrade(request, socket, head));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const client of clients.splice(0)) client.terminate();
  live.close();
  server.removeAllListeners('upgrade');
  await new Promise((resolve) => server.close(resolve));
});

async function connected(): Promise<WebSocket> {
  const { port } = server.address() as AddressInfo;
  const client = new WebSocket(`ws://127.0.0.1:${port}/live`);
  clients.push(client);
  await once(client, 'open');
  return client;
}

/** Sends the topics. Returns the first message of the server. */
async function subscribed(client: WebSocket, topics: readonly string[]): Promise<unknown> {
  client.send(JSON.stringify({ topics }));
  const [data] = (await once(client, 'message')) as [Buffer];
  return JSON.parse(data.toString());
}

test('changes between the rendering of a page and its subscription are reported with the tip', async () => {
  const rendered = [live.versioned('tip'), live.versioned('mempool')];
  // The page was rendered long before.
  nowMs += 600_000;
  live.changed('mempool');
  expect(await subscribed(await connected(), rendered)).toEqual({
    tip: 'ab',
    changed: [live.versioned('mempool')],
  });
  live.changed('tip');
  const client = await connected();
  live.changed('mempool');
  expect(await subscribed(client, rendered)).toEqual({
    tip: 'ab',
    changed: [live.versioned('tip'), live.versioned('mempool')],
  });
});

test('a page that contains the latest changes is not reported as outdated', async () => {
  live.changed('mempool');
  live.changed('tip');
  const topics = [live.versioned('tip'), live.versioned('mempool')];
  expect(await subscribed(await connected(), topics)).toEqual({ tip: 'ab' });
  expect(await subscribed(await connected(), ['tip', 'mempool', 'constructor:1'])).toEqual({ tip: 'ab' });
});

test('a change after the subscription is reported once, with the new version', async () => {
  const client = await connected();
  const before = live.versioned('mempool');
  await subscribed(client, [before]);
  const message = once(client, 'message');
  live.changed('mempool');
  expect(JSON.parse(String((await message)[0]))).toEqual({ changed: [live.versioned('mempool')] });
  expect(live.versioned('mempool')).not.toBe(before);
  expect(await subscribed(client, [live.versioned('mempool')])).toEqual({ tip: 'ab' });
});

test('frequent changes of the mempool are reported every five seconds, each with one new version', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const versions: string[] = [];
    for (let n = 0; n < 3; n++) {
      live.changed('mempool');
      versions.push(live.versioned('mempool'));
    }
    expect(new Set(versions).size).toBe(1);
    nowMs += 5000;
    vi.advanceTimersByTime(5000);
    expect(live.versioned('mempool')).not.toBe(versions[0]);
  } finally {
    vi.useRealTimers();
  }
});

test('the connection of a client that does not read is ended', async () => {
  live.close();
  server.removeAllListeners('upgrade');
  live = new Live({ ...DEPS, tipHash: () => 'ab'.repeat(2000) });
  server.on('upgrade', (request, socket, head) => live.upgrade(request, socket, head));
  const client = await connected();
  await subscribed(client, ['tip']);
  client.pause();
  for (let n = 0; n < 10_000; n++) {
    nowMs += 1000;
    live.changed('tip');
  }
  await expect.poll(() => live.count, { timeout: 30_000 }).toBe(0);
});

test('a socket may send a message a second after its first ones, and is closed above that', async () => {
  const client = await connected();
  for (let n = 0; n < 20; n++) expect(await subscribed(client, ['tip'])).toEqual({ tip: 'ab' });
  for (let n = 0; n < 3; n++) {
    nowMs += 1000;
    expect(await subscribed(client, ['tip'])).toEqual({ tip: 'ab' });
  }
  nowMs += 999;
  const answers: unknown[] = [];
  client.on('message', (data) => answers.push(data));
  const closed = once(client, 'close');
  for (let n = 0; n < 100; n++) client.send('{"topics":["tip"]}');
  const [code, reason] = (await closed) as [number, Buffer];
  expect([code, reason.toString(), answers.length]).toEqual([1008, 'too many messages', 0]);
  await expect.poll(() => live.count).toBe(0);
  expect(await subscribed(await connected(), ['tip'])).toEqual({ tip: 'ab' });
});

test('pings of a client count as messages', async () => {
  const client = await connected();
  const closed = once(client, 'close');
  for (let n = 0; n < 21; n++) client.ping();
  expect((await closed)[0]).toBe(1008);
});
