/**
 * The transaction index (`-txindex`): where each transaction of the active chain lies. A key holds the first eight bytes
 * of the txid, the height and the offset within the block, and no value; two transactions that share the bytes are told
 * apart when the transaction is read. Owns rows of the prefix `X`.
 */
import type { BlockContributor } from '../chain/contributor.js';
import type { LoadedBlock } from '../chain/loadedBlock.js';
import { TX_START, TX_STRIDE } from '../primitives/blockLayout.js';
import { txidAt } from '../primitives/blockView.js';
import { PREFIX, u32Key } from '../store/keys.js';
import { prefixEnd, type RowReader, type RowTransaction } from '../store/rows.js';
import { EMPTY_BYTES, toLatin1, type Bytes } from '../util/bytes.js';

const KEY_BYTES = 8;

export interface TxLocation {
  height: number;
  /** Offset of the transaction in the block's bytes. */
  offset: number;
}

const txPrefix = (txid: Bytes): string => PREFIX.txIndex + toLatin1(txid.subarray(0, KEY_BYTES));

function* keysOf(block: LoadedBlock, height: number): Generator<string> {
  const { parsed } = block;
  for (let tx = 0; tx < parsed.txCount; tx++) {
    yield txPrefix(txidAt(parsed, tx)) + u32Key(height) + u32Key(parsed.txs[tx * TX_STRIDE + TX_START]!);
  }
}

export const txIndex: BlockContributor = {
  connect(rows: RowTransaction, block: LoadedBlock, height: number): void {
    for (const key of keysOf(block, height)) rows.put(key, EMPTY_BYTES);
  },
  disconnect(rows: RowTransaction, block: LoadedBlock, height: number): void {
    for (const key of keysOf(block, height)) rows.del(key);
  },
};

/** Where transactions lie whose txid begins like this one, the newest first; the caller verifies the txid. */
export async function findTransaction(rows: RowReader, txid: Bytes): Promise<TxLocation[]> {
  const prefix = txPrefix(txid);
  const found: TxLocation[] = [];
  for await (const [key] of rows.range({ gte: prefix, lt: prefixEnd(prefix) })) {
    const at = Buffer.from(key.slice(prefix.length), 'latin1');
    found.push({ height: at.readUInt32BE(0), offset: at.readUInt32BE(4) });
  }
  return found.reverse();
}
