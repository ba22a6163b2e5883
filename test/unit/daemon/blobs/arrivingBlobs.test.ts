/** The use of the memory of received blobs while they are stored. */
import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ArrivingBlobs, type ArrivingBlobsDeps } from '../../../../src/daemon/blobs/store/arrivingBlobs.js';
import { HeldBlobs } from '../../../../src/daemon/blobs/store/heldBlobs.js';
import { blobBuffers } from '../../../../src/daemon/content/blobBuffers.js';
import { receivedBlob } from '../../../../src/daemon/content/incomingBlob.js';
import { KeyedQueue } from '../../../../src/scheduler/keyedQueue.js';

const HASH = 'ab'.repeat(48);
/** A blob of this size has a buffer of the pool. */
const SIZE_BYTES = 100_000;
const CIPHER = { key: Buffer.alloc(16), iv: Buffer.alloc(16) };
const TARGET = { fd: -1, position: 0 };

type Decrypt = (bytes: Uint8Array) => Promise<number>;
type Store = ArrivingBlobsDeps['storing']['store'];

/** With `isFinished` the blob is on disk already, so that storing it takes no time. */
function arrivingBlobs(isFinished: boolean, decryptTo: Decrypt, store: Store): ArrivingBlobs {
  return new ArrivingBlobs({
    state: {
      deps: { savesBlobs: () => true, threads: { decryptTo } },
      finished: { has: () => isFinished },
      held: new HeldBlobs(),
      queue: new KeyedQueue(),
    },
    onDisk: { read: () => Promise.resolve(null) },
    storing: { store },
    verifying: { verify: () => Promise.resolve({ table: null }) },
  } as unknown as ArrivingBlobsDeps);
}

describe('a blob that is being stored', () => {
  afterEach(() => void vi.restoreAllMocks());

  it('is copied at no time from a buffer that was given back', async () => {
    const free = new Set<ArrayBufferLike>();
    vi.spyOn(blobBuffers, 'giveBack').mockImplementation(({ buffer }) => void free.add(buffer));
    const decrypt: Decrypt = ({ buffer, length }) => Promise.resolve(free.has(buffer) ? -1 : length);
    const unused: Store = () => Promise.reject(new Error('a finished blob was stored'));

    /** Starts a copy after this number of microtasks. */
    async function copyAfter(turns: number): Promise<number | null> {
      const arriving = arrivingBlobs(true, decrypt, unused);
      const blob = receivedBlob(randomBytes(SIZE_BYTES));
      const written = arriving.write(HASH, blob);
      while (arriving.storingCount === 0) await null;
      // The store is now the only user of the blob.
      blob.release();
      for (let turn = 0; turn < turns; turn++) await null;
      const copied = await arriving.copyTo(HASH, CIPHER, TARGET);
      await written;
      return copied;
    }

    const results = new Set<number | null>();
    for (let turns = 0; turns < 30; turns++) results.add(await copyAfter(turns));
    expect(results).toEqual(new Set([SIZE_BYTES, null]));
  });

  it('is not kept in memory if it cannot be stored', async () => {
    const decrypt = vi.fn<Decrypt>();
    const arriving = arrivingBlobs(false, decrypt, (_blob, onWritten) => {
      onWritten();
      return Promise.reject(new Error('the disk is full'));
    });
    const blob = receivedBlob(randomBytes(SIZE_BYTES));
    const giveBack = vi.spyOn(blobBuffers, 'giveBack');
    expect(await arriving.receive(HASH, blob)).toBe(true);
    blob.release();
    await arriving.allStored();
    expect(giveBack).toHaveBeenCalledTimes(1);
    const use = vi.spyOn(blob, 'use');
    await expect(arriving.copyTo(HASH, CIPHER, TARGET)).rejects.toThrow('the disk is full');
    expect(await arriving.copyTo(HASH, CIPHER, TARGET)).toBeNull();
    expect([use.mock.calls.length, decrypt.mock.calls.length]).toEqual([0, 0]);
  });
});
