import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import WebSocket from 'ws';
import { Live } from '../../../src/explorer/live.js';

const server = createServer();
let live: Live;
let nowMs = 0;
const clients: WebSocket[] = [];

beforeEach(async () => {
  nowMs = 100_000;
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs);
  live = new Live({ allows: () => true, addressOf: () => '127.0.0.1', tipHash: () => 'ab' });
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

test('a mempool change before the topics arrive is reported with the tip', async () => {
  const client = await connected();
  live.changed('mempool');
  expect(await subscribed(client, ['tip', 'mempool'])).toEqual({ tip: 'ab', changed: ['mempool'] });
});

test('a mempool change while the page was loaded is reported with the tip', async () => {
  live.changed('mempool');
  nowMs += 2500;
  expect(await subscribed(await connected(), ['mempool'])).toEqual({ tip: 'ab', changed: ['mempool'] });
});

test('an earlier mempool change is not reported, nor to a page without the mempool', async () => {
  live.changed('mempool');
  expect(await subscribed(await connected(), ['tip'])).toEqual({ tip: 'ab' });
  nowMs += 3001;
  expect(await subscribed(await connected(), ['mempool'])).toEqual({ tip: 'ab' });
});

test('a change after the subscription is reported once', async () => {
  const client = await connected();
  await subscribed(client, ['mempool']);
  const message = once(client, 'message');
  live.changed('mempool');
  expect(JSON.parse(String((await message)[0]))).toEqual({ changed: ['mempool'] });
  expect(await subscribed(client, ['mempool'])).toEqual({ tip: 'ab' });
});
