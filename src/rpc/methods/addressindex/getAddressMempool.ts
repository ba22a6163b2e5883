/** `getaddressmempool`: effects of unconfirmed transactions on addresses. */
import { hashToHex } from '../../../util/bytes.js';
import { jsonArray, type JsonOut } from '../../../util/json/jsonWrite.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { atOneTip } from './atOneTip.js';
import { mempoolMoves, type MempoolMove } from './mempoolMoves.js';
import {
  entryLimit,
  mempoolMark,
  pagedAnswer,
  pagedSchema,
  parseQuery,
  QUERY_PARAM,
  requireIndex,
  requireWhole,
  type AddressQuery,
} from './query.js';

const MOVES_SCHEMA = t.array(
  t.object({
    address: t.str('the requested address or script'),
    txid: t.hash('the transaction id'),
    index: t.int('the index of the output, or of the spending input'),
    satoshis: t.sats('the amount; negative for a spend'),
    timestamp: t.time('the time at which the transaction entered the mempool'),
    prevtxid: t.optional(t.hash('the id of the transaction whose output is spent'), 'for a spend'),
    prevout: t.optional(t.int('the index of that output'), 'for a spend'),
  }),
  'in the order in which the transactions entered the mempool',
);

export const getAddressMempool = defineMethod({
  name: 'getaddressmempool',
  category: 'addressindex',
  explorer: 'console',
  chainUse: 'reads',
  summary:
    'Returns the payments of mempool transactions to one or more addresses or scripts, and their spends ' +
    '(needs -addressindex).',
  params: [QUERY_PARAM],
  result: pagedSchema('moves', MOVES_SCHEMA),
  examples: [['"bXYZ…"'], ['{"addresses": ["bXYZ…", "bABC…"], "limit": 100}']],
  async run({ services }, { addresses }) {
    const index = requireIndex(services);
    const query = await parseQuery(services, addresses, 'getaddressmempool', null);
    const { found, next } = await atOneTip(services, async () => {
      const page: MempoolMove[] = [];
      for await (const move of mempoolMoves(services, index, query)) {
        if (page.length === entryLimit(query)) return { found: page, next: mempoolMark(page.at(-1)!) };
        page.push(move);
      }
      return { found: page, next: null };
    });
    requireWhole(query, next);
    return pagedAnswer(query, 'moves', jsonArray(answers(found, query)), next);
  },
});

function* answers(moves: readonly MempoolMove[], { asked }: AddressQuery): Generator<JsonOut> {
  for (const { txid, timeSec, index, amountSat, scriptKey, spends } of moves) {
    yield {
      address: asked.get(scriptKey)!,
      txid: hashToHex(txid),
      index,
      satoshis: spends ? -amountSat : amountSat,
      timestamp: timeSec,
      ...(spends ? { prevtxid: hashToHex(spends.hash), prevout: spends.index } : {}),
    };
  }
}
