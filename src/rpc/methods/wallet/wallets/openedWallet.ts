/** Results and errors of opening and creating wallets. */
import { WalletOpenError } from '../../../../wallet/walletOpener.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import type { JsonOut } from '../../../../util/json/jsonWrite.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { t } from '../../../../schema/schema.js';

export const OPENED_WALLET = t.object({
  name: t.str('the name of the wallet'),
  warning: t.str('a warning when the wallet was not loaded cleanly'),
});

/** Waits for a wallet to be open. */
export async function openedWallet(opening: Promise<Wallet>): Promise<JsonOut> {
  try {
    const { name } = await opening;
    return { name, warning: '' };
  } catch (error) {
    throw openFailure(error);
  }
}

/** The RPC error for a wallet that could not be opened; other errors are returned unchanged. */
export function openFailure(error: unknown): unknown {
  if (!(error instanceof WalletOpenError)) return error;
  if (error.kind === 'missing') return rpcError(RPC_ERROR.WALLET_NOT_FOUND, error.message);
  // With the error text of the reference's database for two files of one identity.
  if (error.kind === 'copy') return rpcError(RPC_ERROR.MISC_ERROR, error.message);
  const message =
    error.kind === 'exists' ? error.message : `Wallet file verification failed: ${error.message}`;
  return rpcError(RPC_ERROR.WALLET_ERROR, message);
}
