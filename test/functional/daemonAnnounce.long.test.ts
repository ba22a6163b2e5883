/**
 * A daemon announces a blob to another one, which still has the announcement after the first one has ended. Takes a minute of
 * real time.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadSqlite } from '../../src/sqlite/sqliteProvider.js';
import { startDaemon, type TestDaemon } from './support/daemon.js';

const SKIPPED = ['wallet', 'wallet_server_payments', 'file_manager', 'tracker_announcer_component'];
const LOOK_MS = 200;
const LIMIT_MS = 600_000;
const UDP_PORT = 34_444;

const folder = mkdtempSync(join(tmpdir(), 'lbcnode-announce-'));
const blob = Buffer.from('announced');
const hash = createHash('sha384').update(blob).digest('hex');
let [keeper, seeder]: TestDaemon[] = [];

const start = (name: string, args: readonly string[]): Promise<TestDaemon> => {
  const home = join(folder, name);
  mkdirSync(home, { recursive: true });
  return startDaemon({ hubPorts: [], folder: home, args, settings: { components_to_skip: SKIPPED } });
};

beforeAll(async () => {
  keeper = await start('keeper', [`--udp-port=${UDP_PORT}`]);
  const blobs = join(folder, 'seeder', 'data', 'blobfiles');
  mkdirSync(blobs, { recursive: true });
  writeFileSync(join(blobs, hash), blob);
  seeder = await start('seeder', [`--known-dht-nodes=127.0.0.1:${UDP_PORT}`]);
});

afterAll(async () => {
  await keeper?.stop();
  await seeder?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Whether the database of the seeder says that the blob is announced. */
async function isAnnounced(): Promise<boolean> {
  const database = (await loadSqlite()).open(join(folder, 'seeder', 'data', 'lbrynet.sqlite'));
  try {
    const row = database.prepare('select last_announced_time from blob where blob_hash = ?').get(hash);
    return Number(row?.['last_announced_time'] ?? 0) > 0;
  } finally {
    database.close();
  }
}

it('keeps announcements of another node when that node has left', async () => {
  expect(await seeder!.call('blob_announce', { blob_hash: hash })).toBe(true);
  const status = await seeder!.call<{ peer_protocol_server: { port: number } }>('status');
  // The seeder announces a minute after joining.
  const endMs = Date.now() + LIMIT_MS;
  while (!(await isAnnounced())) {
    if (Date.now() > endMs) throw new Error('the blob was not announced');
    await sleep(LOOK_MS);
  }
  await seeder!.kill();
  const { items } = await keeper!.call<{ items: unknown[] }>('peer_list', { blob_hash: hash });
  expect(items).toMatchObject([{ address: '127.0.0.1', tcp_port: status.peer_protocol_server.port }]);
});
