/** The background downloader in simulated time: which streams it downloads, when, and how much. */
import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { encryptPiece } from '../../../../src/daemon/blobs/cipher.js';
import { descriptorBytes, streamHashOf } from '../../../../src/daemon/content/descriptor.js';
import { BackgroundDownloader } from '../../../../src/daemon/files/backgroundDownloader.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { MemoryBlobs } from '../../../support/exchangePeers.js';
import { FakeClock } from '../../../support/fakeClock.js';

const MIB = 1024 * 1024;
const MINUTE_MS = 60_000;

let clock: FakeClock;
/** Blobs of the peers. */
let there: MemoryBlobs;
/** Downloaded blobs. */
let here: MemoryBlobs;
let announced: Buffer[];
let nodeId: Buffer;
let asked: string[];
let always: string[];
let ownStreams: Set<string>;
let freeBytes: number;
let limitBytes: number;
let savesBlobs: boolean;
/** Called when a blob is requested. */
let onAsked: (hash: string) => void;
let downloader: BackgroundDownloader;

beforeEach(() => {
  [clock, there, here] = [new FakeClock(), new MemoryBlobs(), new MemoryBlobs()];
  [announced, asked, always, ownStreams] = [[], [], [], new Set()];
  [freeBytes, savesBlobs, nodeId] = [100 * MIB, true, randomBytes(48)];
  [limitBytes, onAsked] = [100 * MIB, () => undefined];
  downloader = new BackgroundDownloader({
    dht: () => ({
      nodeId,
      announcements: { keysBeginningWith: (byte) => announced.filter((key) => key[0] === byte) },
    }),
    fetcher: () => ({
      fetchBlob: async (hash, _length, { signal }) => {
        asked.push(hash);
        onAsked(hash);
        const bytes = here.blobs.get(hash) ?? there.blobs.get(hash);
        if (bytes !== undefined) {
          if (!here.finished.has(hash)) freeBytes -= bytes.length;
          here.put(bytes);
          return bytes;
        }
        return new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(signal.reason as Error)),
        );
      },
    }),
    blobs: {
      finished: here.finished,
      delete: (hashes) => {
        for (const hash of hashes) here.finished.delete(hash);
        return Promise.resolve();
      },
    },
    database: {
      alwaysAnnounce: (hashes) => Promise.resolve(void always.push(...hashes)),
      streamHashOf: (hash) => Promise.resolve(ownStreams.has(hash) ? 'a stream' : null),
    },
    space: {
      freeNetworkBytes: () => Promise.resolve(freeBytes),
      get networkLimitBytes() {
        return limitBytes;
      },
    },
    savesBlobs: () => savesBlobs,
    blobTimeoutMs: () => 30_000,
    clock,
    log: SILENT_LOGGER,
  });
});

/** A stream that peers have and whose hash is announced. `isNear`: the hash is near the id of this node. */
function announce(sizes: readonly number[], isNear = true): { sdHash: string; data: string[] } {
  for (;;) {
    const key = randomBytes(16);
    const blobs = sizes.map((size, blobNum) => {
      const iv = randomBytes(16);
      const bytes = encryptPiece(randomBytes(size), key, iv);
      return { blobHash: there.put(bytes), blobNum, iv: iv.toString('hex'), length: bytes.length };
    });
    const end = { blobHash: null, blobNum: sizes.length, iv: randomBytes(16).toString('hex'), length: 0 };
    const stream = {
      streamName: 'a',
      suggestedFileName: 'a',
      key: key.toString('hex'),
      blobs: [...blobs, end],
    };
    const sdHash = there.put(descriptorBytes({ ...stream, streamHash: streamHashOf(stream) }));
    const hash = Buffer.from(sdHash, 'hex');
    if (announced.length === 0 && isNear) nodeId[0] = hash[0]!;
    if ((hash[0] === nodeId[0]) !== isNear) continue;
    announced.push(hash);
    return { sdHash, data: blobs.map(({ blobHash }) => blobHash) };
  }
}

