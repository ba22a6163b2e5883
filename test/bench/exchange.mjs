/**
 * The transfer of blobs over loopback, each side in a process of its own: from one peer, and from four peers that send 2 MiB a
 * second each; and the memory of a server that 100 peers download from. With LBRYNET (the program `lbrynet` of a checkout that
 * runs) lbry-sdk's client and server do the first in the same run.
 *
 *   npm run bench:exchange [MiB]
 */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { systemClock, systemRandom } from '../../dist/daemon/base/clock.js';
import { BlobStore } from '../../dist/daemon/blobs/blobStore.js';
import { BlobThreads } from '../../dist/daemon/blobs/blobThreads.js';
import { blobHashOf } from '../../dist/daemon/content/blobHash.js';
import { openContentDatabase } from '../../dist/daemon/content/contentDatabase.js';
import { Bandwidth } from '../../dist/daemon/exchange/bandwidth.js';
import { BlobExchange } from '../../dist/daemon/exchange/blobExchange.js';
import { BlobServer } from '../../dist/daemon/exchange/blobServer.js';
import { dialTcp } from '../../dist/daemon/exchange/links.js';
import { RateLimiter } from '../../dist/daemon/exchange/rateLimiter.js';
import { readInOrder } from '../../dist/daemon/exchange/readInOrder.js';

const BLOB_BYTES = 2_097_152;
const MIB = 1024 * 1024;
const SLOW_PEERS = 4;
const SLOW_BYTES_PER_SECOND = 2 * MIB;
const SLOW_MIB = 64;
const MANY_PEERS = 100;
const log = { info: () => undefined, warn: console.error };

async function openStore(folder) {
  const threads = new BlobThreads();
  const database = openContentDatabase({ dataDir: folder, nowSec: 1 }, () => undefined);
  const store = new BlobStore({
    folder: join(folder, 'blobfiles'),
    database,
    threads,
    clock: systemClock,
    log,
  });
  await store.open();
  await store.settled;
  return store;
}

const rate = (bytesPerSecond) => new RateLimiter(systemClock, () => bytesPerSecond);
const bandwidth = new Bandwidth(systemClock, () => true);

/** Our side in this process, told what to do as `test/sdk/exchange_peer.py` is. */
class OurPeer {
  constructor(folder) {
    this.folder = folder;
  }

  async start(port, _reflectorPort, bytesPerSecond = 0) {
    mkdirSync(join(this.folder, 'blobfiles'), { recursive: true });
    this.store = await openStore(this.folder);
    const server = new BlobServer({
      blobs: this.store,
      address: () => null,
      limits: () => ({ total: 1000, perAddress: 1000 }),
      rate: rate(bytesPerSecond),
      bandwidth,
      clock: systemClock,
      onFailure: console.error,
    });
    await server.listen(port, '127.0.0.1', { what: 'server', settings: '' });
    return true;
  }

  async fetch(ports, hashes) {
    const exchange = new BlobExchange({
      blobs: this.store,
      sources: () => [],
      settings: () => ({
        fixedPeers: ports.map((port) => ['127.0.0.1', port]),
        fixedPeerDelayMs: 0,
        httpServers: [],
        edgeToken: null,
        maxConnections: 4,
        connectTimeoutMs: 3000,
        blobTimeoutMs: 30_000,
      }),
      rate: rate(0),
      bandwidth,
      clock: systemClock,
      random: systemRandom,
      dial: dialTcp,
      resolveHost: () => Promise.reject(new Error('no names')),
      debug: () => undefined,
    });
    const blobs = hashes.map((hash) => ({ hash, lengthBytes: BLOB_BYTES }));
    const began = performance.now();
    const options = { sdHash: hashes[0], signal: new AbortController().signal };
    for await (const bytes of readInOrder(exchange, blobs, options))
      if (bytes.length !== BLOB_BYTES) throw new Error('a blob is short');
    const seconds = (performance.now() - began) / 1000;
    await exchange.close();
    return { seconds };
  }

  memory() {
    return process.memoryUsage().rss / MIB;
  }
}

class Side {
  constructor(command, args) {
    this.process = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    this.waiting = [];
    createInterface({ input: this.process.stdout }).on('line', (line) =>
      this.waiting.shift()(JSON.parse(line)),
    );
  }

  async call(...command) {
    const answer = new Promise((resolve) => this.waiting.push(resolve));
    this.process.stdin.write(`${JSON.stringify(command)}\n`);
    const { result, error } = await answer;
    if (error) throw new Error(error);
    return result;
  }

  close() {
    const ended = new Promise((resolve) => this.process.once('close', resolve));
    this.process.kill();
    return ended;
  }
}

