/** Address index for the RPC methods: rows of the index for blocks, and changes by mempool transactions. */
import { AddressQueries } from '../../index/addressQueries.js';
import { MempoolAddresses } from '../../index/mempoolAddresses.js';
import type { Mempool } from '../../mempool/mempool.js';
import type { MempoolEntry } from '../../mempool/mempoolReader.js';
import { parseTransaction } from '../../primitives/transaction.js';
import type { AddressService } from '../../interfaces/services.js';
import type { RowReader } from '../../store/rows/rows.js';
import { Reader } from '../../util/reader.js';

/**
 * Creates the service, which follows the mempool from its first transaction on. `rows` must be called only after the chain
 * is open.
 */
export function addressService(mempool: Mempool, rows: () => RowReader): AddressService {
  const unconfirmed = new MempoolAddresses();
  const listeners = new Set<(scriptKeys: readonly string[]) => void>();
  const tell = (scriptKeys: readonly string[]): void => {
    if (scriptKeys.length > 0) for (const listener of listeners) listener(scriptKeys);
  };
  // When a transaction changes, its children are reported too, because their reports state whether they spend unconfirmed
  // outputs.
  const tellOfChildren = ({ children }: MempoolEntry): void => {
    if (listeners.size > 0) for (const child of children) tell(unconfirmed.scriptKeysOf(child));
  };
  mempool.listen({
    added(entry, bytes, spentScripts) {
      tell(unconfirmed.add(entry.txid, parseTransaction(new Reader(bytes)), spentScripts));
      tellOfChildren(entry);
    },
    removed(entry) {
      const scriptKeys = unconfirmed.scriptKeysOf(entry.txid);
      unconfirmed.remove(entry.txid);
      tell(scriptKeys);
      tellOfChildren(entry);
    },
  });
  return {
    totals: (scriptKeys) => new AddressQueries(rows()).totals(scriptKeys),
    history: (scriptKeys, request) => new AddressQueries(rows()).history(scriptKeys, request),
    unspent: (scriptKeys, request) => new AddressQueries(rows()).unspent(scriptKeys, request),
    ofMempool: (scriptKey) => unconfirmed.ofScript(scriptKey),
    onMempool(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    mempoolTransactions: (scriptKeys, first) => unconfirmed.transactionsOf(scriptKeys, first),
  };
}
