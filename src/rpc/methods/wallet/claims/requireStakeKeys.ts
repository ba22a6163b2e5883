/**
 * Checks that a transaction has a claim or support of the wallet (error −1), then that the wallet is unlocked. The order is
 * that of the reference.
 */
import { noStakeMessage, ownStake } from '../../../../wallet/claims/ownStake.js';
import type { Entry } from '../../../../wallet/ledger/entry.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { requireUnlocked } from '../wallets/walletOf.js';

export function requireStakeKeys(wallet: Wallet, entry: Entry, kind: 'claim' | 'support'): void {
  if (ownStake(wallet.ledger, entry, kind) === null)
    throw rpcError(RPC_ERROR.MISC_ERROR, noStakeMessage(kind));
  requireUnlocked(wallet);
}
