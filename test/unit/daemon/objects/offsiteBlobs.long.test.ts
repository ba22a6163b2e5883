/**
 * A reflector whose blobs are in an object store: the order of uploads, an unavailable store, the disk as a cache, several
 * reflectors.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BlobUnavailableError } from '../../../../src/daemon/base/blobUnavailable.js';
import { systemClock, type Clock } from '../../../../src/daemon/base/clock.js';
import { BlobThreads } from '../../../../src/daemon/blobs/blobThreads.js';
import { encryptPiece } from '../../../../src/daemon/blobs/cipher.js';
import { blobHashOf } from '../../../../src/daemon/content/blobHash.js';
import { descriptorBytes, streamHashOf } from '../../../../src/daemon/content/descriptor.js';
import { ReflectorStore } from '../../../../src/daemon/exchange/reflectorStore.js';
import { OffsiteBlobs } from '../../../../src/daemon/objects/offsiteBlobs.js';
import { S3Bucket } from '../../../../src/daemon/objects/s3Bucket.js';
import { ContentFolder } from '../../../support/contentFolder.js';
import { ACCESS_KEY, BUCKET, S3StandIn, SECRET_KEY } from '../../../support/s3StandIn.js';

const threads = new BlobThreads(2);
/** A clock without pauses. Time limits of requests remain. */
const hurried: Clock = {
  ...systemClock,
  after: (delayMs, task) =>
    systemClock.after(delayMs === 60_000 || delayMs === 10_000 ? delayMs : Math.min(delayMs, 2), task),
};
/** Polls with a time limit for slow machines. */
const poll = <T>(value: () => T | Promise<T>) => expect.poll(value, { timeout: 60_000 });
const isBlob = (key: string): boolean => /^p\/[0-9a-f]{96}$/.test(key);

let engine: S3StandIn;
let reflectors: Reflector[];

/** One reflector without its ports. */
class Reflector {
  readonly folder = new ContentFolder(threads);
  readonly lines: string[] = [];
  cacheBytes = 1_000_000_000;
  /** Number of seconds by which its clock is ahead. */
  laterSec = 0;
  private readonly clock: Clock = { ...hurried, nowSec: () => systemClock.nowSec() + this.laterSec };
  quotaMb = 0;
  blobs!: OffsiteBlobs;
  store!: ReflectorStore;
  private stopping = new AbortController();
  private readonly prefix: string;

  constructor(prefix = 'p/') {
    this.prefix = prefix;
    reflectors.push(this);
  }

  async open(prefix = this.prefix): Promise<this> {
    await this.folder.open();
    this.stopping = new AbortController();
    const stopping = this.stopping.signal;
    const place = { endpoint: engine.endpoint, region: 'here', bucket: BUCKET, prefix };
    const credentials = { accessKey: ACCESS_KEY, secretKey: SECRET_KEY, sessionToken: null };
    const log = {
      info: (text: string) => this.lines.push(text),
      warn: (text: string) => this.lines.push(text),
    };
    this.blobs = new OffsiteBlobs({
      local: this.folder.store,
      database: this.folder.database,
      bucket: new S3Bucket({ place, credentials, clock: this.clock, stopping }),
      name: `s3://${BUCKET}/${prefix}`,
      endpoint: engine.endpoint,
      clock: this.clock,
      random: Math.random,
      log,
      cacheBytes: () => this.cacheBytes,
      onLost: () => void this.store.reload(),
      stopping,
    });
    this.store = new ReflectorStore({
      blobs: this.blobs,
      database: this.folder.database,
      clock: systemClock,
      quotaMb: () => this.quotaMb,
    });
    await this.blobs.open();
    await this.store.open();
    return this;
  }

  get status() {
    return this.blobs.status() as Record<string, number | string | null>;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.blobs.close();
    await this.folder.close();
  }

  /** Restarts as after a kill: data that were not on disk are lost. */
  async reopen(prefix?: string): Promise<void> {
    await this.stop();
    await this.open(prefix);
  }

