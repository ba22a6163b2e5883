/** The address index as the RPC methods see it: the rows of the chain, and what the mempool adds. */
import type { ChainReader } from '../chain/chainReader.js';
import { AddressQueries } from '../index/addressQueries.js';
import { MempoolAddresses } from '../index/mempoolAddresses.js';
import type { Mempool } from '../mempool/mempool.js';
import { parseTransaction } from '../primitives/transaction.js';
import type { AddressService } from '../rpc/services.js';
import type { RowReader } from '../store/rows.js';
import { Reader } from '../util/reader.js';

/** Follows the mempool from its first transaction on; `rows` may be asked for once the chain is open. */
export function addressService(mempool: Mempool, reader: ChainReader, rows: () => RowReader): AddressService {
  const unconfirmed = new MempoolAddresses({
    // What a transaction spends was loaded when it was looked at, a moment ago.
    scriptOf: (outPoint) => mempool.output(outPoint)?.script ?? reader.cachedCoin(outPoint)?.script ?? null,
  });
  mempool.listen({
    added: ({ txid }, bytes) => unconfirmed.add(txid, parseTransaction(new Reader(bytes))),
    removed: ({ txid }) => unconfirmed.remove(txid),
  });
  return {
    totals: (scriptKeys) => new AddressQueries(rows()).totals(scriptKeys),
    history: (scriptKeys, request) => new AddressQueries(rows()).history(scriptKeys, request),
    unspent: (scriptKeys, request) => new AddressQueries(rows()).unspent(scriptKeys, request),
    mempoolTransactions: (scriptKeys, first) => unconfirmed.transactionsOf(scriptKeys, first),
  };
}
