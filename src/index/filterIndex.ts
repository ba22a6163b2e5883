/**
 * The index of compact block filters (`-blockfilterindex`): the basic filter of each block of the active chain, its hash and
 * its header. Once the index is filled up to the tip, its rows are written in the commit of each block, and deleted when the
 * block is disconnected. Its rows have the prefixes `F` and `G`.
 */
import type { ActiveChain } from '../chain/index/activeChain.js';
import type { LoadedBlock } from '../chain/blocks/loadedBlock.js';
import type { ResolvedInputs } from '../native/binding.js';
import { INPUT_STRIDE, OUTPUT_STRIDE, TX_INPUT_COUNT } from '../primitives/blockLayout.js';
import { outputScriptAt } from '../primitives/blockView.js';
import { PREFIX, readU32, u32Key } from '../store/rows/keys.js';
import type { RowReader } from '../store/rows/rows.js';
import { assert } from '../util/assert.js';
import { asBuffer, type Bytes } from '../util/bytes.js';
import type { ChainIndex } from './chainIndex.js';
import { buildFilter, FilterElements, filterHash, filterHeader } from './compactFilter.js';

/** Name of the index in `getindexinfo`, as in Bitcoin Core. */
export const FILTER_INDEX_NAME = 'basic block filter index';

const HASH_BYTES = 32;
/** Filter header that precedes that of the genesis block: zeros. */
const NO_HEADER = Buffer.alloc(HASH_BYTES);

const filterKey = (height: number): string => PREFIX.blockFilter + u32Key(height);
const headerKey = (height: number): string => PREFIX.filterHeader + u32Key(height);

/** Hash and header of a filter, both in wire order. */
export interface FilterHeader {
  readonly hash: Buffer;
  readonly header: Buffer;
}

function parseHeaderRow(row: Bytes): FilterHeader {
  const bytes = asBuffer(row);
  return { hash: bytes.subarray(0, HASH_BYTES), header: bytes.subarray(HASH_BYTES) };
}

/** Builds the filter of a block from the scripts of its outputs and of the outputs that it spends. */
function filterOf({ raw, parsed, hash }: LoadedBlock, resolved: ResolvedInputs): Buffer {
  const inputs = parsed.inputs.length / INPUT_STRIDE;
  const outputs = parsed.outputs.length / OUTPUT_STRIDE;
  const elements = new FilterElements();
  for (let n = 0; n < outputs; n++) elements.addOutput(outputScriptAt(raw, parsed, n));
  for (let input = parsed.txs[TX_INPUT_COUNT]!; input < inputs; input++) {
    const at = resolved.scriptOffsets[input]!;
    elements.addSpent(resolved.scripts.subarray(at, at + resolved.scriptLengths[input]!));
  }
  return buildFilter(elements.list, hash);
}

export const filterIndex: ChainIndex = {
  name: FILTER_INDEX_NAME,
  version: 1,
  prefixes: [PREFIX.blockFilter, PREFIX.filterHeader],
  async connect(rows, block, height, resolved) {
    let before: Bytes = NO_HEADER;
    if (height > 0) {
      const row = await rows.get(headerKey(height - 1));
      assert(row, 'the filter of a block is missing');
      before = parseHeaderRow(row).header;
    }
    const filter = filterOf(block, resolved);
    const hash = filterHash(filter);
    rows.put(filterKey(height), filter);
    rows.put(headerKey(height), Buffer.concat([hash, filterHeader(hash, before)]));
  },
  disconnect(rows, _block, height) {
    rows.del(filterKey(height));
    rows.del(headerKey(height));
  },
};

/**
 * Queries of the filter index. They resolve to null if the block is not on the active chain, or is disconnected during the
 * query.
 */
export class BlockFilters {
  private readonly rows: RowReader;
  private readonly active: Pick<ActiveChain, 'at' | 'disconnects'>;

  constructor(rows: RowReader, active: Pick<ActiveChain, 'at' | 'disconnects'>) {
    this.rows = rows;
    this.active = active;
  }

  filter(id: number, height: number): Promise<Buffer | null> {
    return this.read(id, height, async () => {
      const row = await this.rows.get(filterKey(height));
      return row ? asBuffer(row) : null;
    });
  }

  /** Hashes and headers of the filters from height `first` up to `height`, in order. `id` is the block at `height`. */
  headers(id: number, height: number, first: number): Promise<FilterHeader[] | null> {
    return this.read(id, height, async () => {
      const range = { gte: headerKey(first), lt: headerKey(height + 1) };
      const found = await this.rows.getRange(range);
      const isWhole = found.length === height + 1 - first && found.every(([key], i) => isAt(key, first + i));
      return isWhole ? found.map(([, row]) => parseHeaderRow(row)) : null;
    });
  }

  /**
   * Filter headers of the blocks at these heights. `id` is the block at `height`. The last of the heights is that of this
   * block or of its parent.
   */
  headersAt(id: number, height: number, heights: readonly number[]): Promise<Buffer[] | null> {
    return this.read(id, height, async () => {
      const headers: Buffer[] = [];
      for (const row of await this.rows.getMany(heights.map(headerKey))) {
        if (!row) return null;
        headers.push(parseHeaderRow(row).header);
      }
      return headers;
    });
  }

  private async read<T>(id: number, height: number, query: () => Promise<T | null>): Promise<T | null> {
    const { active } = this;
    const { disconnects } = active;
    if (active.at(height) !== id) return null;
    const answer = await query();
    return active.disconnects === disconnects ? answer : null;
  }
}

function isAt(key: string, height: number): boolean {
  return readU32(key, PREFIX.filterHeader.length) === height;
}