describe('BackgroundDownloader', () => {
  it('downloads the stream of an announced hash near its id, and announces it afterwards', async () => {
    const near = announce([1000, 2000]);
    const far = announce([10], false);
    expect(downloader.status()).toEqual({
      running: false,
      available_free_space_mb: null,
      ongoing_download: false,
    });
    downloader.start();
    await clock.advance(1000);
    expect(asked).toEqual([near.sdHash, ...near.data]);
    expect(always).toEqual([near.sdHash]);
    await clock.advance(10 * MINUTE_MS);
    expect(here.finished.has(far.sdHash)).toBe(false);
    expect(asked).toHaveLength(3);
    expect(downloader.status()).toEqual({
      running: true,
      available_free_space_mb: 99,
      ongoing_download: false,
    });
    await downloader.stop();
  });

  it('downloads one stream a minute', async () => {
    const streams = [announce([10]), announce([20]), announce([30])];
    downloader.start();
    for (const { sdHash, data } of streams) {
      await clock.advance(1000);
      expect(asked.splice(0)).toEqual([sdHash, ...data]);
      await clock.advance(MINUTE_MS - 1000);
    }
    await downloader.stop();
  });

  it('starts nothing with 10 MiB left, nor if blobs are not saved', async () => {
    announce([10]);
    freeBytes = 10 * MIB;
    downloader.start();
    await clock.advance(2 * MINUTE_MS);
    expect(asked).toEqual([]);
    expect(downloader.status()).toMatchObject({ available_free_space_mb: 10 });
    [freeBytes, savesBlobs] = [11 * MIB, false];
    await clock.advance(2 * MINUTE_MS);
    expect(asked).toEqual([]);
    savesBlobs = true;
    await clock.advance(MINUTE_MS);
    expect(asked).toHaveLength(2);
    await downloader.stop();
  });

  it('skips a stream that does not fit, and continues with another', async () => {
    const large = announce([MIB, MIB, MIB, MIB, MIB, MIB, MIB, MIB, MIB, MIB, MIB, MIB]);
    const small = announce([10]);
    freeBytes = 11 * MIB;
    downloader.start();
    await clock.advance(2 * MINUTE_MS);
    expect(asked).toEqual([large.sdHash, small.sdHash, ...small.data]);
    expect(here.finished.has(large.sdHash)).toBe(false);
    await downloader.stop();
  });

  it('keeps a blob that is not a descriptor as a single blob', async () => {
    const hash = there.put(randomBytes(100));
    announced.push(Buffer.from(hash, 'hex'));
    nodeId[0] = announced[0]![0]!;
    downloader.start();
    await clock.advance(3 * MINUTE_MS);
    expect([asked, always]).toEqual([[hash], [hash]]);
    await downloader.stop();
  });

  it('is not blocked by a hash without peers, and retries it hours later', async () => {
    const lost = announce([10]);
    const other = announce([10]);
    const bytes = there.blobs.get(lost.sdHash)!;
    there.blobs.delete(lost.sdHash);
    downloader.start();
    await clock.advance(20_000);
    expect(downloader.status()).toMatchObject({ ongoing_download: true });
    await clock.advance(2 * MINUTE_MS);
    expect(asked).toEqual([lost.sdHash, other.sdHash, ...other.data]);
    there.put(bytes);
    await clock.advance(6 * 3600_000 + MINUTE_MS);
    expect(here.finished.has(lost.data[0]!)).toBe(true);
    await downloader.stop();
  });

  it('completes a stream of an earlier run, and skips complete ones and streams of files', async () => {
    const [complete, ofFile, begun] = [announce([1]), announce([2]), announce([10, 20])];
    for (const hash of [complete.sdHash, ...complete.data, begun.sdHash, begun.data[0]!])
      here.put(there.blobs.get(hash)!);
    ownStreams.add(ofFile.sdHash);
    downloader.start();
    await clock.advance(1000);
    expect(asked).toEqual([complete.sdHash, begun.sdHash, begun.data[1]]);
    expect(here.finished.has(ofFile.sdHash)).toBe(false);
    await downloader.stop();
  });

  it('ends a download that does not fit any more after the limit was lowered', async () => {
    const near = announce([1000, 2000, 3000]);
    onAsked = (hash) => {
      if (hash === near.data[0]) [limitBytes, freeBytes] = [0, 0];
    };
    downloader.start();
    await clock.advance(1000);
    expect(asked).toEqual([near.sdHash, near.data[0]]);
    expect(downloader.status()).toMatchObject({ running: true, ongoing_download: false });
    await downloader.stop();
  });

  it('tries a stream that did not fit again when the limit was raised', async () => {
    const near = announce([1000, 2000]);
    freeBytes = 10 * MIB + 1;
    onAsked = () => (freeBytes = 500);
    downloader.start();
    await clock.advance(1000);
    expect(asked.splice(0)).toEqual([near.sdHash]);
    [freeBytes, onAsked] = [100 * MIB, () => undefined];
    await clock.advance(MINUTE_MS);
    expect(asked).toEqual([]);
    limitBytes += MIB;
    await clock.advance(MINUTE_MS);
    expect(asked).toEqual([near.sdHash, ...near.data]);
    await downloader.stop();
  });

  it('continues a download that still fits after the limit was lowered', async () => {
    const near = announce([1000, 2000, 3000]);
    onAsked = (hash) => {
      if (hash === near.data[0]) limitBytes = 50 * MIB;
    };
    downloader.start();
    await clock.advance(1000);
    expect(asked).toEqual([near.sdHash, ...near.data]);
    await downloader.stop();
  });

  it('aborts a download when it is stopped', async () => {
    const lost = announce([10]);
    there.blobs.clear();
    downloader.start();
    await clock.advance(1000);
    expect(asked).toEqual([lost.sdHash]);
    await downloader.stop();
    expect(downloader.status()).toMatchObject({ running: false, ongoing_download: false });
  });
});
