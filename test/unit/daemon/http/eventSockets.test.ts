/** Events over WebSockets: their format, which clients receive them, and the cost of slow, silent and many clients. */
import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, type ClientOptions } from 'ws';
import { Transfers } from '../../../../src/daemon/base/transfers.js';
import { apiServer } from '../../../../src/daemon/http/apiServer.js';
import { EventFeed } from '../../../../src/daemon/http/eventFeed.js';
import { EventSockets } from '../../../../src/daemon/http/eventSockets.js';
import { EventStreams } from '../../../../src/daemon/http/eventStreams.js';
import { FakeClock } from '../../../support/fakeClock.js';

const SUBJECT = { kind: 'publish', sdHash: null, claimName: null, path: '/a\nb', reflector: null } as const;
const STATE = { bytesDone: 1, bytesTotal: 2, bytesPerSecond: 0, peers: null };
const UPGRADE = { Connection: 'Upgrade', Upgrade: 'h2c' };
const ORIGIN = 'http://pages.example';

let clock: FakeClock;
let transfers: Transfers;
let stopping: AbortController;
let app: FastifyInstance;
let port: number;
let allowed: string;
let refused: string[];
let clients: WebSocket[];

beforeEach(async () => {
  [clock, stopping, allowed, refused, clients] = [new FakeClock(), new AbortController(), '', [], []];
  transfers = new Transfers(clock);
  const feed = new EventFeed({ transfers, clock, stopping: stopping.signal });
  app = apiServer({
    dispatcher: { call: () => Promise.resolve({ jsonrpc: '2.0', result: 'answered' }) },
    events: new EventStreams(feed),
    eventSockets: new EventSockets(feed, clock),
    allowedOrigin: () => allowed,
    stopping: stopping.signal,
    onRefusedOrigin: (origin) => refused.push(origin),
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  port = (app.server.address() as AddressInfo).port;
});
afterEach(async () => {
  for (const client of clients) client.terminate();
  app.server.closeAllConnections();
  await app.close();
});

function connect(options: ClientOptions = {}, path = '/events'): WebSocket {
  const client = new WebSocket(`ws://127.0.0.1:${port}${path}`, options);
  client.on('error', () => undefined);
  clients.push(client);
  return client;
}

/** The next message. */
async function next(client: WebSocket): Promise<{ event: string; data: Record<string, unknown> }> {
  const [data] = (await once(client, 'message')) as [Buffer];
  return JSON.parse(data.toString()) as { event: string; data: Record<string, unknown> };
}

/** The HTTP status with which a client is refused; 101 if it is accepted. */
const statusOf = (client: WebSocket): Promise<number> =>
  new Promise((resolve) => {
    client.once('open', () => resolve(101));
    client.once('unexpected-response', (_request, response) => resolve(response.statusCode!));
  });

describe('events over WebSockets', () => {
  it('equal server-sent events, one per message', async () => {
    const client = connect();
    expect(await next(client)).toEqual({ event: 'progress', data: { transfers: [] } });
    const begun = next(client);
    const end = transfers.begin(SUBJECT, () => STATE);
    expect(await begun).toMatchObject({
      event: 'begun',
      data: { id: 1, kind: 'publish', path: '/a\nb', bytes_per_second: 0, peers: null, seconds_left: null },
    });
    const progress = next(client);
    await clock.advance(1000);
    expect(await progress).toMatchObject({ event: 'progress', data: { transfers: [{ id: 1 }] } });
    const ended = next(client);
    end('failed', 'a reason');
    expect(await ended).toMatchObject({ event: 'ended', data: { outcome: 'failed', error: 'a reason' } });
  });

  it('are sent to pages of the allowed origin and to programs, not to other pages', async () => {
    expect(await statusOf(connect({ origin: ORIGIN }))).toBe(403);
    expect(refused).toEqual([ORIGIN]);
    allowed = `${ORIGIN}/`;
    expect(await statusOf(connect({ origin: ORIGIN }))).toBe(101);
    expect(await statusOf(connect({ origin: 'http://others.example' }))).toBe(403);
    expect(await statusOf(connect())).toBe(101);
    expect(await statusOf(connect({ headers: { 'Sec-Fetch-Site': 'cross-site' } }))).toBe(403);
  });

  it('share their maximum number of clients with server-sent events', async () => {
    const leaving = new AbortController();
    await fetch(`http://127.0.0.1:${port}/events`, { signal: leaving.signal });
    for (let n = 0; n < 31; n++) expect(await statusOf(connect())).toBe(101);
    expect(await statusOf(connect())).toBe(503);
    clients[0]!.terminate();
    let status = 503;
    while (status === 503) status = await statusOf(connect());
    expect(status).toBe(101);
    leaving.abort();
  });

  it('end for a client that sends a message', async () => {
    for (const words of ['hello', 'x'.repeat(5000)]) {
      const client = connect();
      await next(client);
      client.send(words);
      const [code] = (await once(client, 'close')) as [number];
      expect(code).toBe(words.length > 1024 ? 1009 : 1008);
    }
  });

  it('end for a client that does not answer pings', async () => {
    const [living, silent] = [connect(), connect({ autoPong: false })];
    await Promise.all([next(living), next(silent)]);
    const closed = once(silent, 'close');
    const pinged = Promise.all([once(living, 'ping'), once(silent, 'ping')]);
    await clock.advance(15_000);
    await pinged;
    // The pong was sent before a later request is answered.
    living.ping();
    await once(living, 'pong');
    await clock.advance(15_000);
    const [code] = (await closed) as [number];
    expect([code, living.readyState]).toEqual([1006, WebSocket.OPEN]);
  });

  it('do not accumulate for a client that does not read', async () => {
    const client = connect();
    await next(client);
    client.pause();
    const path = `/${'x'.repeat(4000)}`;
    const ends = Array.from({ length: 50 }, () => transfers.begin({ ...SUBJECT, path }, () => STATE));
    // Some megabytes of progress events, more than the buffers of both sockets hold.
    for (let n = 0; n < 200; n++) await clock.advance(1000);
    const closed = once(client, 'close');
    for (const end of ends) end('finished');
    client.resume();
    const [code] = (await closed) as [number];
    expect(code).toBe(1006);
  });

  it('end when the daemon stops, also for a client that does not disconnect', async () => {
    const [client, stubborn] = [connect(), connect()];
    await Promise.all([next(client), next(stubborn)]);
    const closed = once(client, 'close');
    stubborn.pause();
    stopping.abort();
    const [code, reason] = (await closed) as [number, Buffer];
    expect([code, reason.toString()]).toEqual([1001, 'the daemon is stopping']);
    await clock.advance(2000);
    stubborn.resume();
    await once(stubborn, 'close');
    expect(await statusOf(connect())).toBe(503);
  });

  it('do not affect other paths and upgrades', async () => {
    expect(await statusOf(connect({}, '/nothing'))).toBe(404);
    // A request with the headers of a client that offers an upgrade to HTTP/2.
    const call = request({ port, path: '/lbryapi', method: 'POST', headers: UPGRADE }).end('{"method":"x"}');
    const [answer] = (await once(call, 'response')) as [IncomingMessage];
    expect(JSON.parse(await text(answer))).toMatchObject({ result: 'answered' });
  });
});
