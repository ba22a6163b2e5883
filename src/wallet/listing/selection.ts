/** What of a wallet's transactions is listed. Source: lbrycrd wallet/rpcwallet.cpp `ListTransactions`. */
import type { Entry } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';
import { labelOf } from './amounts.js';

/** What is listed. */
export interface Selection {
  /** `MINE` flags. */
  readonly filter: number;
  /** What came in at addresses with this label; null for everything. */
  readonly label: string | null;
  /** Whether labels are accounts: what was sent from one, or moved, is listed by it too. */
  readonly withAccounts: boolean;
  /** Smallest depth of receipts; below 0 includes conflicting ones. */
  readonly minDepth: number;
}

/** Whether what an entry sent is listed. */
export function listsSent(
  { label, withAccounts }: Pick<Selection, 'label' | 'withAccounts'>,
  entry: Entry,
): boolean {
  return label === null || (withAccounts && entry.row.fromAccount === label);
}

/** Whether something that came in at a destination is listed. */
export function listsReceived(wallet: Wallet, { label }: Pick<Selection, 'label'>, to: string): boolean {
  return label === null || labelOf(wallet, to) === label;
}
