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
    address: t.str('the address or script that was asked for'),
    txid: t.hash('the transaction id'),
    index: t.int('the number of the output, or of the input that spends'),
    satoshis: t.sats('the amount, negative when it is spent'),
    timestamp: t.time('when the transaction entered the mempool'),
    prevtxid: t.optional(t.hash('the transaction whose output is spent'), 'when it is spent'),
    prevout: t.optional(t.int('the number of that output'), 'when it is spent'),
  }),
  'in the order in which the transactions came',
);

export const getAddressMempool = defineMethod({
  name: 'getaddressmempool',
  category: 'addressindex',
  explorer: 'console',
  chainUse: 'reads',
  summary:
    'Returns what the transactions in the mempool pay to one or more addresses or scripts and spend from them (needs -addressindex).',
  params: [QUERY_PARAM],
  result: pagedSchema('moves', MOVES_SCHEMA),
  examples: [['"bXYZ…"'], ['{"addresses": ["bXYZ…", "bABC…"], "limit": 100}']],
  async run({ services }, { addresses }) {
    const index = requireIndex(services);
    const query = await parseQuery(services, addresses, null);
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
