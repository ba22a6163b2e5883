/** `getaddresstxids`: the history of addresses. */
import { HISTORY_MARK_BYTES } from '../../../index/addressQueries.js';
import { hashToHex, toHex } from '../../../util/bytes.js';
import type { JsonOut } from '../../../util/jsonWrite.js';
import { defineMethod } from '../../method.js';
import { t } from '../../schema.js';
import { flagOf, pageRequest, parseQuery, QUERY_PARAM, requireIndex, requireWhole } from './query.js';

const ENTRIES_SCHEMA = t.array(
  t.union([
    { when: 'without "verbose"', schema: t.hash('a transaction id') },
    {
      when: 'with "verbose"',
      schema: t.object({
        txid: t.hash('the transaction id'),
        height: t.optional(t.int('the height of its block'), 'when it is confirmed'),
        received: t.optional(t.sats('what it paid to the addresses'), 'when it is confirmed'),
        spent: t.optional(t.sats('what it spent of them'), 'when it is confirmed'),
      }),
    },
  ]),
  'the oldest first, each transaction once; unconfirmed ones follow the last confirmed one',
);

export const getAddressTxids = defineMethod({
  name: 'getaddresstxids',
  category: 'addressindex',
  summary:
    'Returns the ids of the transactions that pay to one or more addresses or scripts or spend from them (needs -addressindex). With "verbose": true in the query also heights and amounts.',
  params: [QUERY_PARAM],
  result: t.union([
    { when: 'without "limit"', schema: ENTRIES_SCHEMA },
    {
      when: 'with "limit"',
      schema: t.object({
        txids: ENTRIES_SCHEMA,
        next: t.optional(t.hex('where the next page begins'), 'when there is one'),
      }),
    },
  ]),
  examples: [['"bXYZ…"'], ['{"addresses": ["bXYZ…"], "start": 1000, "end": 2000, "limit": 100}']],
  async run({ services }, { addresses }) {
    const index = requireIndex(services);
    const query = parseQuery(services, addresses, HISTORY_MARK_BYTES);
    const isVerbose = flagOf(query.options, 'verbose');
    const { entries, next } = await index.history(query.keys, pageRequest(query));
    requireWhole(query, next);
    const txids = entries.map(({ txid, height, receivedSat, spentSat }): JsonOut =>
      isVerbose ? { txid: hashToHex(txid), height, received: receivedSat, spent: spentSat } : hashToHex(txid),
    );
    if (query.mempool && next === null) {
      for (const id of index.mempoolTransactions(query.keys)) {
        const txid = hashToHex(id);
        txids.push(isVerbose ? { txid } : txid);
      }
    }
    if (query.limit === null) return txids;
    return { txids, ...(next ? { next: toHex(next) } : {}) };
  },
});
