/** Events over HTTP: their format, and the cost of slow and many clients. */
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Transfers } from '../../../../src/daemon/base/transfers.js';
import { EventFeed } from '../../../../src/daemon/http/eventFeed.js';
import { EventStreams } from '../../../../src/daemon/http/eventStreams.js';
import { FakeClock } from '../../../support/fakeClock.js';

const SUBJECT = { kind: 'publish', sdHash: null, claimName: null, path: '/a\nb', reflector: null } as const;
const STATE = { bytesDone: 1, bytesTotal: 2, bytesPerSecond: 0, peers: null };

let clock: FakeClock;
let transfers: Transfers;
let stopping: AbortController;
let server: Server;
let clients: IncomingMessage[];

beforeEach(async () => {
  clock = new FakeClock();
  transfers = new Transfers(clock);
  stopping = new AbortController();
  clients = [];
  const streams = new EventStreams(new EventFeed({ transfers, clock, stopping: stopping.signal }));
  server = createServer((request, response) => streams.answer(request, response, ['X-Test', 'yes']));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  for (const client of clients) client.destroy();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

async function connect(): Promise<IncomingMessage> {
  const { port } = server.address() as AddressInfo;
  const [response] = (await once(get({ port, host: '127.0.0.1', agent: false }), 'response')) as [
    IncomingMessage,
  ];
  clients.push(response);
  return response.setEncoding('utf8');
}

/** Reads until the text occurs. */
async function until(client: IncomingMessage, words: string): Promise<string> {
  let text = '';
  for await (const piece of client.iterator({ destroyOnReturn: false })) {
    text += piece as string;
    if (text.includes(words)) return text;
  }
  return text;
}

describe('events', () => {
  it('are sent when they happen, each in one line of data', async () => {
    const client = await connect();
    expect([client.statusCode, client.headers['content-type'], client.headers['x-test']]).toEqual([
      200,
      'text/event-stream',
      'yes',
    ]);
    expect(await until(client, '\n\n')).toBe('event: progress\ndata: {"transfers":[]}\n\n');
    const end = transfers.begin(SUBJECT, () => STATE);
    const begun = await until(client, '\n\n');
    expect(begun.split('\n')).toHaveLength(4);
    expect(begun).toMatch(/^event: begun\ndata: \{"id":1,"kind":"publish".*\}\n\n$/);
    await clock.advance(1000);
    expect(await until(client, '\n\n')).toMatch(/^event: progress\ndata: \{"transfers":\[\{"id":1/);
    end('finished');
    expect(await until(client, '\n\n')).toContain('"outcome":"finished","error":null}');
    await clock.advance(15_000);
    expect(await until(client, '\n\n')).toBe(': still here\n\n');
  });

  it('are sent to a limited number of clients, and slots are freed', async () => {
    for (let n = 0; n < 32; n++) await connect();
    const refused = await connect();
    expect(refused.statusCode).toBe(503);
    clients[0]!.destroy();
    let next = await connect();
    while (next.statusCode === 503) next = await connect();
    expect(next.statusCode).toBe(200);
  });

  it('do not accumulate for a client that does not read', async () => {
    const client = await connect();
    const path = `/${'x'.repeat(4000)}`;
    const ends = Array.from({ length: 50 }, () => transfers.begin({ ...SUBJECT, path }, () => STATE));
    // Some megabytes of progress events, more than the buffers of both sockets hold.
    for (let n = 0; n < 200; n++) await clock.advance(1000);
    // An event that it cannot get ends the connection.
    const closed = new Promise<void>((resolve) => {
      client.on('error', () => undefined).once('close', resolve);
    });
    for (const end of ends) end('finished');
    client.resume();
    await closed;
    expect(client.complete).toBe(false);
  });

  it('end when the daemon stops', async () => {
    const client = await connect();
    stopping.abort();
    await until(client, 'never');
    expect(client.complete).toBe(true);
    expect((await connect()).statusCode).toBe(503);
  });
});