  async take({ sdHash, blobs }: Stream, which = [...blobs.keys()]): Promise<void> {
    expect(await this.store.offerStream(sdHash)).toMatchObject({ kind: 'wanted' });
    for (const hash of which)
      expect(await this.store.put(hash, blobs.get(hash)!, hash === sdHash)).toBe(true);
  }

  async settled(): Promise<void> {
    await poll(() => this.status['waiting_blobs']).toBe(0);
  }

  /** Whether the reflector serves the right bytes of all blobs. */
  async gives({ blobs }: Stream): Promise<boolean> {
    for (const [hash, bytes] of blobs) {
      await this.store.seek([hash]);
      const open = this.store.finished.has(hash) ? await this.store.openParts(hash) : null;
      if (open === null) return false;
      const given = await open.read(0, open.lengthBytes);
      await open.close();
      expect(bytes.equals(given)).toBe(true);
    }
    return true;
  }

  evict(hash: string): void {
    rmSync(this.folder.blobPath(hash));
  }
}

interface Stream {
  readonly sdHash: string;
  /** The descriptor first. */
  readonly blobs: Map<string, Buffer>;
  readonly data: readonly string[];
}

function makeStream(sizes: readonly number[]): Stream {
  const key = randomBytes(16);
  const pieces = sizes.map((size, blobNum) => {
    const iv = randomBytes(16);
    const bytes = Buffer.from(encryptPiece(randomBytes(size), key, iv));
    return { bytes, blobHash: blobHashOf(bytes), blobNum, iv: iv.toString('hex'), length: bytes.length };
  });
  const end = { blobHash: null, blobNum: sizes.length, iv: randomBytes(16).toString('hex'), length: 0 };
  const rows = pieces.map(({ blobHash, blobNum, iv, length }) => ({ blobHash, blobNum, iv, length }));
  const stream = { streamName: 'a', suggestedFileName: 'a', key: key.toString('hex'), blobs: [...rows, end] };
  const descriptor = Buffer.from(descriptorBytes({ ...stream, streamHash: streamHashOf(stream) }));
  const sdHash = blobHashOf(descriptor);
  return {
    sdHash,
    blobs: new Map([
      [sdHash, descriptor],
      ...pieces.map(({ blobHash, bytes }) => [blobHash, bytes] as const),
    ]),
    data: pieces.map(({ blobHash }) => blobHash),
  };
}

beforeEach(async () => {
  [engine, reflectors] = [new S3StandIn(), []];
  await engine.start();
});
afterEach(async () => {
  for (const reflector of reflectors) {
    await reflector.stop();
    reflector.folder.remove();
  }
  await engine.stop();
});
afterAll(() => threads.close());

