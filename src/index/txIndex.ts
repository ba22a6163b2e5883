/**
 * The transaction index (`-txindex`): the position of each transaction of the active chain. A key holds the first eight
 * bytes of the txid, the height and the offset within the block. Two transactions with equal key bytes are distinguished
 * when they are read. The value of a transaction with witness is the first bytes of its wtxid, to verify the transaction
 * that is read later; other transactions have an empty value. The rows of the index have the prefix `X`. QUIRK: the
 * reference deletes no rows when a block is disconnected, so transactions of stale blocks stay available. Here such a row
 * gets the id of the block as its value. Test: test/unit/rpc/methods/rawtransactions/getRawTransaction.test.ts.
 */
import type { LoadedBlock } from '../chain/blocks/loadedBlock.js';
import { WITNESS_CHECK_BYTES } from '../chain/blocks/storedTransactions.js';
import { loadNative } from '../native/binding.js';
import { TX_FLAGS, TX_HAS_WITNESS, TX_START, TX_STRIDE } from '../primitives/blockLayout.js';
import { txidAt, wtxidAt } from '../primitives/blockView.js';
import { PREFIX, readU32, u32Key } from '../store/rows/keys.js';
import { prefixEnd, type RowReader, type RowTransaction, type RowWriter } from '../store/rows/rows.js';
import { EMPTY_BYTES, toLatin1, type Bytes } from '../util/bytes.js';
import { whenResolved, type MaybePromise } from '../util/maybePromise.js';
import type { ChainIndex } from './chainIndex.js';

const KEY_BYTES = 8;

export interface TxLocation {
  height: number;
  /** Offset of the transaction in the block's bytes. */
  offset: number;
  /**
   * Id (wire order) of the disconnected block that contains the transaction; null if the transaction is in a block of the
   * active chain.
   */
  staleBlock: Bytes | null;
  /** First bytes of the wtxid. Null if the transaction has no witness or the row does not contain these bytes. */
  witness: Bytes | null;
}

const txPrefix = (txid: Bytes): string => PREFIX.txIndex + toLatin1(txid.subarray(0, KEY_BYTES));

function keyOf({ parsed }: LoadedBlock, tx: number, height: number): string {
  return txPrefix(txidAt(parsed, tx)) + u32Key(height) + u32Key(parsed.txs[tx * TX_STRIDE + TX_START]!);
}

/** The row value for a transaction of the active chain. */
function valueOf({ parsed }: LoadedBlock, tx: number): Bytes {
  if ((parsed.txs[tx * TX_STRIDE + TX_FLAGS]! & TX_HAS_WITNESS) === 0) return EMPTY_BYTES;
  return wtxidAt(parsed, tx).subarray(0, WITNESS_CHECK_BYTES);
}

/** Adds the rows of a block. Fallback of the addon's function. */
export function putTxRows(rows: RowWriter, block: LoadedBlock, height: number): void {
  for (let tx = 0; tx < block.parsed.txCount; tx++) rows.put(keyOf(block, tx, height), valueOf(block, tx));
}

export const txIndex: ChainIndex = {
  name: 'txindex',
  version: 1,
  prefixes: [PREFIX.txIndex],
  connect(rows: RowTransaction, block: LoadedBlock, height: number): void {
    const native = loadNative();
    if (native) rows.putRecords(PREFIX.txIndex, native.txRows(block.raw, block.parsed, height));
    else putTxRows(rows, block, height);
  },
  disconnect(rows: RowTransaction, block: LoadedBlock, height: number): void {
    for (let tx = 0; tx < block.parsed.txCount; tx++) rows.put(keyOf(block, tx, height), block.hash);
  },
};

/**
 * Finds transactions whose txid starts with the same bytes as `txid`. Returns positions: first on the active chain, then in
 * disconnected blocks by descending height. The caller must verify the txid.
 */
export function findTransaction(rows: RowReader, txid: Bytes): MaybePromise<TxLocation[]> {
  const prefix = txPrefix(txid);
  const range = { gte: prefix, lt: prefixEnd(prefix), reverse: true };
  return whenResolved(rows.getRangeNow?.(range) ?? rows.getRange(range), (found) =>
    locationsOf(found, prefix.length),
  );
}

function locationsOf(rows: readonly [string, Bytes][], at: number): TxLocation[] {
  const active: TxLocation[] = [];
  const stale: TxLocation[] = [];
  for (const [key, value] of rows) {
    const isStale = value.length > WITNESS_CHECK_BYTES;
    (isStale ? stale : active).push({
      height: readU32(key, at),
      offset: readU32(key, at + 4),
      staleBlock: isStale ? value : null,
      witness: value.length === WITNESS_CHECK_BYTES ? value : null,
    });
  }
  return stale.length === 0 ? active : [...active, ...stale];
}
