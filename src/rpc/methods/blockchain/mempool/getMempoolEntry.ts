/** `getmempoolentry`: the data of one unconfirmed transaction. */
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import type { MempoolEntry, MempoolReader } from '../../../../mempool/mempoolReader.js';
import type { Bytes } from '../../../../util/bytes.js';
import { MEMPOOL_ENTRY_SCHEMA, mempoolEntryAnswer } from '../../../format/mempool.js';
import { defineMethod } from '../../../declare/method.js';

/** Returns the mempool entry of a transaction. Throws error -5 if the transaction is not in the mempool. */
export function requireEntry(mempool: MempoolReader, txid: Bytes): MempoolEntry {
  const entry = mempool.entry(txid);
  if (entry === null) throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Transaction not in mempool');
  return entry;
}

export const getMempoolEntry = defineMethod({
  name: 'getmempoolentry',
  category: 'blockchain',
  explorer: 'console',
  chainUse: 'reads',
  summary: 'Returns mempool data for given transaction.',
  params: [
    {
      name: 'txid',
      type: 'hash',
      required: true,
      label: 'parameter 1',
      description: 'The transaction id (must be in mempool)',
    },
  ],
  result: MEMPOOL_ENTRY_SCHEMA,
  examples: [['"mytxid"']],
  run: ({ services: { mempool }, profile }, { txid }) =>
    mempoolEntryAnswer(requireEntry(mempool, txid), { profile, mempool }),
});
