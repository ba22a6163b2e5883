/** Reads the blobs of a stream in a reader's order and prefetches the blobs that follow. */
import type { BlobFetcher, Urgency } from './ports.js';

/** Number of blobs that are read ahead. Arbitrary: bounds the memory to 16 MiB. */
export const READ_AHEAD_BLOBS = 8;

export interface OrderedBlob {
  readonly hash: string;
  readonly lengthBytes: number;
}

export interface ReadOptions {
  readonly sdHash: string;
  readonly signal: AbortSignal;
  readonly aheadBlobs?: number;
}

interface Fetched {
  readonly bytes: Promise<Uint8Array>;
  isThere: boolean;
}

/**
 * Yields the bytes of each blob in order. The blob that the reader waits for has priority, and up to `aheadBlobs` blobs
 * after it are prefetched. When the reader stops, prefetches are aborted. A reader that seeks starts a new call, which the
 * prefetches of the old call do not slow down. Rejects like `fetchBlob`.
 */
export async function* readInOrder(
  fetcher: Pick<BlobFetcher, 'fetchBlob'>,
  blobs: readonly OrderedBlob[],
  { sdHash, signal, aheadBlobs = READ_AHEAD_BLOBS }: ReadOptions,
): AsyncGenerator<Uint8Array> {
  const leaving = new AbortController();
  const both = AbortSignal.any([signal, leaving.signal]);
  const ahead = new Map<number, Fetched>();
  const fetchAt = (at: number, urgency: Urgency): Fetched => {
    const { hash, lengthBytes } = blobs[at]!;
    const bytes = fetcher.fetchBlob(hash, lengthBytes, { sdHash, signal: both, urgency });
    const fetched = { bytes, isThere: false };
    // Only the caller that waits for the blob gets the error. A failure while reading ahead is ignored.
    bytes.then(
      () => (fetched.isThere = true),
      () => undefined,
    );
    return fetched;
  };
  try {
    for (let at = 0; at < blobs.length; at++) {
      const early = ahead.get(at);
      ahead.delete(at);
      // If the blob is still being prefetched, it is requested a second time with priority.
      const current = early?.isThere ? early : fetchAt(at, 'reader');
      for (let next = at + 1; next < Math.min(blobs.length, at + 1 + aheadBlobs); next++)
        if (!ahead.has(next)) ahead.set(next, fetchAt(next, 'ahead'));
      yield await current.bytes;
    }
  } finally {
    leaving.abort(new Error('the reader disconnected'));
  }
}