describe('uploads', () => {
  it('send the blobs of a stream, its descriptor last, with a few requests at a time', async () => {
    const reflector = await new Reflector().open();
    const stream = makeStream(Array.from({ length: 20 }, () => 5000));
    await reflector.take(stream);
    await reflector.settled();
    const puts = engine.requests
      .filter((one) => one.startsWith('PUT'))
      .map((one) => one.slice('PUT p/'.length));
    expect(puts.at(-1)).toBe(stream.sdHash);
    expect(new Set(puts)).toEqual(new Set(stream.blobs.keys()));
    expect(puts).toHaveLength(21);
    for (const [hash, bytes] of stream.blobs) {
      const object = engine.objects.get(`p/${hash}`)!;
      expect(bytes.equals(object.bytes)).toBe(true);
      expect(object.meta).toEqual({ 'x-amz-meta-lbry-stream': stream.sdHash });
    }
    expect(engine.mostRunning).toBeLessThanOrEqual(4);
    expect(reflector.status).toMatchObject({
      state: 'ok',
      stored_blobs: 21,
      uploaded_blobs: 21,
      reason: null,
    });
  });

  it('send data blobs of an incomplete stream without its descriptor, and no blob without a stream', async () => {
    const reflector = await new Reflector().open();
    const [stream, orphan] = [makeStream([100, 200, 300]), randomBytes(500)];
    await reflector.take(stream, [stream.sdHash, stream.data[0]!, stream.data[1]!]);
    expect(await reflector.store.put(blobHashOf(orphan), orphan, false)).toBe(true);
    await poll(() => engine.objects.size).toBe(2);
    expect(engine.objects.has(`p/${stream.sdHash}`)).toBe(false);
    expect(await reflector.gives(stream)).toBe(false);
    const last = stream.data[2]!;
    expect(await reflector.store.put(last, stream.blobs.get(last)!, false)).toBe(true);
    await poll(() => engine.objects.has(`p/${stream.sdHash}`)).toBe(true);
    expect(await reflector.gives(stream)).toBe(true);
    expect([...engine.objects.keys()].every(isBlob)).toBe(true);
    expect(engine.objects.has(`p/${blobHashOf(orphan)}`)).toBe(false);
  });

  it.each([
    ['500', { status: 500, code: 'InternalError' }],
    ['503', { status: 503, code: 'SlowDown', headers: { 'retry-after': '1' } }],
    ['403', { status: 403, code: 'AccessDenied' }],
    ['a connection that is cut', 'reset'],
  ] as const)('continue after failures, and lose and announce nothing: %s', async (_what, fault) => {
    const reflector = await new Reflector().open();
    const stream = makeStream([1000, 2000, 3000]);
    engine.fault = () => fault;
    await reflector.take(stream);
    await poll(() => reflector.status['state']).toBe('degraded');
    expect(engine.objects.size).toBe(0);
    // Meanwhile the blobs are served from the disk.
    expect(await reflector.gives(stream)).toBe(true);
    expect(reflector.blobs.warning).toMatch(
      /^The blob store s3:\/\/blobs\/p\/ does not work: .*\. 4 blobs \(\d+ bytes\) are waiting on this disk\.$/,
    );
    expect(reflector.lines.filter((line) => line.includes('does not work'))).toHaveLength(1);
    engine.fault = () => null;
    await reflector.settled();
    expect(engine.objects.size).toBe(4);
    expect(reflector.lines.at(-1)).toMatch(/works again/);
    expect(reflector.blobs.warning).toBeNull();
    expect(reflector.lines.join('\n')).not.toContain(SECRET_KEY);
  });

  it('continue after an outage of the store', async () => {
    const reflector = await new Reflector().open();
    const stream = makeStream(Array.from({ length: 12 }, () => 3000));
    engine.delay = async () => {
      if (engine.objects.size === 5) await engine.stop();
    };
    await reflector.take(stream);
    await poll(() => reflector.status['state']).toBe('degraded');
    expect(reflector.status['reason']).toMatch(/ECONNREFUSED|other side closed|ECONNRESET|socket/);
    engine.delay = () => Promise.resolve();
    await engine.start();
    await reflector.settled();
    expect(engine.objects.size).toBe(13);
  });

  it('continue after a kill, also with blobs whose row was not written', async () => {
    const reflector = await new Reflector().open();
    const stream = makeStream([1000, 2000]);
    engine.fault = () => ({ status: 500, code: 'InternalError' });
    await reflector.take(stream);
    await reflector.folder.database.loseOffsite([stream.data[0]!]);
    await reflector.folder.database.keepFinished(stream.data[0]!);
    engine.fault = () => null;
    await reflector.reopen();
    await reflector.settled();
    expect(engine.objects.size).toBe(3);
    expect(await reflector.gives(stream)).toBe(true);
  });

  it('are not blocked by one blob that the store refuses', async () => {
    const reflector = await new Reflector().open();
    const [bad, good] = [makeStream([1000]), makeStream([1000])];
    engine.fault = (method, key) =>
      method === 'PUT' && key.endsWith(bad.data[0]!) ? { status: 400, code: 'InvalidRequest' } : null;
    await reflector.take(bad);
    await reflector.take(good);
    await poll(() => engine.objects.has(`p/${good.sdHash}`)).toBe(true);
    expect(engine.objects.size).toBe(2);
    engine.fault = () => null;
    await reflector.settled();
  });

  it('leave out blobs that became corrupt on this disk, which are requested again', async () => {
    const reflector = await new Reflector().open();
    const stream = makeStream([1000, 2000]);
    engine.fault = () => ({ status: 500, code: 'InternalError' });
    await reflector.take(stream);
    // No upload is running when the file changes.
    await reflector.stop();
    writeFileSync(reflector.folder.blobPath(stream.data[0]!), randomBytes(1008));
    engine.fault = () => null;
    await reflector.open();
    await poll(() => engine.objects.size).toBe(1);
    await poll(() => reflector.store.finished.has(stream.sdHash)).toBe(false);
    expect(await reflector.store.offerStream(stream.sdHash)).toEqual({
      kind: 'known',
      missing: [stream.data[0]],
    });
    const [hash] = stream.data;
    expect(await reflector.store.put(hash!, stream.blobs.get(hash!)!, false)).toBe(true);
    await reflector.settled();
    expect(engine.objects.size).toBe(3);
  });

  it('leave out blocked streams', async () => {
    const reflector = await new Reflector().open();
    const stream = makeStream([1000]);
    engine.fault = () => ({ status: 500, code: 'InternalError' });
    await reflector.take(stream);
    await reflector.store.setBlocked(new Set([stream.sdHash]));
    engine.fault = () => null;
    const other = makeStream([1000]);
    await reflector.take(other);
    await poll(() => engine.objects.size).toBe(2);
    expect(engine.objects.has(`p/${other.sdHash}`)).toBe(true);
    await reflector.store.setBlocked(new Set());
    await reflector.settled();
    expect(engine.objects.size).toBe(4);
  });
});

