/** Verification of complete blobs by the addon. It runs in the thread pool of Node.js, so no thread is started for it. */
import { randomBytes } from 'node:crypto';
import { loadNative } from '../../native/binding.js';
import { HASH_BYTES, hashLanes } from '../content/blobHash.js';
import { KEY_BYTES, type StoredChunkTable } from '../content/chunkTable.js';
import type { UnverifiedBlob } from './blobWork.js';

const native = loadNative();

/** Whether `verifyInPool` can be used. */
export const canVerifyInPool = (): boolean => native?.digestBlobs !== undefined && hashLanes() > 0;

/** Divides the blobs into groups of the same size, of at most `hashLanes()` blobs. */
function groupsOf(blobs: readonly UnverifiedBlob[]): UnverifiedBlob[][] {
  const groups: UnverifiedBlob[][] = [];
  for (const blob of blobs) {
    const size = blob.bytes.length;
    const group = groups.find((one) => one.length < hashLanes() && one[0]!.bytes.length === size);
    if (group === undefined) groups.push([blob]);
    else group.push(blob);
  }
  return groups;
}

/** Like `BlobWork.verify`. The bytes must not change before the promise settles. */
export async function verifyInPool(blobs: readonly UnverifiedBlob[]): Promise<(StoredChunkTable | null)[]> {
  const tables = new Map<UnverifiedBlob, StoredChunkTable>();
  await Promise.all(
    groupsOf(blobs).map(async (group) => {
      const keys = randomBytes(group.length * KEY_BYTES);
      const found = await native!.digestBlobs!(
        group.map(({ bytes }) => bytes),
        keys,
      );
      const stride = found.length / group.length;
      for (const [at, blob] of group.entries()) {
        const own = found.subarray(at * stride, (at + 1) * stride);
        // The table is copied, because it is kept longer than the result of the group.
        if (own.toString('hex', 0, HASH_BYTES) === blob.hash)
          tables.set(blob, Uint8Array.from(own.subarray(HASH_BYTES)));
      }
    }),
  );
  return blobs.map((blob) => tables.get(blob) ?? null);
}
