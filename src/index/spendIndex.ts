/**
 * The index of spends (`-spendindex`): which transaction of the active chain spent an output. A key has the first eight
 * bytes of the spent txid, the output index, and the position of the spender: the height of its block and the offset in the
 * bytes of the block. The value holds the first bytes of the spender's txid, to verify the transaction that is read later.
 * Two outputs with equal key bytes are distinguished when the spender is read. The rows of the index have the prefix `P`.
 */
import type { LoadedBlock } from '../chain/blocks/loadedBlock.js';
import {
  TX_FIRST_INPUT,
  TX_FLAGS,
  TX_INPUT_COUNT,
  TX_IS_COINBASE,
  TX_START,
  TX_STRIDE,
} from '../primitives/blockLayout.js';
import { prevoutAt, txidAt } from '../primitives/blockView.js';
import { PREFIX, readU32, u32Key } from '../store/rows/keys.js';
import { prefixEnd, type RowReader, type RowTransaction } from '../store/rows/rows.js';
import { yieldIfDue } from '../scheduler/yield.js';
import { fromLatin1, toLatin1, type Bytes } from '../util/bytes.js';
import type { ChainIndex } from './chainIndex.js';

/** Name of the index in `getindexinfo`. */
const SPEND_INDEX_NAME = 'spendindex';

const KEY_BYTES = 8;
/** Number of bytes of the spender's txid that a value contains. */
const CHECK_BYTES = 8;
/** Number of rows that are written between two checks whether to write pending rows to disk. */
const ROWS_A_LOOK = 2000;

/** Position of a transaction that may have spent an output. */
export interface SpenderPlace {
  readonly height: number;
  /** Offset of the transaction in the bytes of its block. */
  readonly offset: number;
  /** First bytes of the transaction's id, in wire order. */
  readonly txidStart: Bytes;
}

const spendPrefix = (txid: Bytes, n: number): string =>
  PREFIX.spend + toLatin1(txid.subarray(0, KEY_BYTES)) + u32Key(n);

/** Calls a function with the key and the value of each row that belongs to the block. */
async function walk(
  rows: RowTransaction,
  { raw, parsed }: LoadedBlock,
  height: number,
  write: (key: string, value: Bytes) => void,
): Promise<void> {
  let written = 0;
  let since = performance.now();
  for (let tx = 0; tx < parsed.txCount; tx++) {
    const row = tx * TX_STRIDE;
    if ((parsed.txs[row + TX_FLAGS]! & TX_IS_COINBASE) !== 0) continue;
    const place = u32Key(height) + u32Key(parsed.txs[row + TX_START]!);
    const value = txidAt(parsed, tx).subarray(0, CHECK_BYTES);
    const first = parsed.txs[row + TX_FIRST_INPUT]!;
    const end = first + parsed.txs[row + TX_INPUT_COUNT]!;
    for (let input = first; input < end; input++) {
      const prevout = prevoutAt(raw, parsed, input);
      write(spendPrefix(prevout, prevout.readUInt32LE(32)) + place, value);
    }
    written += end - first;
    if (written < ROWS_A_LOOK) continue;
    written = 0;
    await rows.relieve();
    since = await yieldIfDue(since);
  }
}

export const spendIndex: ChainIndex = {
  name: SPEND_INDEX_NAME,
  version: 1,
  prefixes: [PREFIX.spend],
  connect: (rows, block, height) => walk(rows, block, height, (key, value) => rows.put(key, value)),
  disconnect: (rows, block, height) => walk(rows, block, height, (key) => rows.del(key)),
};

/**
 * Finds transactions that may have spent the output, as positions in the chain. The caller must verify each one, because the
 * index compares only a part of the txid. More than one result is very rare.
 */
export async function findSpenders(rows: RowReader, txid: Bytes, n: number): Promise<SpenderPlace[]> {
  const prefix = spendPrefix(txid, n);
  const found = await rows.getRange({ gte: prefix, lt: prefixEnd(prefix) });
  return found.map(([key, value]) => ({
    height: readU32(key, prefix.length),
    offset: readU32(key, prefix.length + 4),
    txidStart: fromLatin1(toLatin1(value)),
  }));
}
