import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { ClientRequestArgs } from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket, type ClientOptions } from 'ws';
import type { MempoolEntry } from '../../../src/mempool/mempoolReader.js';
import { regtestParams } from '../../../src/params/regtest.js';
import { txid, type Transaction } from '../../../src/primitives/transaction.js';
import { addressPrefixesOf } from '../../../src/script/address.js';
import { RpcHttpServer } from '../../../src/server/httpServer.js';
import { Upgrades } from '../../../src/server/upgrades.js';
import { WebSocketEndpoint, type WebSocketOptions } from '../../../src/server/webSocketEndpoint.js';
import { hashToHex, toHex } from '../../../src/util/bytes.js';
import { SILENT_LOGGER } from '../../../src/util/logging.js';
import { OPEN_SCRIPT } from '../../support/testChain.js';
import { testDispatcher } from '../rpc/support.js';
import { coinsOf, spendCoins } from '../mempool/support.js';
import { bytesOf, claimIdIn, claimScript, make, ReportedWorld } from './notifications/support.js';
import { ask } from './support.js';

interface Message {
  id?: unknown;
  result?: { subscription: number } | true | null;
  error?: { code: number; message: string } | null;
  subscriptions?: number[];
  type?: string;
  data?: Record<string, unknown>;
}

/** A client that stores received messages. */
class Client {
  readonly socket: WebSocket;
  readonly received: Message[] = [];
  readonly closed: Promise<[number, Buffer]>;
  private lastId = 0;

  constructor(port: number, options: ClientOptions & ClientRequestArgs = {}, path = '/ws') {
    this.socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { auth: 'user:pass', ...options });
    this.closed = once(this.socket, 'close') as Promise<[number, Buffer]>;
    this.socket.on('message', (data: Buffer) => this.received.push(JSON.parse(data.toString()) as Message));
    this.socket.on('error', () => undefined);
  }

  async opened(): Promise<this> {
    await once(this.socket, 'open');
    return this;
  }

  /** Resolves with the answer to a request. */
  async ask(method: unknown, params?: unknown): Promise<Message> {
    const id = ++this.lastId;
    this.socket.send(JSON.stringify({ id, method, params }));
    return this.until((message) => message.id === id);
  }

  async subscribe(params: object): Promise<number> {
    const { result, error } = await this.ask('subscribe', params);
    if (!result || result === true) throw new Error(error?.message);
    return result.subscription;
  }

  async until(holds: (message: Message) => boolean): Promise<Message> {
    for (;;) {
      const found = this.received.find(holds);
      if (found) return found;
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error('the connection is closed');
      await sleep(2);
    }
  }

  /** The events so far, without answers. */
  events(): Message[] {
    return this.received.filter(({ type }) => type !== undefined);
  }
}

const refusal = (client: Client): Promise<number> =>
  new Promise((resolve) =>
    client.socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0)),
  );

const LIMITS: WebSocketOptions = { maxClients: 3, maxSubscriptions: 5, maxQueueBytes: 4 << 20 };

let folder: string;
let server: RpcHttpServer | null = null;
let endpoint: WebSocketEndpoint;
let port: number;

async function start(options: Partial<WebSocketOptions> = {}): Promise<void> {
  endpoint = new WebSocketEndpoint(
    { ...LIMITS, ...options },
    { prefixes: addressPrefixesOf(regtestParams), logger: SILENT_LOGGER },
  );
  server = new RpcHttpServer(
    {
      auth: { user: 'user', password: 'pass', rpcAuth: [], cookieFile: join(folder, '.cookie') },
      port: 0,
      binds: ['127.0.0.1'],
      allowIps: ['127.0.0.1'],
      timeoutSec: 30,
      threads: 4,
      workQueueDepth: 16,
      profile: 'documented',
    },
    {
      dispatcher: testDispatcher().dispatcher,
      logger: SILENT_LOGGER,
      webSockets: new Upgrades(new Map([['/ws', endpoint]])),
    },
  );
  await server.listen();
  port = server.addresses()[0]!.port;
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnode-ws-'));
});
afterEach(async () => {
  vi.useRealTimers();
  await server?.close();
  server = null;
  rmSync(folder, { recursive: true });
});

