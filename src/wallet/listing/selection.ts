/** Selects the transactions of a list. Source: lbrycrd wallet/rpcwallet.cpp `ListTransactions`. */
import type { Entry } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';
import { labelOf } from './amounts.js';

/** What is listed. */
export interface Selection {
  /** `MINE` flags. */
  readonly filter: number;
  /** Only amounts received at addresses with this label; null for all transactions. */
  readonly label: string | null;
  /** Whether labels are accounts: payments and moves from an account are then selected by it too. */
  readonly withAccounts: boolean;
  /** Smallest depth of receipts; below 0 includes conflicting ones. */
  readonly minDepth: number;
}

/** Whether the payments of an entry are listed. */
export function listsSent(
  { label, withAccounts }: Pick<Selection, 'label' | 'withAccounts'>,
  entry: Entry,
): boolean {
  return label === null || (withAccounts && entry.row.fromAccount === label);
}

/** Whether outputs received at a destination are listed. */
export function listsReceived(wallet: Wallet, { label }: Pick<Selection, 'label'>, to: string): boolean {
  return label === null || labelOf(wallet, to) === label;
}
