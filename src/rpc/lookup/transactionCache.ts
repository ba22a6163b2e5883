/**
 * Cache of data about confirmed transactions that stays valid until a block spends one of their outputs. A disconnected block
 * clears it, and so do many blocks without a request for its data. The cache is limited in size.
 */
import type { ChainEvents, ConnectedBlock } from '../../chain/chainEvents.js';
import { INPUT_PREVOUT, INPUT_STRIDE } from '../../primitives/blockLayout.js';
import { BoundedMap } from '../../util/boundedMap.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';

/** If nothing was requested for this number of blocks, everything is removed. Arbitrary. */
const MOST_UNUSED_BLOCKS = 16;
const TXID_BYTES = 32;

/** State of the chain at the start of a read, see `TransactionCache.set`. */
export type ChainMark = number;

export class TransactionCache<Value> {
  private readonly entries: BoundedMap<string, Value>;
  private changes = 0;
  private unusedBlocks = 0;

  /** `most`: limit of the sum of the sizes that the caller gives. */
  constructor(events: Pick<ChainEvents, 'on'>, most: number) {
    this.entries = new BoundedMap(most);
    events.on('blockConnected', (block) => this.connected(block));
    events.on('blockDisconnected', () => {
      this.changes++;
      this.entries.clear();
    });
  }

  /** Sum of the sizes of the cached data. */
  get size(): number {
    return this.entries.size;
  }

  get mark(): ChainMark {
    return this.changes;
  }

  get(txid: Bytes): Value | undefined {
    const known = this.entries.get(toLatin1(txid));
    if (known !== undefined) this.unusedBlocks = 0;
    return known;
  }

  /** Caches data of the active chain, unless a block was connected or disconnected since `mark`. */
  set(txid: Bytes, value: Value, size: number, mark: ChainMark): void {
    if (mark !== this.changes) return;
    this.entries.set(toLatin1(txid), value, size);
    this.unusedBlocks = 0;
  }

  private connected({ raw, parsed }: ConnectedBlock): void {
    this.changes++;
    if (this.entries.size === 0) return;
    if (++this.unusedBlocks > MOST_UNUSED_BLOCKS) return this.entries.clear();
    const { inputs } = parsed;
    for (let at = INPUT_PREVOUT; at < inputs.length; at += INPUT_STRIDE) {
      const spent = inputs[at]!;
      this.entries.delete(raw.toString('latin1', spent, spent + TXID_BYTES));
    }
  }
}
