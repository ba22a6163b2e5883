/** `getmempooldescendants`: the unconfirmed descendants of an unconfirmed transaction. */
import { MEMPOOL_LIST_SCHEMA, MEMPOOL_RELATIVES_PARAMS, mempoolListAnswer } from '../../../format/mempool.js';
import { defineMethod } from '../../../declare/method.js';
import { requireEntry } from './getMempoolEntry.js';

export const getMempoolDescendants = defineMethod({
  name: 'getmempooldescendants',
  category: 'blockchain',
  explorer: 'console',
  chainUse: 'reads',
  summary: 'If txid is in the mempool, returns all in-mempool descendants.',
  params: MEMPOOL_RELATIVES_PARAMS,
  result: MEMPOOL_LIST_SCHEMA,
  examples: [['"mytxid"']],
  run({ services: { mempool }, profile }, { txid, verbose }) {
    requireEntry(mempool, txid);
    return mempoolListAnswer(mempool.descendants(txid), verbose !== 0, { profile, mempool });
  },
});
