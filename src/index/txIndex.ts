/**
 * The transaction index (`-txindex`): where each transaction of the active chain lies. A key holds the first eight bytes
 * of the txid, the height and the offset within the block, and no value; two transactions that share the bytes are told
 * apart when the transaction is read. Owns rows of the prefix `X`.
 * QUIRK: the reference forgets nothing when a block is disconnected, so that what was in a block stays to be had; here
 * the row gets the block's id as its value. Test: test/unit/rpc/methods/rawtransactions/getRawTransaction.test.ts.
 */
import type { BlockContributor } from '../chain/contributor.js';
import type { LoadedBlock } from '../chain/loadedBlock.js';
import { TX_START, TX_STRIDE } from '../primitives/blockLayout.js';
import { txidAt } from '../primitives/blockView.js';
import { PREFIX, u32Key } from '../store/keys.js';
import { prefixEnd, type RowReader, type RowTransaction } from '../store/rows.js';
import { EMPTY_BYTES, fromLatin1, toLatin1, type Bytes } from '../util/bytes.js';

const KEY_BYTES = 8;

export interface TxLocation {
  height: number;
  /** Offset of the transaction in the block's bytes. */
  offset: number;
  /** Id of the block in wire order when it was disconnected; null for the block of the active chain. */
  staleBlock: Bytes | null;
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
    for (const key of keysOf(block, height)) rows.put(key, block.hash);
  },
};

/**
 * Where transactions lie whose txid begins like this one: those of the active chain first, then the disconnected ones,
 * the highest first; the caller verifies the txid.
 */
export async function findTransaction(rows: RowReader, txid: Bytes): Promise<TxLocation[]> {
  const prefix = txPrefix(txid);
  const active: TxLocation[] = [];
  const stale: TxLocation[] = [];
  const range = { gte: prefix, lt: prefixEnd(prefix), reverse: true };
  for await (const [key, value] of rows.range(range)) {
    const at = fromLatin1(key.slice(prefix.length));
    const staleBlock = value.length > 0 ? value : null;
    const location = { height: at.readUInt32BE(0), offset: at.readUInt32BE(4), staleBlock };
    (staleBlock === null ? active : stale).push(location);
  }
  return [...active, ...stale];
}
