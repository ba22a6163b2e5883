/**
 * Checkpoints that cover 1,000 headers each: the double SHA-256 of their 112,000 bytes. They allow to check headers at
 * heights for which no hash of a single block is published. Source: lbry-sdk lbry/wallet/header.py `Headers.fetch_chunk`.
 */
import { createHash, type Hash } from 'node:crypto';
import type { Bytes } from '../util/bytes.js';

/** Number of headers that one checkpoint hash covers. Source: lbry-sdk lbry/wallet/checkpoints.py. */
export const HEADERS_PER_CHUNK = 1000;
const HASH_BYTES = 32;

/** Whether the header at this height is the last header of a chunk whose hash is known. */
export function endsKnownChunk(chunks: Buffer, height: number): boolean {
  return (
    (height + 1) % HEADERS_PER_CHUNK === 0 && (height + 1) / HEADERS_PER_CHUNK <= chunks.length / HASH_BYTES
  );
}

/**
 * Whether headers match the known hash of the group of 1,000 that ends at `height`. `headers` has 112 bytes per header,
 * sorted by height.
 */
export function isKnownChunk(chunks: Buffer, height: number, headers: Iterable<Bytes>): boolean {
  const hash = createHash('sha256');
  for (const header of headers) hash.update(header);
  return isChunkHash(chunks, height, hash);
}

function isChunkHash(chunks: Buffer, height: number, hash: Hash): boolean {
  const at = ((height + 1) / HEADERS_PER_CHUNK - 1) * HASH_BYTES;
  const found = createHash('sha256').update(hash.digest()).digest();
  return found.equals(chunks.subarray(at, at + HASH_BYTES));
}

interface Begun {
  readonly hash: Hash;
  readonly nextHeight: number;
}

/**
 * Checks chunks as headers arrive, on several branches, without reading earlier headers again. A chunk whose first headers
 * were not seen (after a restart, or on a branch that forks within the chunk) is not checked; such headers are protected
 * only by proof of work.
 */
export class ChunkChecks {
  private readonly chunks: Buffer;
  /** Incomplete chunks by the id of their last header, with the hash state so far. */
  private readonly begun = new Map<number, Begun>();

  /** Creates the checks. `chunks` contains the known hashes, 32 bytes each. */
  constructor(chunks: Buffer) {
    this.chunks = chunks;
  }

  /**
   * Whether a header may follow `parent`. False if the header completes a group of 1,000 whose hash is wrong. Does not
   * change the state.
   */
  allows(parent: number, height: number, header: Bytes): boolean {
    const begun = this.begun.get(parent);
    if (!endsKnownChunk(this.chunks, height) || begun?.nextHeight !== height) return true;
    return isChunkHash(this.chunks, height, begun.hash.copy().update(header));
  }

  /** Adds an accepted header to the hash of its group of 1,000. */
  accepted(id: number, parent: number, height: number, header: Bytes): void {
    const isFirst = height % HEADERS_PER_CHUNK === 0;
    const begun = isFirst ? { hash: createHash('sha256') } : this.begun.get(parent);
    this.begun.delete(parent);
    const isBeyond = height >= (this.chunks.length / HASH_BYTES) * HEADERS_PER_CHUNK;
    if (begun === undefined || isBeyond || (height + 1) % HEADERS_PER_CHUNK === 0) return;
    this.begun.set(id, { hash: begun.hash.update(header), nextHeight: height + 1 });
    // Usually few branches have an incomplete group of headers. If there are more than the limit, the oldest entry is
    // deleted.
    if (this.begun.size > MAX_BRANCHES) this.begun.delete(this.begun.keys().next().value!);
  }
}

/** Maximum number of branches with an incomplete group of headers. Arbitrary: bounds the memory. */
const MAX_BRANCHES = 16;