describe('the disk', () => {
  it('stays below its limit, and blobs are read back from the store correctly', async () => {
    const reflector = await new Reflector().open();
    reflector.cacheBytes = 50_000;
    const streams = Array.from({ length: 10 }, () => makeStream([9000, 9000]));
    for (const stream of streams) {
      await reflector.take(stream);
      await reflector.settled();
    }
    await poll(() => reflector.status['disk_bytes']).toBeLessThanOrEqual(50_000);
    for (const stream of streams) expect(await reflector.gives(stream)).toBe(true);
    expect(reflector.status['fetched_blobs']).toBeGreaterThan(10);
    await poll(() => reflector.status['disk_bytes']).toBeLessThanOrEqual(50_000);
    await reflector.reopen();
    expect(reflector.status).toMatchObject({ stored_blobs: 30, waiting_blobs: 0 });
    for (const stream of streams) expect(await reflector.gives(stream)).toBe(true);
  });

  it('evicts the least recently used blobs first', async () => {
    const reflector = await new Reflector().open();
    const [a, b] = [makeStream([20_000]), makeStream([20_000])];
    for (const stream of [a, b]) {
      await reflector.take(stream);
      await reflector.settled();
    }
    reflector.laterSec = 10;
    await reflector.store.read(a.data[0]!);
    await reflector.store.read(a.sdHash);
    reflector.cacheBytes = 25_000;
    await reflector.reopen();
    expect(existsSync(reflector.folder.blobPath(a.data[0]!))).toBe(true);
    expect(existsSync(reflector.folder.blobPath(b.data[0]!))).toBe(false);
  });

  it('never evicts blobs that are not in the store, and refuses blobs when it is full of these', async () => {
    const reflector = await new Reflector().open();
    reflector.cacheBytes = 30_000;
    engine.fault = () => ({ status: 500, code: 'InternalError' });
    const streams = [makeStream([10_000, 10_000]), makeStream([10_000, 10_000])];
    await reflector.take(streams[0]!);
    await reflector.take(streams[1]!, [streams[1]!.sdHash, streams[1]!.data[0]!]);
    expect(await reflector.store.offerBlob(streams[1]!.data[1]!)).toBe('busy');
    expect(await reflector.store.offerStream(makeStream([10]).sdHash)).toEqual({ kind: 'busy' });
    expect(await reflector.gives(streams[0]!)).toBe(true);
    engine.fault = () => null;
    await poll(() => reflector.store.offerBlob(streams[1]!.data[1]!)).toBe('wanted');
    const [, last] = streams[1]!.data;
    await reflector.store.put(last!, streams[1]!.blobs.get(last!)!, false);
    await reflector.settled();
    for (const stream of streams) expect(await reflector.gives(stream)).toBe(true);
  });

  it('reserves at most half of itself for blobs without a stream', async () => {
    const reflector = await new Reflector().open();
    reflector.cacheBytes = 20_000;
    const orphan = randomBytes(11_000);
    await reflector.store.put(blobHashOf(orphan), orphan, false);
    expect(await reflector.store.offerBlob(blobHashOf(randomBytes(5)))).toBe('busy');
    const stream = makeStream([1000]);
    await reflector.take(stream, [stream.sdHash]);
    expect(await reflector.store.offerBlob(stream.data[0]!)).toBe('wanted');
  });

  it('keeps a blob that the store has lost, and sends it again', async () => {
    const reflector = await new Reflector().open();
    const stream = makeStream([1000, 2000]);
    engine.fault = (method) => (method === 'PUT' ? 'forget' : null);
    await reflector.take(stream);
    await reflector.settled();
    expect(engine.objects.size).toBe(0);
    engine.fault = () => null;
    reflector.cacheBytes = 1;
    await reflector.reopen();
    await reflector.settled();
    expect(engine.objects.size).toBe(3);
    expect(reflector.lines.some((line) => line.includes('has lost the blob'))).toBe(true);
    expect(await reflector.gives(stream)).toBe(true);
  });

  it('gets a corrupt blob from the store again', async () => {
    const reflector = await new Reflector().open();
    const stream = makeStream([1000, 2000]);
    await reflector.take(stream);
    await reflector.settled();
    writeFileSync(reflector.folder.blobPath(stream.data[0]!), randomBytes(1008));
    rmSync(reflector.folder.blobPath(stream.sdHash));
    expect(await reflector.gives(stream)).toBe(true);
    expect(reflector.status['fetched_blobs']).toBe(2);
  });
});