const entryOf = (tx: Transaction): MempoolEntry =>
  ({ txid: txid(tx), wtxid: txid(tx), weight: 400, feeSat: 1n }) as unknown as MempoolEntry;
let made = 0;
/** Notifies the endpoint of a new mempool transaction. */
function add(script = OPEN_SCRIPT, paddingBytes = 0): Transaction {
  const tx = make([{ txid: Buffer.alloc(32, ++made), n: made }], script);
  if (paddingBytes > 0)
    tx.outputs.push({ value: 0n, script: Buffer.concat([Buffer.of(0x6a), Buffer.alloc(paddingBytes, 1)]) });
  endpoint.transactionAdded(entryOf(tx), bytesOf(tx));
  return tx;
}

describe('connecting', () => {
  it('requires credentials, the right path, and no browser', async () => {
    await start();
    expect(await refusal(new Client(port, { auth: 'user:wrong' }))).toBe(401);
    expect(await refusal(new Client(port, { auth: null }))).toBe(401);
    expect(await refusal(new Client(port, {}, '/'))).toBe(404);
    expect(await refusal(new Client(port, {}, '/ws/'))).toBe(404);
    expect(await refusal(new Client(port, { origin: 'http://127.0.0.1' }))).toBe(403);
    expect(await refusal(new Client(port, { headers: { host: 'evil.example' } }))).toBe(403);
    await new Client(port).opened();
    // The path only serves upgrade requests.
    expect((await ask(port, '', { path: '/ws', method: 'GET' })).status).toBe(404);
  });

  it('accepts a limited number of clients, and another one when one has left', async () => {
    await start();
    const clients = [];
    for (let i = 0; i < LIMITS.maxClients; i++) clients.push(await new Client(port).opened());
    expect(await refusal(new Client(port))).toBe(503);
    clients[0]!.socket.close();
    await clients[0]!.closed;
    await new Client(port).opened();
  });

  it('passes RPC to clients that offer another protocol in the handshake', async () => {
    await start();
    const socket: Socket = connect(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const body = JSON.stringify({ method: 'uptime', id: 7 });
    const head = (length: number): string =>
      'POST / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n' +
      `Authorization: Basic ${Buffer.from('user:pass').toString('base64')}\r\nContent-Length: ${length}\r\n\r\n`;
    // The body comes partly with the head, partly after it; then a second request on the same connection.
    socket.write(head(body.length) + body.slice(0, 5));
    await sleep(20);
    socket.write(body.slice(5));
    while (!text.includes('"id":7')) await sleep(2);
    socket.write(head(body.length) + body.replace('7', '8'));
    while (!text.includes('"id":8')) await sleep(2);
    expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2);
    socket.destroy();
  });

  it('ends with the server, and closes connections without a response', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    await start({ heartbeatMs: 400 });
    const silent = await new Client(port, { autoPong: false }).opened();
    const polite = await new Client(port).opened();
    for (let beat = 0; beat < 3; beat++) {
      const asked = once(polite.socket, 'ping');
      vi.advanceTimersByTime(400);
      await asked;
      // The server answers this ping after it has received the client's pong, which was sent before.
      polite.socket.ping();
      await once(polite.socket, 'pong');
    }
    expect((await silent.closed)[0]).toBe(1006);
    expect(polite.socket.readyState).toBe(WebSocket.OPEN);
    await server!.close();
    expect(await polite.closed).toEqual([1001, Buffer.from('the node is stopping')]);
  });
});

