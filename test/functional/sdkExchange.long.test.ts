/**
 * The blob exchange against that of lbry-sdk: its server and reflector serve our client, its client and uploader use our servers.
 * LBRYNET names the program `lbrynet` of a checkout that runs, beside which lies `python`.
 */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock, systemRandom } from '../../src/daemon/base/clock.js';
import { BlobThreads } from '../../src/daemon/blobs/blobThreads.js';
import { makeStream } from '../../src/daemon/blobs/makeStream.js';
import { Bandwidth } from '../../src/daemon/exchange/bandwidth.js';
import { BlobExchange } from '../../src/daemon/exchange/blobExchange.js';
import { BlobServer } from '../../src/daemon/exchange/blobServer.js';
import { dialTcp } from '../../src/daemon/exchange/links.js';
import { RateLimiter } from '../../src/daemon/exchange/rateLimiter.js';
import { readInOrder } from '../../src/daemon/exchange/readInOrder.js';
import { Reflecting } from '../../src/daemon/exchange/reflecting.js';
import { ReflectorServer } from '../../src/daemon/exchange/reflectorServer.js';
import { ReflectorStore } from '../../src/daemon/exchange/reflectorStore.js';
import { ContentFolder } from '../support/contentFolder.js';
import { PythonPeer } from '../support/pythonPeer.js';
import { freePort, HANG_MS } from './support/node.js';

const LBRYNET = process.env['LBRYNET'];
const FILE_BYTES = Number(process.env['LBCNODE_EXCHANGE_MIB'] ?? 16) * 1024 * 1024 + 12_345;

if (!LBRYNET) console.log('skipped: LBRYNET names no lbry-sdk');

interface Made {
  readonly sd_hash: string;
  readonly blobs: readonly string[];
}

const threads = new BlobThreads();
const rate = new RateLimiter(systemClock, () => 0);
const bandwidth = new Bandwidth(systemClock, () => true);

