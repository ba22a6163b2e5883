/** `getaddressbalance`: balances and total received amounts of addresses. */
import { noTotals, type ScriptTotals } from '../../../index/addressRows.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import type { AddressService } from '../../../interfaces/services.js';
import { atOneTip } from './atOneTip.js';
import { mempoolMoves } from './mempoolMoves.js';
import { parseQuery, QUERY_PARAM, requireIndex, type AddressQuery } from './query.js';

export const getAddressBalance = defineMethod({
  name: 'getaddressbalance',
  category: 'addressindex',
  explorer: 'console',
  chainUse: 'reads',
  summary:
    'Returns the balance of one or more addresses or scripts together (needs -addressindex). Claims and supports count for the address that can spend them.',
  params: [QUERY_PARAM],
  result: t.object({
    balance: t.sats('the unspent amount at the tip'),
    received: t.sats('the total amount received, including change'),
    txcount: t.int('number of confirmed transactions, counted separately for each address'),
    unconfirmed: t.sats(
      'the amount that the mempool adds to the balance; negative if it spends more than it pays',
    ),
  }),
  examples: [['"bXYZ…"'], ['{"addresses": ["bXYZ…", "bABC…"]}']],
  async run({ services }, { addresses }) {
    const index = requireIndex(services);
    const query = {
      ...(await parseQuery(services, addresses, 'getaddressbalance', null)),
      afterMempool: undefined,
    };
    return atOneTip(services, async () => {
      const { receivedSat, spentSat, txCount } = await confirmedSums(index, query);
      let unconfirmedSat = 0n;
      for await (const { amountSat, spends } of mempoolMoves(services, index, query)) {
        unconfirmedSat += spends ? -amountSat : amountSat;
      }
      return {
        balance: receivedSat - spentSat,
        received: receivedSat,
        txcount: txCount,
        unconfirmed: unconfirmedSat,
      };
    });
  },
});

async function confirmedSums(index: AddressService, { keys }: AddressQuery): Promise<ScriptTotals> {
  const sums = noTotals();
  for (const totals of await index.totals(keys)) {
    sums.receivedSat += totals.receivedSat;
    sums.spentSat += totals.spentSat;
    sums.txCount += totals.txCount;
  }
  return sums;
}
