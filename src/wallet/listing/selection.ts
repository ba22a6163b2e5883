/** Defines which transactions and outputs belong to a list. Source: lbrycrd wallet/rpcwallet.cpp `ListTransactions`. */
import type { Entry } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';
import { labelOf } from './amounts.js';

/** The criteria that select the transactions of a list. */
export interface ListSelection {
  /** `MINE` flags. */
  readonly filter: number;
  /** Label of the addresses whose received amounts are listed; null for all transactions. */
  readonly label: string | null;
  /**
   * Whether labels are treated as accounts. The list then also contains payments and moves from the account with the name
   * `label`.
   */
  readonly withAccounts: boolean;
  /** Minimum number of confirmations of received amounts. A negative number includes conflicting transactions. */
  readonly minDepth: number;
}

/** Whether the payments of a transaction are in the list. */
export function listsSent(
  { label, withAccounts }: Pick<ListSelection, 'label' | 'withAccounts'>,
  entry: Entry,
): boolean {
  return label === null || (withAccounts && entry.row.fromAccount === label);
}

/** Whether outputs received at destination `to` are in the list. */
export function listsReceived(wallet: Wallet, { label }: Pick<ListSelection, 'label'>, to: string): boolean {
  return label === null || labelOf(wallet, to) === label;
}
