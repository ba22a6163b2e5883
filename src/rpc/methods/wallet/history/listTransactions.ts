/** `listtransactions`: the latest wallet transactions. Source: lbrycrd wallet/rpcwallet.cpp. */
import { jsonArray, type JsonOut } from '../../../../util/json/jsonWrite.js';
import { ofOneState } from '../../../../wallet/listing/oneState.js';
import { recentPieces, type Piece } from '../../../../wallet/listing/recent.js';
import type { ListSelection } from '../../../../wallet/listing/selection.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { ACCOUNTS } from '../addresses/accountsOption.js';
import {
  filterOf,
  LISTED_MOVE,
  LISTED_TRANSACTION,
  moveItem,
  transactionItems,
  WATCHED_PARAM,
} from './listedTransaction.js';
import { walletOf } from '../wallets/walletOf.js';

/** Maximum number of items of a result that is created at once. Longer results are created while they are sent. */
const PIECES_AT_ONCE = 256;

export const listTransactions = defineMethod({
  name: 'listtransactions',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'If a label name is provided, this will return only incoming transactions paying to addresses with the specified label.\n' +
    "\nReturns up to 'count' most recent transactions skipping the first 'from' transactions.\n" +
    'With -deprecatedrpc=accounts the label is an account. Its outgoing transactions and moves are then listed too.',
  params: [
    {
      name: 'account|label|dummy',
      type: 'string',
      default: '*',
      description: 'A label, or "*" for all transactions',
    },
    { name: 'count', type: 'integer', default: 10, description: 'The number of transactions to return' },
    { name: 'skip', type: 'integer', default: 0, description: 'The number of transactions to skip' },
    WATCHED_PARAM,
  ],
  result: t.array(
    t.union([
      { when: 'for a transaction', schema: LISTED_TRANSACTION },
      { when: 'for a move between accounts', schema: LISTED_MOVE },
    ]),
    'oldest first',
  ),
  examples: [[], ['"*"', '20', '100']],
  async run(ctx, { account, count, skip, include_watchonly }): Promise<JsonOut> {
    const wallet = walletOf(ctx);
    const withAccounts = ctx.isDeprecatedEnabled(ACCOUNTS);
    if (account === '' && !withAccounts) {
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Label argument must be a valid label name or "*".');
    }
    if (count < 0) throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Negative count');
    if (skip < 0) throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Negative from');
    const selection: ListSelection = {
      filter: filterOf(include_watchonly),
      label: account === '*' ? null : account,
      withAccounts,
      minDepth: 0,
    };
    const pieces = await ofOneState(wallet, () => recentPieces(wallet, selection, skip, count));
    const items = oldestFirst(wallet, selection, pieces);
    return pieces.length <= PIECES_AT_ONCE ? [...items] : jsonArray(items);
  },
});

function* oldestFirst(
  wallet: Wallet,
  selection: ListSelection,
  pieces: readonly Piece[],
): Generator<JsonOut> {
  for (let i = pieces.length - 1; i >= 0; i--) {
    const { of, first, end } = pieces[i]!;
    if ('move' in of) yield moveItem(of.move);
    // The transaction may have been removed from the wallet while earlier items were sent.
    else if (wallet.ledger.has(of.entry.key)) {
      const record = wallet.ledger.record(of.entry);
      yield* transactionItems(wallet, selection, of.entry, record, true).slice(first, end).reverse();
    }
  }
}
