/**
 * Unknown senders flood the DHT port of a daemon with valid and invalid datagrams. The daemon answers calls and finds its peers,
 * and its memory is bounded.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startDaemon, type TestDaemon } from './support/daemon.js';
import { until } from './support/network.js';
import { HANG_MS } from './support/node.js';
import { cpuMs, peakBytes, resetPeak } from './support/residentMemory.js';

const FLOODER = fileURLToPath(new URL('support/dhtFlooder.mjs', import.meta.url));
const PER_SECOND = 10_000;
/** Minimum time in which API calls are measured during the flood. */
const FLOOD_MS = 4000;
const MEMORY_BYTES = 100 * 1024 * 1024;
const SKIPPED = ['wallet', 'wallet_server_payments', 'file_manager', 'tracker_announcer_component'];

let folder: string;
let flooded: TestDaemon;
let seeder: TestDaemon;
let udpPort: number;
const blobs = Array.from({ length: 5 }, (_, n) => Buffer.from(`blob ${n}`));
const hashes = blobs.map((bytes) => createHash('sha384').update(bytes).digest('hex'));

async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4');
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  const { port } = socket.address();
  await new Promise<void>((resolve) => socket.close(() => resolve()));
  return port;
}

const start = (name: string, args: readonly string[]): Promise<TestDaemon> => {
  const home = join(folder, name);
  mkdirSync(home, { recursive: true });
  return startDaemon({
    hubPorts: [],
    folder: home,
    args,
    settings: { components_to_skip: SKIPPED, fixed_peers: [], http_blob_servers: [] },
  });
};
const peersOf = async (daemon: TestDaemon): Promise<number> =>
  (await daemon.call<{ dht: { peers_in_routing_table: number } }>('status')).dht.peers_in_routing_table;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnet-floods-'));
  udpPort = await freeUdpPort();
  mkdirSync(join(folder, 'seeder', 'data', 'blobfiles'), { recursive: true });
  for (const [n, hash] of hashes.entries())
    writeFileSync(join(folder, 'seeder', 'data', 'blobfiles', hash), blobs[n]!);
  flooded = await start('flooded', [`--udp-port=${udpPort}`]);
  seeder = await start('seeder', [`--known-dht-nodes=127.0.0.1:${udpPort}`]);
  await until('the daemons know each other', async () => (await peersOf(flooded)) > 0);
}, HANG_MS);

afterAll(async () => {
  await flooded?.stop();
  await seeder?.stop();
  rmSync(folder, { recursive: true, force: true });
}, HANG_MS);

it(`a daemon answers calls and downloads from peers during ${PER_SECOND} datagrams a second`, async () => {
  const child = spawn(process.execPath, [FLOODER, String(udpPort), String(PER_SECOND)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  expect((await lines.next()).value).toBe('begun');
  const before = peakBytes(flooded.pid);
  resetPeak(flooded.pid);
  const cpu = cpuMs(flooded.pid);
  const endMs = performance.now() + FLOOD_MS;
  const times: number[] = [];
  const probing = (async () => {
    while (performance.now() < endMs) {
      const from = performance.now();
      await flooded.call('version');
      times.push(performance.now() - from);
      await sleep(5);
    }
  })();
  // A datagram may be lost, as in any overloaded network, so the call is repeated.
  for (const hash of hashes)
    await until('the blob is downloaded', () =>
      flooded.call('blob_get', { blob_hash: hash, timeout: 10 }).then(
        () => true,
        () => false,
      ),
    );
  await probing;
  const grown = peakBytes(flooded.pid) - before;
  child.stdin.end();
  const result = String((await lines.next()).value);
  await once(child, 'exit');
  times.sort((a, b) => a - b);
  console.log(result, {
    grownMib: grown / 2 ** 20,
    p50: times[times.length >> 1],
    p99: times[Math.floor(times.length * 0.99)],
    cpu: cpuMs(flooded.pid) - cpu,
    peers: await peersOf(flooded),
  });
  expect(grown).toBeLessThan(MEMORY_BYTES);
});