async function serveCommands(folder) {
  const peer = new OurPeer(folder);
  for await (const line of createInterface({ input: process.stdin })) {
    const [name, ...args] = JSON.parse(line);
    try {
      console.log(JSON.stringify({ result: await peer[name](...args) }));
    } catch (error) {
      console.log(JSON.stringify({ error: String(error) }));
    }
  }
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

const ours = (folder) => new Side(process.execPath, [fileURLToPath(import.meta.url), '--side', folder]);
const python = (folder) =>
  new Side(join(dirname(process.env.LBRYNET), 'python'), [
    '-W',
    'ignore',
    fileURLToPath(new URL('../sdk/exchange_peer.py', import.meta.url)),
    folder,
  ]);

/** Folders with the same blobs. lbry-sdk looks for blobs in the folder itself. */
function makeBlobs(folders, count) {
  const hashes = [];
  for (let n = 0; n < count; n++) {
    const bytes = randomBytes(BLOB_BYTES);
    const hash = blobHashOf(bytes);
    hashes.push(hash);
    for (const folder of folders) writeFileSync(join(folder, hash), bytes);
  }
  return hashes;
}

async function transfer(make, base, name, hashes) {
  const [server, client] = [make(join(base, `${name}-server`)), make(join(base, `${name}-client`))];
  const port = await freePort();
  await server.call('start', port, await freePort(), 0);
  await client.call('start', await freePort(), await freePort(), 0);
  const { seconds } = await client.call('fetch', [port], hashes);
  await Promise.all([server.close(), client.close()]);
  const rateShown = (hashes.length * 2) / seconds;
  console.log(
    `${name}: ${hashes.length * 2} MiB from one peer in ${seconds.toFixed(2)} s, ${rateShown.toFixed(0)} MiB/s`,
  );
  return rateShown;
}

async function fromSlowPeers(base, hashes) {
  const some = hashes.slice(0, SLOW_MIB / 2);
  const servers = Array.from({ length: SLOW_PEERS }, () => ours(join(base, 'ours-server')));
  const ports = [];
  for (const server of servers) {
    ports.push(await freePort());
    await server.call('start', ports.at(-1), 0, SLOW_BYTES_PER_SECOND);
  }
  const client = ours(join(base, 'ours-slow'));
  await client.call('start', await freePort(), 0);
  const { seconds } = await client.call('fetch', ports, some);
  await Promise.all([...servers, client].map((side) => side.close()));
  console.log(
    `ours: ${SLOW_MIB} MiB from ${SLOW_PEERS} peers of 2 MiB/s in ${seconds.toFixed(2)} s, ${(SLOW_MIB / seconds).toFixed(2)} MiB/s together`,
  );
}

/** Raw downloads, each slow, so that all are under way at the same time. */
async function seedToMany(make, base, name, hashes) {
  const server = make(join(base, `${name}-server`));
  const port = await freePort();
  await server.call('start', port, await freePort(), 0);
  const { connect } = await import('node:net');
  const sockets = Array.from({ length: MANY_PEERS }, (_, n) => {
    const socket = connect(port, '127.0.0.1');
    socket.pause();
    socket.write(JSON.stringify({ requested_blob: hashes[n % hashes.length] }));
    return socket;
  });
  await new Promise((resolve) => setTimeout(resolve, 5000));
  const { readFileSync } = await import('node:fs');
  const status = readFileSync(`/proc/${server.process.pid}/status`, 'utf8');
  console.log(
    `${name}: memory while ${MANY_PEERS} peers download ${(/VmRSS:\s+(\d+)/.exec(status)[1] / 1024).toFixed(0)} MiB`,
  );
  for (const socket of sockets) socket.destroy();
  await server.close();
}

async function main(mib) {
  const base = mkdtempSync(join(tmpdir(), 'lbcnode-bench-exchange-'));
  try {
    const kinds = ['ours', ...(process.env.LBRYNET ? ['lbrynet'] : [])];
    for (const kind of kinds)
      for (const side of ['server', 'client'])
        mkdirSync(join(base, `${kind}-${side}`, 'blobfiles'), { recursive: true });
    mkdirSync(join(base, 'ours-slow', 'blobfiles'), { recursive: true });
    const folders = [join(base, 'ours-server', 'blobfiles')];
    if (process.env.LBRYNET) folders.push(join(base, 'lbrynet-server'));
    const hashes = makeBlobs(folders, mib / 2);
    const rateOfOurs = await transfer(ours, base, 'ours', hashes);
    if (process.env.LBRYNET) {
      const rateOfTheirs = await transfer(python, base, 'lbrynet', hashes);
      console.log(`ratio ${(rateOfOurs / rateOfTheirs).toFixed(2)}`);
    }
    await fromSlowPeers(base, hashes);
    await seedToMany(ours, base, 'ours', hashes);
    if (process.env.LBRYNET) await seedToMany(python, base, 'lbrynet', hashes);
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

if (process.argv[2] === '--side') await serveCommands(process.argv[3]);
else await main(Number(process.argv[2] ?? 256));