describe('a blob from the store', () => {
  /** A reflector whose stream is only in the store and not on disk. */
  async function emptied(): Promise<[Reflector, Stream]> {
    const reflector = await new Reflector().open();
    const stream = makeStream([1000, 2000]);
    await reflector.take(stream);
    await reflector.settled();
    reflector.cacheBytes = 0;
    await reflector.reopen();
    expect(existsSync(reflector.folder.blobPath(stream.data[0]!))).toBe(false);
    reflector.cacheBytes = 1_000_000;
    return [reflector, stream];
  }

  it('is read once for concurrent requests', async () => {
    const [reflector, stream] = await emptied();
    engine.requests.length = 0;
    const [hash] = stream.data;
    const all = await Promise.all(Array.from({ length: 20 }, () => reflector.store.read(hash!)));
    for (const bytes of all) expect(stream.blobs.get(hash!)!.equals(bytes!)).toBe(true);
    expect(engine.requests).toEqual([`GET p/${hash}`]);
  });

  it.each(['wrong', 'truncate'] as const)('is not served if its bytes are: %s', async (fault) => {
    const [reflector, stream] = await emptied();
    const [hash] = stream.data;
    let count = 0;
    engine.fault = () => (count++ === 0 ? fault : null);
    // The second attempt succeeds.
    expect(stream.blobs.get(hash!)!.equals((await reflector.store.read(hash!))!)).toBe(true);
    expect(count).toBe(2);
  });

  it('is requested again if the store has other bytes', async () => {
    const [reflector, stream] = await emptied();
    const [hash] = stream.data;
    engine.objects.get(`p/${hash}`)!.bytes = randomBytes(1008);
    expect(await reflector.store.read(hash!)).toBeNull();
    expect(reflector.store.finished.has(stream.sdHash)).toBe(false);
    expect(reflector.lines.at(-1)).toMatch(/has other contents for/);
    expect(await reflector.store.offerStream(stream.sdHash)).toEqual({ kind: 'known', missing: [hash] });
    expect(await reflector.store.put(hash!, stream.blobs.get(hash!)!, false)).toBe(true);
    await reflector.settled();
    expect(stream.blobs.get(hash!)!.equals(engine.objects.get(`p/${hash}`)!.bytes)).toBe(true);
    expect(await reflector.gives(stream)).toBe(true);
  });

  it('is not served if the store has lost it', async () => {
    const [reflector, stream] = await emptied();
    engine.objects.delete(`p/${stream.data[1]}`);
    expect(await reflector.gives(stream)).toBe(false);
    expect(await reflector.gives(stream)).toBe(false);
    expect(reflector.store.finished.has(stream.sdHash)).toBe(false);
  });

  it('is available again after an outage of the store', async () => {
    const [reflector, stream] = await emptied();
    await engine.stop();
    await expect(reflector.store.read(stream.sdHash)).rejects.toThrow(BlobUnavailableError);
    expect(reflector.store.finished.has(stream.sdHash)).toBe(true);
    await engine.start();
    expect(await reflector.gives(stream)).toBe(true);
  });

  it('limits the number of requests and of waiting readers', async () => {
    const reflector = await new Reflector().open();
    const stream = makeStream(Array.from({ length: 90 }, () => 100));
    await reflector.take(stream);
    await reflector.settled();
    reflector.cacheBytes = 0;
    await reflector.reopen();
    reflector.cacheBytes = 1_000_000;
    engine.mostRunning = 0;
    const reads = await Promise.allSettled(stream.data.map((hash) => reflector.store.read(hash)));
    expect(engine.mostRunning).toBeLessThanOrEqual(8);
    const refused = reads.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(90 - 8 - 64);
    expect(await reflector.gives(stream)).toBe(true);
  });
});

