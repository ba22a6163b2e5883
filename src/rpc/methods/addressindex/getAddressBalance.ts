/** `getaddressbalance`: what addresses hold and have received. */
import { defineMethod } from '../../method.js';
import { t } from '../../schema.js';
import { mempoolMoves } from './mempoolMoves.js';
import { parseQuery, QUERY_PARAM, requireIndex } from './query.js';

export const getAddressBalance = defineMethod({
  name: 'getaddressbalance',
  category: 'addressindex',
  summary:
    'Returns the balance of one or more addresses or scripts together (needs -addressindex). Claims and supports count for the address that can spend them.',
  params: [QUERY_PARAM],
  result: t.object({
    balance: t.sats('what is unspent at the tip'),
    received: t.sats('what was received in all, change included'),
    txcount: t.int('transactions in the chain, counted for each address by itself'),
    unconfirmed: t.sats(
      'what the transactions in the mempool will add to the balance, or take when negative',
    ),
  }),
  examples: [['"bXYZ…"'], ['{"addresses": ["bXYZ…", "bABC…"]}']],
  async run({ services }, { addresses }) {
    const index = requireIndex(services);
    const query = parseQuery(services, addresses, 0);
    let receivedSat = 0n;
    let spentSat = 0n;
    let txCount = 0;
    for (const totals of await index.totals(query.keys)) {
      receivedSat += totals.receivedSat;
      spentSat += totals.spentSat;
      txCount += totals.txCount;
    }
    let unconfirmedSat = 0n;
    for (const { amountSat, spends } of await mempoolMoves(services, index, query)) {
      unconfirmedSat += spends ? -amountSat : amountSat;
    }
    return {
      balance: receivedSat - spentSat,
      received: receivedSat,
      txcount: txCount,
      unconfirmed: unconfirmedSat,
    };
  },
});
