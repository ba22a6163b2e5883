/**
 * One side of the content bench: our components in a process of their own, controlled by lines of JSON.
 * `test/sdk/exchange_peer.py` does the same with lbry-sdk's components, and accepts the same commands.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { systemClock, systemRandom } from '../../dist/daemon/base/clock.js';
import { BlobStore } from '../../dist/daemon/blobs/blobStore.js';
import { BlobThreads } from '../../dist/daemon/blobs/blobThreads.js';
import { makeStream } from '../../dist/daemon/blobs/makeStream.js';
import { openContentDatabase } from '../../dist/daemon/content/contentDatabase.js';
import { Bandwidth } from '../../dist/daemon/exchange/bandwidth.js';
import { BlobExchange } from '../../dist/daemon/exchange/blobExchange.js';
import { BlobServer } from '../../dist/daemon/exchange/blobServer.js';
import { dialTcp } from '../../dist/daemon/exchange/links.js';
import { RateLimiter } from '../../dist/daemon/exchange/rateLimiter.js';
import { FileManager } from '../../dist/daemon/files/fileManager.js';

export const BLOB_BYTES = 2_097_152;
export const MIB = 1024 * 1024;
/** Number of blobs that are requested ahead of the first unfinished one, as `writeOutput` and `StreamReader.ahead` do. */
const BLOBS_AHEAD = 11;
/** Ticks per second of the processor times in /proc. */
const TICKS_A_SECOND = 100;

const log = { info: () => undefined, warn: console.error };
const rate = (bytesPerSecond) => new RateLimiter(systemClock, () => bytesPerSecond);
const bandwidth = new Bandwidth(systemClock, () => true);

/** The blob store and blob server of lbcnet, and a client for other peers. */
class OurPeer {
  constructor(folder) {
    this.folder = folder;
  }

  async start(port, _reflectorPort, bytesPerSecond = 0) {
    const blobFolder = join(this.folder, 'blobfiles');
    mkdirSync(blobFolder, { recursive: true });
    this.threads = new BlobThreads();
    this.database = openContentDatabase({ dataDir: this.folder, nowSec: 1 }, () => undefined);
    const { threads, database } = this;
    this.store = new BlobStore({ folder: blobFolder, database, threads, clock: systemClock, log });
    await this.store.open();
    await this.store.settled;
    this.files = new FileManager({
      database,
      blobs: this.store,
      fetcher: () => null,
      settings: () => ({
        downloadDir: this.folder,
        savesFiles: true,
        downloadTimeoutMs: 60_000,
        blobTimeoutMs: 60_000,
        cachedBlobs: 32,
      }),
      clock: systemClock,
      log,
    });
    await this.files.start();
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

  async create(path) {
    const { store, threads, database } = this;
    const began = performance.now();
    const made = await makeStream(path, {
      store,
      threads,
      database,
      clock: systemClock,
      random: systemRandom,
    });
    const seconds = (performance.now() - began) / 1000;
    await this.files.add({
      streamHash: made.descriptor.streamHash,
      place: null,
      status: 'stopped',
      isSaved: false,
      contentFee: null,
      addedOn: 1,
    });
    const blobs = made.descriptor.blobs.flatMap(({ blobHash }) => (blobHash === null ? [] : [blobHash]));
    return { sd_hash: made.sdHash, blobs, seconds };
  }

  async save(sdHash, name) {
    const file = await this.files.bySdHash(sdHash);
    const began = performance.now();
    await file.save({ fileName: name, directory: this.folder });
    await file.settled();
    if (!file.row.isSaved) throw new Error('the file was not saved');
    return { seconds: (performance.now() - began) / 1000 };
  }

  /** Downloads blobs of the given length in order, as lbry-sdk's downloader does: into the store, without a reader. */
  async fetch(ports, hashes, lengthBytes = BLOB_BYTES) {
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
    const options = {
      sdHash: hashes[0],
      signal: new AbortController().signal,
      urgency: 'ahead',
      into: null,
    };
    const began = performance.now();
    const coming = [];
    for (const hash of hashes) {
      if (coming.length > BLOBS_AHEAD) await coming.shift();
      coming.push(exchange.fetchBlob(hash, lengthBytes, options));
    }
    await Promise.all(coming);
    await Promise.all(hashes.map((hash) => this.store.kept(hash)));
    const seconds = (performance.now() - began) / 1000;
    await exchange.close();
    return { seconds };
  }
}

/** A side in another process, with the methods that the benchmark calls. */
export class Side {
  constructor(command, args) {
    this.process = spawn(command, args, { stdio: ['pipe', 'pipe', 'ignore'] });
    this.waiting = [];
    createInterface({ input: this.process.stdout }).on('line', (line) =>
      this.waiting.shift()?.(JSON.parse(line)),
    );
    this.process.once('close', () => {
      for (const answer of this.waiting.splice(0)) answer({ error: 'the process ended' });
    });
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

/** Processor time of a process in seconds, all threads together. */
export function processorSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}

/** Resident memory of a process in MiB. */
export const residentMib = (pid) =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;

export const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

export const ours = (folder) =>
  new Side(process.execPath, [fileURLToPath(import.meta.url), '--side', folder]);
export const python = (folder) =>
  new Side(join(dirname(process.env.LBRYNET), 'python'), [
    '-W',
    'ignore',
    fileURLToPath(new URL('../sdk/exchange_peer.py', import.meta.url)),
    folder,
  ]);

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

if (process.argv[2] === '--side') await serveCommands(process.argv[3]);
