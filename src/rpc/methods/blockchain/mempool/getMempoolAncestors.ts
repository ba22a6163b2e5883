/** `getmempoolancestors`: the unconfirmed ancestors of an unconfirmed transaction. */
import { MEMPOOL_LIST_SCHEMA, mempoolListAnswer } from '../../../format/mempool.js';
import { defineMethod } from '../../../declare/method.js';
import { requireEntry } from './getMempoolEntry.js';

export const getMempoolAncestors = defineMethod({
  name: 'getmempoolancestors',
  category: 'blockchain',
  explorer: 'console',
  chainUse: 'reads',
  summary: 'If txid is in the mempool, returns all in-mempool ancestors.',
  params: [
    {
      name: 'txid',
      type: 'hash',
      required: true,
      label: 'parameter 1',
      description: 'The transaction id (must be in mempool)',
    },
    {
      name: 'verbose',
      type: 'verbosity',
      default: 0,
      description: 'True for a json object, false for array of transaction ids',
    },
  ],
  result: MEMPOOL_LIST_SCHEMA,
  examples: [['"mytxid"']],
  run({ services: { mempool }, profile }, { txid, verbose }) {
    requireEntry(mempool, txid);
    return mempoolListAnswer(mempool.ancestors(txid), verbose !== 0, { profile, mempool });
  },
});
