/** `getrawmempool`: all unconfirmed transactions. */
import { hashToHex, type Bytes } from '../../../../util/bytes.js';
import { jsonArray, jsonObject, type JsonOut } from '../../../../util/json/jsonWrite.js';
import { inSlices } from '../../../../scheduler/slices.js';
import { MEMPOOL_LIST_SCHEMA, mempoolMembers } from '../../../format/mempool.js';
import { defineMethod } from '../../../declare/method.js';

export const getRawMempool = defineMethod({
  name: 'getrawmempool',
  category: 'blockchain',
  chainUse: 'reads',
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
  async run(ctx, { verbose }): Promise<JsonOut> {
    const { services } = ctx;
    const txids = await inSlices(services.mempool.txidsInSlices());
    return verbose === 0 ? jsonArray(ids(txids)) : jsonObject(mempoolMembers(services, txids, ctx));
  },
});

/** Yields txids while they are written, so that a large mempool does not block the event loop. */
function* ids(txids: Iterable<Bytes>): Generator<string> {
  for (const txid of txids) yield hashToHex(txid);
}
