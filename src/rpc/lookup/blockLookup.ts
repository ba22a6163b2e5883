/** Looks up blocks and transactions for methods. Throws the reference's errors if they are not available. */
import type { ChainReader } from '../../chain/chainReader.js';
import type { LoadedBlock } from '../../chain/blocks/loadedBlock.js';
import {
  positionInBlock,
  storedTransactionAt,
  type StoredTransaction,
} from '../../chain/blocks/storedTransactions.js';
import type { Transaction } from '../../primitives/transaction.js';
import type { TxLocation } from '../../index/txIndex.js';
import type { CoinValue } from '../../native/binding.js';
import { BlockFileError } from '../../store/files/blockFiles.js';
import { parseUndo } from '../../store/cache/coinRow.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { hashToHex, type Bytes } from '../../util/bytes.js';
import { ReadError } from '../../util/reader.js';
import { isPromise, whenResolved, type MaybePromise } from '../../util/maybePromise.js';
import { RPC_ERROR, rpcError, type RpcError } from '../declare/errors.js';
import type { RpcServices } from '../../interfaces/services.js';

/** Returns the header id of a known block. Throws error -5 if the block is unknown. */
export function requireBlock(reader: ChainReader, hash: Bytes): number {
  const id = reader.headers.find(hash);
  if (id === NO_HEADER) throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Block not found');
  return id;
}

function noData({ chain, pruner }: RpcServices, id: number): RpcError {
  const behind = chain.behindSnapshot(id);
  if (behind !== null) return rpcError(RPC_ERROR.MISC_ERROR, behind);
  const pruned = pruner !== null && !chain.hasData(id) && chain.headers.txCount(id) > 0;
  return rpcError(
    RPC_ERROR.MISC_ERROR,
    pruned ? 'Block not available (pruned data)' : 'Block not found on disk',
  );
}

/** Whether the error says that stored data could not be read from disk. Such an error affects one result, not the whole node. */
function isUnreadable(error: unknown): error is Error {
  return error instanceof BlockFileError || error instanceof ReadError;
}

/** Returns the result of `read`, or null if the block's files cannot be read. The read error is logged. */
async function orNull<T>(
  { chain, log }: RpcServices,
  id: number,
  read: () => T | Promise<T>,
): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    // The error means that the block was pruned while it was being read.
    if (!chain.hasData(id)) return null;
    if (!isUnreadable(error)) throw error;
    log.error(
      `block ${hashToHex(chain.headers.hash(id))} at height ${chain.headers.height(id)} cannot be read: ${error.message}`,
    );
    return null;
  }
}

/** Reads a block. Returns null if its data was never received, was pruned or cannot be read. Source: `ReadBlockFromDisk`. */
export async function readBlockOrNull(services: RpcServices, id: number): Promise<LoadedBlock | null> {
  const { chain } = services;
  return chain.hasData(id) ? orNull(services, id, () => chain.readBlock(id)) : null;
}

/** Like `readBlockOrNull`, for the serialized block. */
export async function readBlockBytesOrNull(services: RpcServices, id: number): Promise<Buffer | null> {
  const { chain } = services;
  return chain.hasData(id) ? orNull(services, id, () => chain.readBlockBytes(id)) : null;
}

/** Like `readBlockChecked`, for the serialized block. */
export async function readBlockBytesChecked(services: RpcServices, id: number): Promise<Buffer> {
  const bytes = await readBlockBytesOrNull(services, id);
  if (bytes === null) throw noData(services, id);
  return bytes;
}

/** Reads a block. Throws error -1 if its data was never received, was pruned or cannot be read. Source: `GetBlockChecked`. */
export async function readBlockChecked(services: RpcServices, id: number): Promise<LoadedBlock> {
  const block = await readBlockOrNull(services, id);
  if (block === null) throw noData(services, id);
  return block;
}

/**
 * Returns the coins that a block spends, in order. Throws error -1 if they cannot be read. Source: later Core's
 * `GetUndoChecked`.
 */
export async function readUndoChecked(services: RpcServices, id: number): Promise<CoinValue[]> {
  return undoChecked(services, id, parseUndo);
}

/** Returns the coins that a block spends as bytes (`resolvedFromUndo`). Throws error -1 if they cannot be read. */
export async function readUndoBytesChecked(services: RpcServices, id: number): Promise<Buffer> {
  return undoChecked(services, id, (undo) => undo);
}

