/** `getaddressmempool`: what unconfirmed transactions do to addresses. */
import { hashToHex } from '../../../util/bytes.js';
import { defineMethod } from '../../method.js';
import { t } from '../../schema.js';
import { mempoolMoves } from './mempoolMoves.js';
import { parseQuery, QUERY_PARAM, requireIndex } from './query.js';

export const getAddressMempool = defineMethod({
  name: 'getaddressmempool',
  category: 'addressindex',
  summary:
    'Returns what the transactions in the mempool pay to one or more addresses or scripts and spend from them (needs -addressindex).',
  params: [QUERY_PARAM],
  result: t.array(
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
  ),
  examples: [['"bXYZ…"'], ['{"addresses": ["bXYZ…", "bABC…"]}']],
  async run({ services }, { addresses }) {
    const index = requireIndex(services);
    const query = parseQuery(services, addresses, 0);
    const moves = await mempoolMoves(services, index, query);
    return moves.map(({ txid, timeSec, index: at, amountSat, scriptKey, spends }) => ({
      address: query.asked.get(scriptKey)!,
      txid: hashToHex(txid),
      index: at,
      satoshis: spends ? -amountSat : amountSat,
      timestamp: timeSec,
      ...(spends ? { prevtxid: hashToHex(spends.hash), prevout: spends.index } : {}),
    }));
  },
});