describe('requests', () => {
  it('are answered with their errors', async () => {
    await start();
    const client = await new Client(port).opened();
    const say = async (text: string): Promise<Message> => {
      client.received.length = 0;
      client.socket.send(text);
      return client.until(() => true);
    };
    expect(await say('{"id":1,')).toEqual({
      result: null,
      error: { code: -32700, message: 'Parse error' },
      id: null,
    });
    expect((await say('[]')).error).toEqual({ code: -32600, message: 'Invalid Request object' });
    expect(await say('{"id":"a"}')).toEqual({
      result: null,
      error: { code: -32600, message: 'Method must be a string' },
      id: 'a',
    });
    expect((await say('{"id":1,"method":"getinfo"}')).error).toEqual({
      code: -32601,
      message: 'Method not found',
    });
    expect((await say('{"id":1,"method":"subscribe","params":[]}')).error?.code).toBe(-32602);
    expect((await say('{"id":1,"method":"subscribe","params":{"topic":"x"}}')).error?.code).toBe(-8);
    expect((await say('{"id":1,"method":"unsubscribe","params":{"subscription":1}}')).error).toEqual({
      code: -8,
      message: 'No such subscription',
    });
  });

  it('end the connection if they are too large or not text', async () => {
    await start();
    const large = await new Client(port).opened();
    large.socket.send(`{"id":1,"method":"${'x'.repeat(300_000)}"}`);
    expect((await large.closed)[0]).toBe(1009);
    const binary = await new Client(port).opened();
    binary.socket.send(Buffer.from('{"id":1,"method":"subscribe","params":{"topic":"blocks"}}'));
    expect((await binary.closed)[0]).toBe(1003);
  });

  it('have a limited number of subscriptions', async () => {
    await start();
    const client = await new Client(port).opened();
    const id = await client.subscribe({ topic: 'claims', names: ['a', 'b', 'c', 'd'] });
    await client.subscribe({ topic: 'blocks' });
    expect((await client.ask('subscribe', { topic: 'blocks' })).error).toEqual({
      code: -8,
      message: 'More than 5 subscriptions',
    });
    expect((await client.ask('unsubscribe', { subscription: id })).result).toBe(true);
    expect((await client.ask('unsubscribe', { subscription: id })).error?.code).toBe(-8);
    await client.subscribe({ topic: 'claims', names: ['e', 'f', 'g', 'h'] });
  });
});

describe('transactions', () => {
  it('are sent to subscribers, once, with or without their bytes', async () => {
    await start();
    const [all, some] = [await new Client(port).opened(), await new Client(port).opened()];
    const script = Buffer.of(0x52);
    add();
    const ids = [
      await all.subscribe({ topic: 'transactions' }),
      await all.subscribe({ topic: 'transactions', scripts: ['52', '53'] }),
      await all.subscribe({ topic: 'transactions', hex: true }),
    ];
    const only = await some.subscribe({ topic: 'transactions', scripts: ['52'] });
    const [first, second] = [add(), add(script)];
    endpoint.transactionRemoved(entryOf(first), 'block', bytesOf(first));
    endpoint.transactionRemoved(entryOf(second), 'expiry', bytesOf(second));
    await some.until(({ data }) => data?.['reason'] === 'expiry');
    await all.until(({ data }) => data?.['reason'] === 'expiry' && data['hex'] !== undefined);
    const shown = ({ type, subscriptions, data }: Message): unknown[] => [
      type,
      subscriptions,
      data!['event'],
      data!['txid'],
      data!['hex'],
    ];
    const [firstId, secondId] = [first, second].map((tx) => hashToHex(txid(tx)));
    const [firstHex, secondHex] = [first, second].map((tx) => toHex(bytesOf(tx)));
    expect(all.events().map(shown)).toEqual([
      ['transaction', [ids[0]], 'added', firstId, undefined],
      ['transaction', [ids[2]], 'added', firstId, firstHex],
      ['transaction', [ids[0], ids[1]], 'added', secondId, undefined],
      ['transaction', [ids[2]], 'added', secondId, secondHex],
      ['transaction', [ids[0], ids[1]], 'removed', secondId, undefined],
      ['transaction', [ids[2]], 'removed', secondId, secondHex],
    ]);
    expect(some.events().map(shown)).toEqual([
      ['transaction', [only], 'added', secondId, undefined],
      ['transaction', [only], 'removed', secondId, undefined],
    ]);
  });

  it('do not wait for a client that does not read: it is closed, and others receive everything', async () => {
    await start();
    const [slow, good] = [await new Client(port).opened(), await new Client(port).opened()];
    for (const client of [slow, good]) await client.subscribe({ topic: 'transactions', hex: true });
    slow.socket.pause();
    const count = 300;
    for (let n = 0; n < count; n++) {
      add(OPEN_SCRIPT, 50_000);
      while (good.events().length <= n) await sleep(1);
    }
    expect(good.events()).toHaveLength(count);
    slow.socket.resume();
    const [code, reason] = await slow.closed;
    // The client received the reason, or the connection was closed before.
    expect([4000, 1006]).toContain(code);
    if (code === 4000) expect(reason.toString()).toBe(`too slow: more than ${4 << 20} bytes were queued`);
    expect(slow.events().length).toBeLessThan(count);
    await new Client(port).opened();
  });
});

