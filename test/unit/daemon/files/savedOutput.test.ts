/** Streams that are written to a file, several blobs at a time. */
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../../src/daemon/base/clock.js';
import { BlobThreads } from '../../../../src/daemon/blobs/blobThreads.js';
import { encryptPiece } from '../../../../src/daemon/blobs/cipher.js';
import { blobBuffers, MAX_FREE } from '../../../../src/daemon/content/blobBuffers.js';
import { blobHashOf } from '../../../../src/daemon/content/blobHash.js';
import { receivedBlob } from '../../../../src/daemon/content/incomingBlob.js';
import type { BlobFetcher } from '../../../../src/daemon/exchange/ports.js';
import { writeOutput } from '../../../../src/daemon/files/savedOutput.js';
import { StreamReader, type OpenStream } from '../../../../src/daemon/files/streamReader.js';
import { loadNative } from '../../../../src/native/binding.js';
import { ContentFolder } from '../../../support/contentFolder.js';

const threads = new BlobThreads(2);
const folder = new ContentFolder(threads);
const key = randomBytes(16);
beforeAll(() => folder.open());
afterAll(async () => {
  await folder.close();
  folder.remove();
  await threads.close();
});

const reader = (fetcher: BlobFetcher | null = null): StreamReader =>
  new StreamReader({
    database: folder.database,
    blobs: folder.store,
    fetcher: () => fetcher,
    clock: systemClock,
    settings: () => ({
      downloadDir: folder.path,
      savesFiles: true,
      downloadTimeoutMs: 1000,
      blobTimeoutMs: 1000,
      cachedBlobs: 0,
    }),
  });

/** A stream with blobs of these lengths, and the bytes of its file. `store` is called with each blob. */
async function streamOf(
  lengths: readonly number[],
  store: (hash: string, blob: Buffer) => unknown = (hash, blob) => folder.store.write(hash, blob),
): Promise<{ stream: OpenStream; bytes: Buffer }> {
  const pieces = lengths.map((length) => randomBytes(length));
  const blobs = [];
  for (const [blobNum, piece] of pieces.entries()) {
    const iv = randomBytes(16);
    const blob = encryptPiece(piece, key, iv);
    const blobHash = blobHashOf(blob);
    await store(blobHash, blob);
    blobs.push({ blobHash, blobNum, iv: iv.toString('hex'), length: blob.length });
  }
  const end = { blobHash: null, blobNum: blobs.length, iv: '00'.repeat(16), length: 0 };
  const descriptor = {
    streamName: 'film',
    suggestedFileName: 'film',
    key: key.toString('hex'),
    streamHash: createHash('sha384').update(String(lengths)).digest('hex'),
    blobs: [...blobs, end],
  };
  return {
    stream: { sdHash: blobHashOf(Buffer.from(descriptor.streamHash)), descriptor, sdLengthBytes: 1 },
    bytes: Buffer.concat(pieces),
  };
}

async function write(
  stream: OpenStream,
  signal = new AbortController().signal,
  fetcher: BlobFetcher | null = null,
): Promise<number[]> {
  const reported: number[] = [];
  const file = await open(join(folder.path, 'film'), 'w');
  try {
    const onWritten = (bytes: number): void => void reported.push(bytes);
    await writeOutput({ reader: reader(fetcher), stream, file, signal, onWritten });
  } finally {
    await file.close();
  }
  return reported;
}

describe('a stream', () => {
  it.each<[string, number[]]>([
    ['of one blob', [100]],
    ['as lbry-sdk makes it', [...Array<number>(9).fill(64 * 1024 - 1), 77]],
    ['whose blobs have more padding than one byte', [1000, 1000, 1000, 500, 2000, 10]],
    ['whose third blob has more padding than one byte', [1023, 1023, 1000, 1023, 1023, 1023, 5]],
    ['whose last blob but one has more padding than one byte', [1023, 1023, 1023, 1010, 5]],
  ])('%s is written as its file, and its progress is reported in order', async (_what, lengths) => {
    const { stream, bytes } = await streamOf(lengths);
    writeFileSync(join(folder.path, 'film'), randomBytes(10));
    expect(await write(stream)).toEqual(lengths);
    expect(readFileSync(join(folder.path, 'film')).equals(bytes)).toBe(true);
  });

  it('with a corrupt blob is not completed, and the blob is quarantined', async () => {
    const { stream } = await streamOf([1023, 1023, 1023, 1023]);
    const hash = stream.descriptor.blobs[2]!.blobHash!;
    writeFileSync(folder.blobPath(hash), randomBytes(1024));
    await expect(write(stream)).rejects.toThrow('is not stored here');
    expect(folder.store.finished.has(hash)).toBe(false);
    expect(folder.warnings.splice(0).join()).toContain('its bytes have another hash');
  });

  it('ends with its signal', async () => {
    const { stream } = await streamOf([1023, 1023]);
    await expect(write(stream, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  });
});

/** Number of blobs that `writeOutput` begins together. It fetches none of the first ones ahead. */
const BLOBS_AT_ONCE = 8;

describe('a stream that is downloaded while it is saved', () => {
  const lengths = [...Array<number>(19).fill(64 * 1024 - 1), 77];

  /** A fetcher that stores the blobs and returns no bytes. Concurrent calls for a blob share one download. */
  function fetcherOf(network: ReadonlyMap<string, Buffer>): BlobFetcher {
    const fetched = new Map<string, Promise<void>>();
    const fetch = async (hash: string): Promise<void> => {
      const blob = receivedBlob(network.get(hash)!);
      expect(await folder.store.receive(hash, blob)).toBe(true);
      blob.release();
    };
    return {
      fetchBlob: async (hash) => {
        if (!fetched.has(hash)) fetched.set(hash, fetch(hash));
        await fetched.get(hash);
        return new Uint8Array(0);
      },
      progressOf: () => null,
    };
  }

  async function download(): Promise<void> {
    const network = new Map<string, Buffer>();
    const { stream, bytes } = await streamOf(lengths, (hash, blob) => network.set(hash, blob));
    expect(await write(stream, undefined, fetcherOf(network))).toEqual(lengths);
    expect(readFileSync(join(folder.path, 'film')).equals(bytes)).toBe(true);
  }

  it.skipIf(loadNative()?.decryptBlob === undefined)(
    'is decrypted from the memory of the received blobs, which is reused, and by no code of this thread',
    async () => {
      blobBuffers.clear();
      const take = vi.spyOn(blobBuffers, 'take');
      const fromDisk = vi.spyOn(threads, 'copyTo');
      const whole = vi.spyOn(StreamReader.prototype, 'wholeBlob');
      await download();
      // Blobs that were fetched ahead and stored before their turn are copied from their files.
      expect(fromDisk.mock.calls.length).toBeLessThanOrEqual(lengths.length - BLOBS_AT_ONCE);
      expect(whole).not.toHaveBeenCalled();
      // The small last blob has a buffer of its own.
      expect(take).toHaveBeenCalledTimes(lengths.length - 1);
      const buffers = new Set(take.mock.results.map(({ value }) => value as Buffer));
      expect(blobBuffers.freeCount).toBe(Math.min(MAX_FREE, buffers.size));
      vi.restoreAllMocks();
    },
  );

  it('is copied from its files without the addon', async () => {
    const inMemory = vi.spyOn(threads, 'decryptTo').mockResolvedValue(null);
    await download();
    expect(inMemory).toHaveBeenCalled();
    vi.restoreAllMocks();
  });
});