describe('several reflectors', () => {
  it('serve streams that another one stored, when they are complete', async () => {
    const [first, second] = [await new Reflector().open(), await new Reflector().open()];
    const [stream, part] = [makeStream([1000, 2000]), makeStream([1000, 2000])];
    await first.take(stream);
    await first.settled();
    await first.take(part, [part.sdHash, part.data[0]!]);
    await poll(() => engine.objects.has(`p/${part.data[0]}`)).toBe(true);
    // A data blob is requested first, before the descriptor.
    await second.store.seek([stream.data[1]!]);
    expect(second.store.finished.has(stream.data[1]!)).toBe(true);
    expect(await second.gives(stream)).toBe(true);
    await second.store.seek([part.data[0]!]);
    expect(second.store.finished.has(part.data[0]!)).toBe(false);
    expect(await second.store.offerStream(stream.sdHash)).toEqual({ kind: 'known', missing: [] });
    // Blobs that others have uploaded do not count towards its quota.
    expect(second.store.usedBytes).toBe(0);
    await second.reopen();
    expect(await second.gives(stream)).toBe(true);
  });

  it('continue uploads that another one began, and send no blob twice', async () => {
    const [first, second] = [await new Reflector().open(), await new Reflector().open()];
    const stream = makeStream([1000, 2000, 3000]);
    await first.take(stream, [stream.sdHash, stream.data[0]!, stream.data[1]!]);
    await poll(() => engine.objects.size).toBe(2);
    await second.take(stream, [stream.sdHash]);
    expect(await second.store.offerBlob(stream.data[0]!)).toBe('known');
    expect(second.store.finished.has(stream.data[0]!)).toBe(false);
    expect(await second.store.offerBlob(stream.data[1]!)).toBe('known');
    const last = stream.data[2]!;
    expect(await second.store.offerBlob(last)).toBe('wanted');
    expect(await second.store.put(last, stream.blobs.get(last)!, false)).toBe(true);
    await second.settled();
    expect(await second.gives(stream)).toBe(true);
    expect(engine.requests.filter((one) => one.startsWith('PUT'))).toHaveLength(4);
    expect(await first.gives(stream)).toBe(false);
    expect(await first.store.offerStream(stream.sdHash)).toMatchObject({ missing: [last] });
    expect(await first.store.offerBlob(last)).toBe('known');
    expect(await first.gives(stream)).toBe(true);
  });

  it('remember for a while that the store does not have a blob', async () => {
    const reflector = await new Reflector().open();
    const hash = blobHashOf(randomBytes(5));
    for (let n = 0; n < 5; n++) await reflector.store.seek([hash]);
    expect(engine.requests).toEqual([`HEAD p/${hash}`]);
  });

  it('do not serve the streams of their own block list', async () => {
    const [first, second] = [await new Reflector().open(), await new Reflector().open()];
    const stream = makeStream([1000]);
    await first.take(stream);
    await first.settled();
    await second.store.setBlocked(new Set([stream.sdHash]));
    expect(await second.gives(stream)).toBe(false);
    expect(await second.store.offerStream(stream.sdHash)).toEqual({ kind: 'blocked' });
    await second.store.setBlocked(new Set());
    expect(await second.gives(stream)).toBe(true);
    await second.store.setBlocked(new Set([stream.sdHash]));
    expect(await second.gives(stream)).toBe(false);
  });

  it('import nothing that was not stored by a reflector, or has a wrong descriptor', async () => {
    const [first, second] = [await new Reflector().open(), await new Reflector().open()];
    const [stream, foreign] = [makeStream([1000]), makeStream([1000])];
    await first.take(stream);
    await first.settled();
    engine.objects.get(`p/${stream.sdHash}`)!.bytes = randomBytes(200);
    for (const [hash, bytes] of foreign.blobs) engine.objects.set(`p/${hash}`, { bytes, meta: {} });
    for (const one of [stream, foreign]) expect(await second.gives(one)).toBe(false);
  });
});

