/**
 * Cache of the last few found or connected blocks, which many peers request at the same time. It avoids disk reads, and each
 * compact form is built only once. Source: Core net_processing.cpp `most_recent_block`, `most_recent_compact_block`.
 */
import type { ConnectedBlock } from '../../chain/chainEvents.js';
import type { LoadedBlock } from '../../chain/blocks/loadedBlock.js';
import { parseHeaderBytes } from '../../primitives/header.js';
import { asBuffer } from '../../util/bytes.js';
import { buildCompactBlock } from '../compact/compactBlock.js';
import { cmpctblockCodec } from '../messages/cmpctblock.js';
import { formatPayload } from '../messages/codec.js';
import type { RandomSource } from '../messageHandler.js';

/** Number of blocks in the cache. Only the last few blocks may still be announced. */
const KEPT = 3;

export class RecentBlock {
  readonly id: number;
  readonly block: LoadedBlock;
  private readonly random: RandomSource;
  private readonly compact = new Map<boolean, Buffer>();

  constructor(id: number, block: LoadedBlock, random: RandomSource) {
    this.id = id;
    this.block = block;
    this.random = random;
  }

  /** Returns the payload of a cmpctblock message, of version 2 (`withWitness`) or version 1. */
  compactPayload(withWitness: boolean): Buffer {
    let payload = this.compact.get(withWitness);
    if (!payload) {
      const message = buildCompactBlock(this.block, this.random.u64(), withWitness);
      payload = formatPayload(cmpctblockCodec, message);
      this.compact.set(withWitness, payload);
    }
    return payload;
  }
}

export class RecentBlocks {
  private readonly random: RandomSource;
  private readonly blocks = new Map<number, RecentBlock>();

  constructor(random: RandomSource) {
    this.random = random;
  }

  /** Adds a block to the cache. Removes the oldest block if the cache is full. */
  add({ id, raw, parsed, hash }: Pick<ConnectedBlock, 'id' | 'raw' | 'parsed' | 'hash'>): RecentBlock {
    let recent = this.blocks.get(id);
    if (!recent) {
      const header = parseHeaderBytes(raw);
      const block = { raw, parsed, header, hash: asBuffer(hash), consumedBytes: raw.length };
      recent = new RecentBlock(id, block, this.random);
    }
    this.blocks.delete(id);
    this.blocks.set(id, recent);
    if (this.blocks.size > KEPT) this.blocks.delete(this.blocks.keys().next().value!);
    return recent;
  }

  find(id: number): RecentBlock | undefined {
    return this.blocks.get(id);
  }
}
