/** Reads the blobs of a stream in a reader's order and prefetches the blobs that follow. */
import type { BlobFetcher, Urgency } from './ports.js';

/** Number of blobs that are read ahead. Arbitrary: bounds the memory to 16 MiB. */
const READ_AHEAD_BLOBS = 8;

export interface OrderedBlob {
  readonly hash: string;
  readonly lengthBytes: number;
}

export interface BlobReadOptions {
  readonly sdHash: string;
  readonly signal: AbortSignal;
  readonly aheadBlobs?: number;
}

interface Fetched {
  readonly bytes: Promise<Uint8Array>;
  isThere: boolean;
}

/**
 * Yields the bytes of each blob in order. They are valid until the next blob is requested. The blob that the reader waits for
 * has priority, and up to `aheadBlobs` blobs after it are prefetched. When the reader stops, prefetches are aborted. A reader
 * that seeks starts a new call, which the prefetches of the old call do not slow down. Rejects like `fetchBlob`.
 */
export async function* readInOrder(
  fetcher: Pick<BlobFetcher, 'fetchBlob'>,
  blobs: readonly OrderedBlob[],
  { sdHash, signal, aheadBlobs = READ_AHEAD_BLOBS }: BlobReadOptions,
): AsyncGenerator<Uint8Array> {
  const leaving = new AbortController();
  const both = AbortSignal.any([signal, leaving.signal]);
  const ahead = new Map<number, Fetched>();
  const buffers: Uint8Array[] = [];
  /** Returns the buffer for a blob. The blob `aheadBlobs + 1` positions later reuses it, so prefetches do not overwrite it. */
  const bufferAt = (at: number): Uint8Array => {
    const slot = at % (aheadBlobs + 1);
    const { lengthBytes } = blobs[at]!;
    if ((buffers[slot]?.length ?? 0) < lengthBytes) buffers[slot] = new Uint8Array(lengthBytes);
    return buffers[slot]!;
  };
  const fetchAt = (at: number, urgency: Urgency, into: Uint8Array | null): Promise<Uint8Array> =>
    fetcher.fetchBlob(blobs[at]!.hash, blobs[at]!.lengthBytes, { sdHash, signal: both, urgency, into });
  const prefetch = (at: number): Fetched => {
    const fetched = { bytes: fetchAt(at, 'ahead', bufferAt(at)), isThere: false };
    // Only the caller that waits for the blob gets the error. A failure while reading ahead is ignored.
    fetched.bytes.then(
      () => (fetched.isThere = true),
      () => undefined,
    );
    return fetched;
  };
  const take = async (at: number): Promise<Uint8Array> => {
    const early = ahead.get(at);
    ahead.delete(at);
    if (early?.isThere) return early.bytes;
    if (early === undefined) return fetchAt(at, 'reader', bufferAt(at));
    // The blob is still being prefetched. A second request gives it priority.
    await fetchAt(at, 'reader', null);
    return early.bytes.catch(() => fetchAt(at, 'reader', bufferAt(at)));
  };
  try {
    for (let at = 0; at < blobs.length; at++) {
      const current = take(at);
      for (let next = at + 1; next < Math.min(blobs.length, at + 1 + aheadBlobs); next++)
        if (!ahead.has(next)) ahead.set(next, prefetch(next));
      yield await current;
    }
  } finally {
    leaving.abort(new Error('the reader disconnected'));
  }
}
