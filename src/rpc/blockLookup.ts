/** How methods find blocks and transactions, with the reference's errors where they are not to be had. */
import type { ChainReader } from '../chain/chainReader.js';
import type { LoadedBlock } from '../chain/loadedBlock.js';
import { transactionAt } from '../chain/checkBlockView.js';
import { txidAt } from '../primitives/blockView.js';
import { parseTransaction, txid, type Transaction } from '../primitives/transaction.js';
import type { CoinValue } from '../native/binding.js';
import { BlockFileError } from '../store/blockFiles.js';
import { parseUndo } from '../store/coinRow.js';
import { NO_HEADER } from '../store/headerTable.js';
import { equalBytes, hashToHex, type Bytes } from '../util/bytes.js';
import { Reader, ReadError } from '../util/reader.js';
import { RPC_ERROR, rpcError, type RpcError } from './errors.js';
import type { RpcServices } from './services.js';

/** Bytes read at first for a transaction; most are smaller. */
const FIRST_READ_BYTES = 4096;
/** No transaction is larger than a block. */
const LARGEST_READ_BYTES = 8_000_000;

/** The id of a known block; else -5. */
export function requireBlock(reader: ChainReader, hash: Bytes): number {
  const id = reader.headers.find(hash);
  if (id === NO_HEADER) throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Block not found');
  return id;
}

function noData({ chain, pruner }: RpcServices, id: number): RpcError {
  const pruned = pruner !== null && !chain.hasData(id) && chain.headers.txCount(id) > 0;
  return rpcError(
    RPC_ERROR.MISC_ERROR,
    pruned ? 'Block not available (pruned data)' : 'Block not found on disk',
  );
}

/** Whether the disk did not give what was stored there: the failure of one read, not of the node. */
function isUnreadable(error: unknown): error is Error {
  if (error instanceof BlockFileError || error instanceof ReadError) return true;
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).syscall === 'string';
}

/** What `read` gives, or null when the block's files cannot be read, of which the log then tells. */
async function orNull<T>(
  { chain, log }: RpcServices,
  id: number,
  read: () => T | Promise<T>,
): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    // Pruned while it was being read.
    if (!chain.hasData(id)) return null;
    if (!isUnreadable(error)) throw error;
    log.error(
      `block ${hashToHex(chain.headers.hash(id))} at height ${chain.headers.height(id)} cannot be read: ${error.message}`,
    );
    return null;
  }
}

/** A block, or null when its data never came, was pruned or cannot be read. Source: `ReadBlockFromDisk`. */
export async function readBlockOrNull(services: RpcServices, id: number): Promise<LoadedBlock | null> {
  const { chain } = services;
  return chain.hasData(id) ? orNull(services, id, () => chain.readBlock(id)) : null;
}

/** Reads a block; -1 when its data never came, was pruned or cannot be read. Source: `GetBlockChecked`. */
export async function readBlockChecked(services: RpcServices, id: number): Promise<LoadedBlock> {
  const block = await readBlockOrNull(services, id);
  if (block === null) throw noData(services, id);
  return block;
}

/** The coins that a block spends, in order; -1 when they cannot be read. Source: later Core's `GetUndoChecked`. */
export async function readUndoChecked(services: RpcServices, id: number): Promise<CoinValue[]> {
  const spent = await orNull(services, id, () => parseUndo(services.chain.readUndo(id)));
  if (spent === null) {
    throw rpcError(
      RPC_ERROR.MISC_ERROR,
      "Undo data expected but can't be read. This could be due to disk corruption or a conflict with a pruning event.",
    );
  }
  return spent;
}

/** A transaction and the block that it was found in, `NO_HEADER` for none. */
export interface FoundTransaction {
  readonly tx: Transaction;
  readonly block: number;
}

/** Number of the transaction in the block, -1 when it has none of that id. */
export function positionInBlock({ parsed }: LoadedBlock, wanted: Bytes): number {
  for (let n = 0; n < parsed.txCount; n++) if (equalBytes(txidAt(parsed, n), wanted)) return n;
  return -1;
}

/** The transaction from a given block, or null. */
export async function findInBlock(
  services: RpcServices,
  id: number,
  wanted: Bytes,
): Promise<FoundTransaction | null> {
  const block = await readBlockOrNull(services, id);
  if (block === null) return null;
  const at = positionInBlock(block, wanted);
  return at < 0 ? null : { tx: transactionAt(block.raw, block.parsed, at), block: id };
}

/** The transaction by the index, or null. */
async function findByIndex(services: RpcServices, wanted: Bytes): Promise<FoundTransaction | null> {
  const { chain, txIndex } = services;
  for (const { height, offset, staleBlock } of (await txIndex?.find(wanted)) ?? []) {
    const block = staleBlock ? chain.headers.find(staleBlock) : chain.chain.index.active.at(height);
    if (block === NO_HEADER || !chain.hasData(block)) continue;
    const tx = await readTransactionAt(services, block, offset);
    if (tx !== null && equalBytes(txid(tx), wanted)) return { tx, block };
  }
  return null;
}

async function readTransactionAt(
  services: RpcServices,
  block: number,
  offset: number,
): Promise<Transaction | null> {
  const { chain } = services;
  for (const length of [FIRST_READ_BYTES, LARGEST_READ_BYTES]) {
    const bytes = await orNull(services, block, () => chain.readPart(block, offset, length));
    if (bytes === null) return null;
    try {
      return parseTransaction(new Reader(bytes));
    } catch (error) {
      if (!(error instanceof ReadError)) throw error;
    }
  }
  // The index was asked before a reorganisation and the block after it: nothing lies there.
  return null;
}

/**
 * A transaction wherever it is: in the mempool, by the index, or with `useCoins` in the block of an unspent output.
 * Source: `GetTransaction`.
 */
export async function findTransaction(
  services: RpcServices,
  wanted: Bytes,
  useCoins: boolean,
): Promise<FoundTransaction | null> {
  const unconfirmed = services.mempool.transaction(wanted);
  if (unconfirmed !== null) return { tx: unconfirmed, block: NO_HEADER };
  if (services.txIndex !== null) return findByIndex(services, wanted);
  if (!useCoins) return null;
  const block = await blockOfCoin(services, wanted);
  return block === NO_HEADER ? null : findInBlock(services, block, wanted);
}

/** The block of the active chain whose transaction `wanted` has an unspent output, or `NO_HEADER`. */
export async function blockOfCoin(services: RpcServices, wanted: Bytes): Promise<number> {
  const coin = await services.chain.anyCoinOf(wanted);
  return coin === null ? NO_HEADER : services.chain.chain.index.active.at(coin.heightCode >>> 1);
}
