/** Transactions of a wallet. Source: lbry-sdk daemon.py `jsonrpc_transaction_*`. */
import { hashFromHex } from '../../../util/bytes.js';
import { mapYielding } from '../../base/mapYielding.js';
import { paged, pageOf } from '../../base/pages.js';
import { HubRefusal } from '../../ledger/hub/hubErrors.js';
import { historyItem } from '../../lists/transactionHistory.js';
import { shownTransaction } from '../../lists/transactionTxos.js';
import { transactionToJson } from '../../txo/outputJson.js';
import { transactionList, transactionShow } from '../declarations/transaction.js';
import { implement, type MethodImplementation } from '../implement.js';
import { showPortOf } from '../showPort.js';
import { ownerOf } from './listing.js';

const list = implement(transactionList, async (context, args) => {
  const { wallet, accountIds } = ownerOf(context, args);
  const { database } = context.services.ledger;
  const page = pageOf(args);
  const filter = { accountIds };
  const [rows, total] = await Promise.all([
    database.transactions(filter, { offset: page.offset, limit: page.pageSize }, wallet.accountIds),
    database.transactionCount(filter),
  ]);
  const port = showPortOf(context);
  return paged(await mapYielding(rows, (row) => historyItem(row, port)), total, page);
});

const NOT_FOUND = { success: false, code: 404, message: 'transaction not found' };
const TXID = /^[0-9a-fA-F]{64}$/;

const show = implement(transactionShow, async (context, args) => {
  const { ledger, wallets } = context.services;
  if (!TXID.test(args.txid)) return NOT_FOUND;
  try {
    const shown = await shownTransaction(hashFromHex(args.txid), ledger, wallets.default);
    return shown === null ? NOT_FOUND : transactionToJson(shown, showPortOf(context));
  } catch (error) {
    // An error answer of the hub is returned as the method's result.
    if (!(error instanceof HubRefusal)) throw error;
    return { success: false, code: error.code, message: error.message };
  }
});

export const transactionMethods: readonly MethodImplementation[] = [list, show];
