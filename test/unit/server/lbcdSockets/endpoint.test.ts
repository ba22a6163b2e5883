/** Limits of the endpoint for lbcd's WebSocket protocol: slow clients, silent clients, and all watched scripts together. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { MempoolEntry } from '../../../../src/mempool/mempoolReader.js';
import { regtestParams } from '../../../../src/params/regtest.js';
import { txid } from '../../../../src/primitives/transaction.js';
import { addressPrefixesOf } from '../../../../src/script/address.js';
import { scriptForDestination } from '../../../../src/script/standard.js';
import { RpcHttpServer } from '../../../../src/server/httpServer.js';
import { LbcdSocketEndpoint, type LbcdSocketOptions } from '../../../../src/server/lbcdSockets/endpoint.js';
import { Upgrades } from '../../../../src/server/upgrades.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { LbcdSocket } from '../../../functional/support/lbcdSocket.js';
import { ADDRESS } from '../../../functional/support/node.js';
import { testDispatcher, testServices } from '../../rpc/support.js';
import { bytesOf, make } from '../notifications/support.js';

const OPTIONS: LbcdSocketOptions = { maxClients: 5, maxConcurrent: 2, maxQueueBytes: 4 << 20, threads: 2 };
const PAID = scriptForDestination({ type: 'pubkeyhash', hash: Buffer.alloc(20) });

let folder: string;
let server: RpcHttpServer;
let endpoint: LbcdSocketEndpoint;
let port: number;
const lines: string[] = [];
const sockets: LbcdSocket[] = [];

async function start(options: Partial<LbcdSocketOptions> = {}): Promise<void> {
  const logger = { ...SILENT_LOGGER, info: (line: string) => void lines.push(line) };
  endpoint = new LbcdSocketEndpoint(
    { ...OPTIONS, ...options },
    { prefixes: addressPrefixesOf(regtestParams), logger },
  );
  const mempool = { spender: () => null, transaction: () => null };
  const services = Object.assign(testServices(), { mempool, params: regtestParams });
  const { dispatcher } = testDispatcher();
  endpoint.answerBy({ dispatcher, services: services as never });
  server = new RpcHttpServer(
    {
      auth: { user: 'user', password: 'pass', rpcAuth: [], cookieFile: join(folder, '.cookie') },
      port: 0,
      binds: [],
      allowIps: undefined,
      timeoutSec: 30,
      threads: 4,
      workQueueDepth: 16,
      profile: 'lbcd',
    },
    { dispatcher, logger, webSockets: new Upgrades(new Map([['/ws', endpoint]])) },
  );
  await server.listen();
  port = server.addresses()[0]!.port;
}

async function client(auth: string | null = 'user:pass'): Promise<LbcdSocket> {
  const made = new LbcdSocket(`ws://127.0.0.1:${port}/ws`, auth);
  sockets.push(made);
  return made.opened();
}

let made = 0;
/** Adds a transaction to the mempool that pays to the watched address and has this number of further bytes. */
function add(paddingBytes: number): void {
  const tx = make([{ txid: Buffer.alloc(32, 9), n: ++made }], PAID);
  tx.outputs.push({ value: 0n, script: Buffer.concat([Buffer.of(0x6a), Buffer.alloc(paddingBytes, 1)]) });
  const entry = { txid: txid(tx) } as unknown as MempoolEntry;
  endpoint.transactionAdded(entry, bytesOf(tx));
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnode-lbcd-ws-'));
  lines.length = 0;
});
afterEach(async () => {
  for (const each of sockets.splice(0)) await each.end();
  await server.close();
  rmSync(folder, { recursive: true });
});

it('disconnects a client with too many queued messages, with a line in the log, and no other', async () => {
  await start();
  const [slow, good] = [await client(), await client()];
  for (const each of [slow, good]) await each.result('notifyreceived', [ADDRESS]);
  slow.socket.pause();
  let count = 0;
  for (; count < 400 && !lines.some((line) => line.includes('bytes are queued for it')); count++) {
    add(100_000);
    await good.take(1);
  }
  expect(count).toBeLessThan(400);
  expect(lines).toEqual([
    expect.stringMatching(/^WebSocket client \S+ disconnected: more than 4194304 bytes/),
  ]);
  slow.socket.resume();
  const [code] = await slow.closed;
  expect([4000, 1006]).toContain(code);
  add(10);
  expect(await good.take(1)).toHaveLength(1);
});

it('disconnects a client that does not authenticate', async () => {
  await start({ authenticateMs: 30 });
  const silent = await client(null);
  expect((await silent.closed)[0]).toBe(1008);
  expect(lines).toEqual([expect.stringMatching(/disconnected: it did not authenticate in time$/)]);
  const known = await client(null);
  await known.result('authenticate', 'user', 'pass');
  expect(await known.result('echo', 1)).toEqual([1]);
});

it('refuses watches beyond the limit, and disconnects a client whose watches grow beyond it', async () => {
  await start({ maxWatched: 2 });
  const one = await client();
  await one.result('notifyreceived', [ADDRESS]);
  const outPoints = [1, 2].map((index) => ({ hash: '00', index }));
  expect((await one.ask('notifyspent', outPoints)).error).toEqual({
    code: -1,
    message: 'More than 2 addresses and outputs are watched by all clients together',
  });
  add(10);
  expect((await one.closed)[0]).toBe(4000);
});

it('disconnects a client that does not respond', async () => {
  await start({ heartbeatMs: 20 });
  const [dead, alive] = [await client(), await client()];
  dead.socket.pause();
  await vi.waitUntil(
    () => lines.some((line) => line.endsWith('does not answer pings: disconnected')),
    60_000,
  );
  dead.socket.resume();
  expect((await dead.closed)[0]).toBe(1006);
  expect(await alive.result('echo', 'here')).toEqual(['here']);
});

it('runs at most the allowed number of calls of a client at once, and answers all', async () => {
  await start();
  const one = await client();
  const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => one.result('echo', i)));
  expect(answers).toEqual(Array.from({ length: 200 }, (_, i) => [i]));
});

it('disconnects clients when the server stops', async () => {
  await start();
  const one = await client();
  const closing = server.close();
  expect((await one.closed)[0]).toBe(1001);
  await closing;
  expect(one.socket.readyState).toBe(WebSocket.CLOSED);
});
