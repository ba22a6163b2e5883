/** Results and errors of methods that open or create wallets. */
import { WalletOpenError } from '../../../../wallet/walletOpener.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import type { JsonOut } from '../../../../util/json/jsonWrite.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { t } from '../../../../schema/schema.js';

export const OPENED_WALLET = t.object({
  name: t.str('the name of the wallet'),
  warning: t.str('a warning if the wallet was not loaded cleanly'),
});

/** Waits until a wallet is open, and returns the result of the method. */
export async function openedWallet(opening: Promise<Wallet>): Promise<JsonOut> {
  try {
    const { name } = await opening;
    return { name, warning: '' };
  } catch (error) {
    throw openFailure(error);
  }
}

/** Converts the error of a wallet that could not be opened to an RPC error. Other errors are returned unchanged. */
export function openFailure(error: unknown): unknown {
  if (!(error instanceof WalletOpenError)) return error;
  if (error.kind === 'missing') return rpcError(RPC_ERROR.WALLET_NOT_FOUND, error.message);
  // The wallet is a copy of an open wallet. The error text is that of the reference's database for this case.
  if (error.kind === 'copy') return rpcError(RPC_ERROR.MISC_ERROR, error.message);
  const message =
    error.kind === 'exists' ? error.message : `Wallet file verification failed: ${error.message}`;
  return rpcError(RPC_ERROR.WALLET_ERROR, message);
}
