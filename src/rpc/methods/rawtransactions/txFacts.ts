/**
 * Data that `gettxinfo` shows about a transaction of the active chain and that does not change while its block stays in the
 * chain: the transaction, its position in the block, and the coins that it spends. The data of recent transactions is
 * cached, because finding it requires reading the block and its undo data. The cache is limited in size.
 */
import { isCoinbase } from '../../../primitives/transaction.js';
import { NO_HEADER } from '../../../store/files/headerTable.js';
import { BoundedMap } from '../../../util/boundedMap.js';
import { toLatin1, type Bytes } from '../../../util/bytes.js';
import type { MaybePromise } from '../../../util/maybePromise.js';
import { findTransaction, type FoundTransaction } from '../../lookup/blockLookup.js';
import { shownStored, shownTransaction } from '../../format/transaction.js';
import type { RpcServices } from '../../../interfaces/services.js';
import { coinsInUndo, placeInBlock, type InputCoin } from './txInfoFacts.js';

/** Maximum serialized size in bytes of all cached transactions, and of one. The objects use about five times as much memory. */
const MOST_BYTES = 1 << 20;
const MOST_BYTES_OF_ONE = 1 << 17;

export interface TxFacts {
  readonly found: FoundTransaction;
  readonly shown: ReturnType<typeof shownTransaction>;
  /** Position of the transaction in its block; undefined for a mempool transaction, and if the block is not on disk. */
  readonly position: number | undefined;
  /**
   * The coins that the transaction spends, in the order of its inputs. Null if they are unknown, and for mempool
   * transactions.
   */
  readonly spent: readonly InputCoin[] | null;
  /** Sum of the amounts of `spent`; null if the coins are unknown. */
  readonly spentSat: bigint | null;
  /** Sum of the amounts of all outputs. */
  readonly paidSat: bigint;
}

export class TxFactsCache {
  private readonly known = new BoundedMap<string, TxFacts>(MOST_BYTES);

  /**
   * Returns the cached data about a transaction of the mempool or of a block; null if the transaction is not found.
   * Synchronous if the data is cached.
   */
  of(services: RpcServices, txid: Bytes): MaybePromise<TxFacts | null> {
    // Without the transaction index, a transaction is found by its unspent outputs. New blocks change these, so the result
    // is not cached.
    if (services.txIndex === null) return readFacts(services, txid);
    const key = toLatin1(txid);
    const known = this.known.get(key);
    const isValid = known !== undefined && isPresent(services, known.found.block);
    return isValid ? known : this.read(services, txid, key);
  }

  private async read(services: RpcServices, txid: Bytes, key: string): Promise<TxFacts | null> {
    const facts = await readFacts(services, txid);
    if (facts === null) this.known.delete(key);
    else this.keep(services, key, facts);
    return facts;
  }

  private keep(services: RpcServices, key: string, facts: TxFacts): void {
    const { found, shown, spent } = facts;
    const isWhole = isPresent(services, found.block) && (spent !== null || isCoinbase(found.tx));
    if (isWhole && shown.sizeBytes <= MOST_BYTES_OF_ONE) this.known.set(key, facts, shown.sizeBytes);
    else this.known.delete(key);
  }
}

/** Whether the block is in the active chain and on disk. */
function isPresent({ chain }: RpcServices, block: number): boolean {
  return block !== NO_HEADER && chain.chain.index.active.contains(block) && chain.hasData(block);
}

async function readFacts(services: RpcServices, txid: Bytes): Promise<TxFacts | null> {
  const found = await findTransaction(services, txid, true);
  if (found === null) return null;
  const { tx, stored, block } = found;
  const shown = stored === null ? shownTransaction(tx) : shownStored(stored);
  const paidSat = tx.outputs.reduce((sum, { value }) => sum + value, 0n);
  const of = { found, shown, paidSat };
  if (block === NO_HEADER) return { ...of, position: undefined, spent: null, spentSat: null };
  const place = await placeInBlock(services, block, txid);
  const spent = place === null || isCoinbase(tx) ? null : coinsInUndo(services, block, place);
  const spentSat = spent && spent.reduce((sum, { amount }) => sum + amount, 0n);
  return { ...of, position: place?.position, spent, spentSat };
}