describe('blocks and claims', () => {
  it('of any length reach a client that reads, with any buffer limit', async () => {
    await start();
    const world = await ReportedWorld.open();
    try {
      world.stream.listen(endpoint);
      const client = await new Client(port).opened();
      await client.subscribe({ topic: 'transactions', hex: true });
      await client.subscribe({ topic: 'blocks' });
      const fan = spendCoins([await world.pool.coinbase(1)], 0n, { outputs: 100 });
      const children = coinsOf(fan).map((coin) => spendCoins([coin], 0n, { padding: 8000 }));
      await world.pool.mineBlock([fan, ...children]);
      await client.until(({ type }) => type === 'tip');
      const reported = client.events().filter(({ type }) => type === 'transaction');
      expect(reported.map(({ data }) => data!['index'])).toEqual(Array.from({ length: 102 }, (_, i) => i));
      const { raw } = await world.pool.chain.blockAt(116);
      expect(raw.toString('hex')).toContain(reported.map(({ data }) => data!['hex']).join(''));
    } finally {
      await world.close();
    }
  });

  it('are sent in the order of the stream, through a reorganisation', async () => {
    await start();
    const world = await ReportedWorld.open();
    try {
      world.stream.listen(endpoint);
      const { pool } = world;
      const client = await new Client(port).opened();
      const named = await new Client(port).opened();
      const claim = make([await world.coin()], claimScript(Buffer.from('some')));
      const other = make([await world.coin()], claimScript(Buffer.from('other')));
      const claimid = hashToHex(claimIdIn(claim));
      const [blocks, transactions, claims] = [
        await client.subscribe({ topic: 'blocks' }),
        await client.subscribe({ topic: 'transactions' }),
        await client.subscribe({ topic: 'claims' }),
      ];
      const byName = await named.subscribe({ topic: 'claims', names: ['other'] });
      const byId = await named.subscribe({ topic: 'claims', claimids: [claimid] });
      await pool.mineBlock([claim, other]);
      const id = await pool.disconnectFrom(116);
      await pool.reconsider(id);
      await client.until(({ data }) => data?.['event'] === 'disconnected' && data['nTx'] === 3);
      await client.until(({ type, data }) => type === 'tip' && data?.['height'] === 115);
      while (client.events().filter(({ type }) => type === 'tip').length < 3) await sleep(2);
      while (named.events().length < 12) await sleep(2);

      const shown = ({ type, subscriptions, data }: Message): unknown[] => [
        type,
        subscriptions?.join(),
        data!['event'] ?? data!['height'],
        data!['name'] ?? data!['index'],
      ];
      const [block, tx, ofClaim] = [blocks, transactions, claims].map(String);
      const connected = (event: string, disconnected: boolean): unknown[][] => {
        const reported = [
          ['claim', ofClaim, 'claim', 'some'],
          ['claim', ofClaim, 'claim', 'other'],
          ['claim', ofClaim, 'takeover', 'other'],
          ['claim', ofClaim, 'takeover', 'some'],
        ];
        return [
          ['block', block, event, undefined],
          ...[0, 1, 2].map((index) => ['transaction', tx, event, index]),
          ...(disconnected ? reported.reverse() : reported),
        ];
      };
      const returned = ['transaction', tx, 'added', undefined];
      const events = client.events().map(shown);
      // Transactions that return to the mempool are mined again in the block.
      expect(events).toEqual([
        ...connected('connected', false),
        ['tip', block, 116, undefined],
        ...connected('disconnected', true),
        returned,
        returned,
        ['tip', block, 115, undefined],
        ...connected('connected', false),
        ['tip', block, 116, undefined],
      ]);
      expect(
        named.events().map(({ subscriptions, data }) => [subscriptions, data!['event'], data!['name']]),
      ).toEqual(
        [false, true, false].flatMap((isReversed) => {
          const reported = [
            [[byId], 'claim', 'some'],
            [[byName], 'claim', 'other'],
            [[byName], 'takeover', 'other'],
            [[byId], 'takeover', 'some'],
          ];
          return isReversed ? reported.reverse() : reported;
        }),
      );
    } finally {
      await world.close();
    }
  });
});