describe.skipIf(!LBRYNET)('the blob exchange of lbry-sdk', { timeout: HANG_MS }, () => {
  let python: PythonPeer;
  let folder: ContentFolder;
  let blobPort: number;
  let reflectorPort: number;
  let exchange: BlobExchange;
  let server: BlobServer;
  let reflecting: Reflecting;
  let ports: number[];
  const given = new AbortController();

  beforeEach(async () => {
    python = new PythonPeer(LBRYNET!);
    [blobPort, reflectorPort] = [await freePort(), await freePort()];
    folder = new ContentFolder(threads);
    await folder.open();
    ports = [blobPort];
    exchange = new BlobExchange({
      blobs: folder.store,
      sources: () => [],
      settings: () => ({
        fixedPeers: ports.map((port) => ['127.0.0.1', port] as const),
        fixedPeerDelayMs: 0,
        httpServers: [],
        edgeToken: null,
        maxConnections: 4,
        connectTimeoutMs: 3000,
        blobTimeoutMs: 30_000,
      }),
      rate,
      bandwidth,
      clock: systemClock,
      random: systemRandom,
      dial: dialTcp,
      resolveHost: () => Promise.reject(new Error('no names here')),
      debug: () => undefined,
    });
    server = new BlobServer({
      blobs: folder.store,
      address: () => 'bQEaw42GXsgCAGio1nxFncJSyRmnztSCjP',
      limits: () => ({ total: 100, perAddress: 100 }),
      rate,
      bandwidth,
      clock: systemClock,
      onFailure: (error) => console.log(error),
    });
    reflecting = new Reflecting({
      blobs: folder.store,
      notes: {
        streamsToReflect: () => Promise.resolve({ hashes: [], next: null }),
        noteReflected: () => Promise.resolve(),
      },
      dial: dialTcp,
      clock: systemClock,
      random: systemRandom,
      bandwidth,
      rate,
      settings: () => ({ isOn: false, servers: [['127.0.0.1', reflectorPort]], concurrent: 4 }),
      debug: () => undefined,
    });
  });
  afterEach(async () => {
    await exchange.close();
    await reflecting.stop();
    await server.close().catch(() => undefined);
    await python.close();
    await folder.close();
    folder.remove();
  });
  afterAll(() => threads.close());

  const begin = (partialNeeds = false): Promise<boolean> =>
    python.call('start', blobPort, reflectorPort, partialNeeds);

  async function made(): Promise<{ sdHash: string; hashes: string[] }> {
    const path = join(folder.path, 'film');
    writeFileSync(path, randomBytes(FILE_BYTES));
    const { sdHash, descriptor } = await makeStream(path, folder.making);
    return {
      sdHash,
      hashes: descriptor.blobs.flatMap(({ blobHash }) => (blobHash === null ? [] : [blobHash])),
    };
  }

  it('gives its blobs to our client, and takes ours by its client', async () => {
    await begin();
    const path = join(python.folder, 'film');
    writeFileSync(path, randomBytes(FILE_BYTES));
    const { sd_hash: sdHash, blobs } = await python.call<Made>('create', path);
    const all = [sdHash, ...blobs];
    let began = performance.now();
    const wanted = all.map((hash) => ({ hash, lengthBytes: null as unknown as number }));
    for await (const bytes of readInOrder(exchange, wanted, { sdHash, signal: given.signal }))
      expect(bytes.length).toBeGreaterThan(0);
    const ours = (performance.now() - began) / 1000;
    for (const hash of all) expect(await folder.store.isWhole(hash)).toBe(true);

    const other = await made();
    const port = await server.listen(0, '127.0.0.1', { what: 'blob exchange', settings: '' });
    const theirs = [other.sdHash, ...other.hashes];
    began = performance.now();
    const { seconds } = await python.call<{ seconds: number }>('fetch', [port], theirs);
    expect(await python.call('has', theirs)).toEqual(theirs.map(() => true));
    console.log(
      `${all.length} blobs: our client from its server ${ours.toFixed(2)} s, its client from ours ${seconds.toFixed(2)} s`,
    );
  });

  it.each([false, true])('takes a stream from our uploader (partial lists: %s)', async (partialNeeds) => {
    await begin(partialNeeds);
    const { sdHash, hashes } = await made();
    const first = await reflecting.reflectStream(sdHash);
    expect(first).toMatchObject({ isComplete: true, reason: null });
    expect([...first.sent].sort()).toEqual([sdHash, ...hashes].sort());
    expect(await python.call('has', [sdHash, ...hashes])).toEqual([sdHash, ...hashes].map(() => true));
    expect(await reflecting.reflectStream(sdHash)).toMatchObject({ isComplete: true, sent: [] });
  });

  it('sends a stream to our reflector', async () => {
    await begin();
    const store = new ReflectorStore({
      blobs: folder.store,
      database: folder.database,
      clock: systemClock,
      quotaMb: () => 0,
    });
    await store.open();
    const reflector = new ReflectorServer({
      store,
      limits: () => ({ total: 64, perAddress: 64 }),
      rate,
      bandwidth,
      clock: systemClock,
      onFailure: (error) => console.log(error),
    });
    const port = await reflector.listen(0, '127.0.0.1', { what: 'reflector', settings: '' });
    try {
      const path = join(python.folder, 'film');
      writeFileSync(path, randomBytes(FILE_BYTES));
      const { sd_hash: sdHash, blobs } = await python.call<Made>('create', path);
      const { sent } = await python.call<{ sent: string[] }>('reflect', sdHash, port);
      expect(sent.sort()).toEqual([sdHash, ...blobs].sort());
      expect([sdHash, ...blobs].every((hash) => store.finished.has(hash))).toBe(true);
      expect(await python.call('reflect', sdHash, port)).toEqual({ sent: [], complete: true });
      await folder.store.delete([blobs[0]!]);
      expect(await python.call('reflect', sdHash, port)).toMatchObject({ sent: [blobs[0]] });
    } finally {
      await reflector.close();
    }
  });
});
