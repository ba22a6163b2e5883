/** Blobs of a stream in a reader's order, with those that follow already on the way. */
import type { BlobFetcher, Urgency } from './ports.js';

/** Blobs that are fetched ahead of the reader. Arbitrary: 16 MiB. */
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
 * Gives the bytes of each blob in order. The blob that the reader waits for goes before all others; up to `aheadBlobs` behind it
 * are fetched meanwhile. When the reader leaves, what was only ahead is abandoned: so a reader that seeks begins a new call
 * at the new place, and nothing of the old one is in its way. Rejects as `fetchBlob` does.
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
    // The caller that waits for it gets the error. A failure of a read-ahead is ignored.
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
      // What is still on the way is asked for again, so that it goes first.
      const current = early?.isThere ? early : fetchAt(at, 'reader');
      for (let next = at + 1; next < Math.min(blobs.length, at + 1 + aheadBlobs); next++)
        if (!ahead.has(next)) ahead.set(next, fetchAt(next, 'ahead'));
      yield await current.bytes;
    }
  } finally {
    leaving.abort(new Error('the reader left'));
  }
}
