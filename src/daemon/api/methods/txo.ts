/** Transaction outputs: lists, sums, plots, releasing. Source: lbry-sdk daemon.py `jsonrpc_txo_*`, `jsonrpc_utxo_*`. */
import { formatLbc } from '../../../metadata/amounts.js';
import { dayOf, dayText, plotRangeOf } from '../../lists/plotDays.js';
import { txoFilterOf } from '../../lists/txoFilters.js';
import { txoList, txoPlot, txoSum, utxoList, utxoRelease } from '../declarations/txo.js';
import { implement, type MethodImplementation } from '../implement.js';
import { ownerOf, txoPage } from './listing.js';

const list = implement(txoList, (context, args) => txoPage(context, args, args));

const sum = implement(txoSum, (context, args) => {
  const { accountIds } = ownerOf(context, args);
  return context.services.ledger.database.txoSum(txoFilterOf(accountIds, args));
});

const plot = implement(txoPlot, async (context, args) => {
  const { accountIds } = ownerOf(context, args);
  const { ledger } = context.services;
  const range = plotRangeOf(
    {
      daysBack: args.days_back,
      startDay: args.start_day,
      daysAfter: args.days_after,
      endDay: args.end_day,
    },
    dayOf(ledger.height),
  );
  const days = await ledger.database.txoPlot(txoFilterOf(accountIds, args), range);
  return days.map(({ day, totalDewies }) => ({ day: dayText(day), total: formatLbc(totalDewies) }));
});

const spendable = implement(utxoList, (context, args) =>
  txoPage(context, args, { ...args, type: ['other', 'purchase'], is_not_spent: true }),
);

const release = implement(utxoRelease, async (context, args) => {
  await context.services.ledger.database.releaseAll(ownerOf(context, args).accountIds);
  return null;
});

export const txoMethods: readonly MethodImplementation[] = [list, sum, plot, spendable, release];
