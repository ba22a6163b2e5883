/** `getrawmempool`: all unconfirmed transactions. */
import { hashToHex } from '../../../util/bytes.js';
import { jsonArray, type JsonOut } from '../../../util/jsonWrite.js';
import { MEMPOOL_LIST_SCHEMA, mempoolListAnswer } from '../../format/mempool.js';
import { defineMethod } from '../../method.js';

export const getRawMempool = defineMethod({
  name: 'getrawmempool',
  category: 'blockchain',
  summary:
    'Returns all transaction ids in memory pool as a json array of string transaction ids.\nHint: use getmempoolentry ' +
    'to fetch a specific transaction from the mempool.',
  params: [
    {
      name: 'verbose',
      type: 'verbosity',
      default: 0,
      description: 'True for a json object, false for array of transaction ids',
    },
  ],
  result: MEMPOOL_LIST_SCHEMA,
  examples: [['true']],
  run({ services: { mempool } }, { verbose }): JsonOut {
    const txids = [...mempool.txids()];
    if (verbose === 0) return jsonArray(txids.map(hashToHex));
    const entries = txids.map((txid) => mempool.entry(txid)).filter((entry) => entry !== null);
    return mempoolListAnswer(entries, true);
  },
});
