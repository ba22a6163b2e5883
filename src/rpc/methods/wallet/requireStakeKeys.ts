/** That a transaction holds a claim or support of the wallet, and that the wallet is open. The reference asks in this order. */
import { ownStake } from '../../../wallet/claims/ownStake.js';
import type { Entry } from '../../../wallet/ledger/entry.js';
import type { Wallet } from '../../../wallet/wallet.js';
import { requireUnlocked } from './walletOf.js';

/** What holds none is refused by who spends it. */
export function requireStakeKeys(wallet: Wallet, entry: Entry, kind: 'claim' | 'support'): void {
  if (ownStake(wallet.ledger, entry, kind) !== null) requireUnlocked(wallet);
}