describe('another store', () => {
  it('receives all blobs of this disk', async () => {
    const reflector = await new Reflector().open();
    const stream = makeStream([1000, 2000]);
    await reflector.take(stream);
    await reflector.settled();
    await reflector.reopen('q/');
    await reflector.settled();
    expect(engine.objects.has(`q/${stream.sdHash}`)).toBe(true);
    expect(engine.objects.size).toBe(6);
    expect(reflector.lines.join('\n')).toMatch(/another one before/);
  });

  it('excludes blobs that only the former store has, until they are found in it', async () => {
    const reflector = await new Reflector().open();
    const stream = makeStream([1000, 2000]);
    await reflector.take(stream);
    await reflector.settled();
    reflector.cacheBytes = 0;
    await reflector.reopen();
    await reflector.reopen('q/');
    expect(await reflector.gives(stream)).toBe(false);
    await reflector.reopen('p/');
    reflector.cacheBytes = 1_000_000;
    expect(await reflector.gives(stream)).toBe(true);
  });
});

describe('the quota', () => {
  it('counts accepted blobs, on this disk or in the store', async () => {
    const reflector = await new Reflector().open();
    reflector.quotaMb = 1;
    await reflector.take(makeStream([600_000, 600_000]));
    await reflector.settled();
    reflector.cacheBytes = 0;
    await reflector.reopen();
    expect(reflector.store.usedBytes).toBeGreaterThan(1_200_000);
    expect(await reflector.store.offerStream(makeStream([10]).sdHash)).toEqual({ kind: 'full' });
  });
});
