/** `getmempoolancestors`: the unconfirmed ancestors of an unconfirmed transaction. */
import { MEMPOOL_LIST_SCHEMA, MEMPOOL_RELATIVES_PARAMS, mempoolListAnswer } from '../../../format/mempool.js';
import { defineMethod } from '../../../declare/method.js';
import { requireEntry } from './getMempoolEntry.js';

export const getMempoolAncestors = defineMethod({
  name: 'getmempoolancestors',
  category: 'blockchain',
  explorer: 'console',
  chainUse: 'reads',
  summary: 'If txid is in the mempool, returns all in-mempool ancestors.',
  params: MEMPOOL_RELATIVES_PARAMS,
  result: MEMPOOL_LIST_SCHEMA,
  examples: [['"mytxid"']],
  run({ services: { mempool }, profile }, { txid, verbose }) {
    requireEntry(mempool, txid);
    return mempoolListAnswer(mempool.ancestors(txid), verbose !== 0, { profile, mempool });
  },
});
