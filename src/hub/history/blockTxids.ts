/** Caches the transaction ids of recently requested blocks, and computes merkle branches from them. */
import type { ChainReader } from '../../chain/chainReader.js';
import { merklePath } from '../../crypto/merkle.js';
import type { Bytes } from '../../util/bytes.js';

const HASH_BYTES = 32;
/** Maximum size of the cache in bytes. Arbitrary: enough for a million ids. */
const MAX_KEPT_BYTES = 32 << 20;

export interface MerkleProof {
  /** Index of the transaction in its block. */
  readonly position: number;
  /** Sibling hashes from the leaf to the root, in wire order. */
  readonly branch: readonly Buffer[];
}

export class BlockTxids {
  private readonly reader: ChainReader;
  private readonly maxBytes: number;
  /** Ids by block. The most recently used block is the last. */
  private readonly kept = new Map<number, Buffer>();
  private readonly loading = new Map<number, Promise<Buffer>>();
  private keptBytes = 0;

  constructor(reader: ChainReader, maxBytes = MAX_KEPT_BYTES) {
    this.reader = reader;
    this.maxBytes = maxBytes;
  }

  /** The concatenated transaction ids of a block, in wire order. */
  of(id: number): Buffer | Promise<Buffer> {
    const known = this.kept.get(id);
    if (known === undefined) return this.load(id);
    this.kept.delete(id);
    this.kept.set(id, known);
    return known;
  }

  private load(id: number): Promise<Buffer> {
    const underWay = this.loading.get(id);
    if (underWay) return underWay;
    const loading = this.read(id).finally(() => this.loading.delete(id));
    this.loading.set(id, loading);
    return loading;
  }

  private async read(id: number): Promise<Buffer> {
    const { parsed } = await this.reader.readBlock(id);
    const txids = Buffer.from(parsed.txids.subarray(0, parsed.txCount * HASH_BYTES));
    this.kept.set(id, txids);
    this.keptBytes += txids.length;
    for (const [old, { length }] of this.kept) {
      if (this.keptBytes <= this.maxBytes || old === id) break;
      this.kept.delete(old);
      this.keptBytes -= length;
    }
    return txids;
  }

  /** Computes the index of a transaction in a block and its merkle branch; null if the block does not contain the transaction. */
  async prove(id: number, txid: Bytes): Promise<MerkleProof | null> {
    const txids = await this.of(id);
    const position = positionOf(txids, txid);
    return position < 0 ? null : { position, branch: merklePath(txids, position) };
  }
}

/** Returns the index of a txid among concatenated txids; -1 if it is not among them. */
export function positionOf(txids: Buffer, txid: Bytes): number {
  for (let at = txids.indexOf(txid); at >= 0; at = txids.indexOf(txid, at + 1)) {
    if (at % HASH_BYTES === 0) return at / HASH_BYTES;
  }
  return -1;
}