async function undoChecked<T>(services: RpcServices, id: number, read: (undo: Buffer) => T): Promise<T> {
  const behind = services.chain.behindSnapshot(id);
  if (behind !== null) throw rpcError(RPC_ERROR.MISC_ERROR, behind);
  const spent = await orNull(services, id, () => read(services.chain.readUndo(id)));
  if (spent === null) {
    throw rpcError(
      RPC_ERROR.MISC_ERROR,
      "Undo data expected but can't be read. This could be due to disk corruption or a conflict with a pruning event.",
    );
  }
  return spent;
}

/** A transaction, and the header id of its block. The id is `NO_HEADER` for a mempool transaction. */
export interface FoundTransaction {
  readonly tx: Transaction;
  readonly block: number;
  /** The transaction with its position and ids as stored in its block; null for a mempool transaction. */
  readonly stored: StoredTransaction | null;
}

class TransactionInBlock implements FoundTransaction {
  readonly block: number;
  readonly stored: StoredTransaction;

  constructor(block: number, stored: StoredTransaction) {
    this.block = block;
    this.stored = stored;
  }

  get tx(): Transaction {
    return this.stored.tx;
  }
}

/** Searches a transaction in a given block; null if the block does not contain it. */
export async function findInBlock(
  services: RpcServices,
  id: number,
  wanted: Bytes,
): Promise<FoundTransaction | null> {
  const block = await readBlockOrNull(services, id);
  if (block === null) return null;
  const at = positionInBlock(block, wanted);
  return at < 0 ? null : new TransactionInBlock(id, storedTransactionAt(block, at));
}

/**
 * Searches a transaction with the transaction index; null if it is not found. Throws `BlockFileError` if its block is
 * corrupt, because reporting the transaction as missing would be wrong.
 */
export function findByIndex(services: RpcServices, wanted: Bytes): MaybePromise<FoundTransaction | null> {
  return whenResolved(services.txIndex?.find(wanted) ?? [], (places) => findAt(services, wanted, places, 0));
}

/** Searches the transaction at the given positions, starting with position number `first`. Null if it is at none of them. */
function findAt(
  services: RpcServices,
  wanted: Bytes,
  places: readonly TxLocation[],
  first: number,
): MaybePromise<FoundTransaction | null> {
  const { chain } = services;
  for (let n = first; n < places.length; n++) {
    const { height, offset, staleBlock, witness } = places[n]!;
    const block = staleBlock ? chain.headers.find(staleBlock) : chain.chain.index.active.at(height);
    if (block === NO_HEADER || !chain.hasData(block)) continue;
    const stored = chain.readTransaction(block, { txid: wanted, offset, witness });
    if (!isPromise(stored)) return new TransactionInBlock(block, stored);
    return stored.then(
      (read) =>
        read === null ? findAt(services, wanted, places, n + 1) : new TransactionInBlock(block, read),
      (error: unknown) => {
        if (chain.hasData(block)) throw error;
        // The error means that the block was pruned while it was being read.
        return findAt(services, wanted, places, n + 1);
      },
    );
  }
  return null;
}

/**
 * Finds a transaction: in the mempool, with the transaction index, or with `useCoins` in the block of one of its unspent
 * outputs. Source: `GetTransaction`.
 */
export function findTransaction(
  services: RpcServices,
  wanted: Bytes,
  useCoins: boolean,
): MaybePromise<FoundTransaction | null> {
  const unconfirmed = services.mempool.transaction(wanted);
  if (unconfirmed !== null) return { tx: unconfirmed, block: NO_HEADER, stored: null };
  if (services.txIndex !== null) return findByIndex(services, wanted);
  return useCoins ? findByCoins(services, wanted) : null;
}

async function findByCoins(services: RpcServices, wanted: Bytes): Promise<FoundTransaction | null> {
  const block = await blockOfCoin(services, wanted);
  return block === NO_HEADER ? null : findInBlock(services, block, wanted);
}

/**
 * Returns the block of the active chain that contains the transaction `wanted`, if it has an unspent output; otherwise
 * `NO_HEADER`.
 */
async function blockOfCoin(services: RpcServices, wanted: Bytes): Promise<number> {
  const coin = await services.chain.anyCoinOf(wanted);
  return coin === null ? NO_HEADER : services.chain.chain.index.active.at(coin.heightCode >>> 1);
}

/**
 * Returns the block that contains the first of the transactions that has an unspent output. If none has one, returns
 * `NO_HEADER`.
 */
export async function blockOfFirstCoin(services: RpcServices, wanted: Iterable<Bytes>): Promise<number> {
  const coin = await services.chain.anyCoinOfAny(wanted);
  return coin === null ? NO_HEADER : services.chain.chain.index.active.at(coin.heightCode >>> 1);
}
