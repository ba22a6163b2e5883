/**
 * Handles passphrases in arguments. The memory of a string cannot be wiped; the bytes created from the string are wiped
 * after use.
 */
import { passphraseBytes } from '../../../../wallet/encryption/passphrases.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';

/** Runs a task with the bytes of a passphrase. Throws an error with the text `usage` if the passphrase is empty. */
export async function withPassphrase<T>(
  text: string,
  usage: string,
  task: (passphrase: Buffer) => Promise<T>,
): Promise<T> {
  const passphrase = passphraseBytes(text);
  if (passphrase.length === 0) throw rpcError(RPC_ERROR.MISC_ERROR, usage);
  try {
    return await task(passphrase);
  } finally {
    passphrase.fill(0);
  }
}

/** Throws unless the wallet is encrypted. A wallet that is not encrypted has no passphrase. */
export function requireEncrypted(wallet: Wallet, method: string): void {
  if (wallet.keyring.isEncrypted) return;
  throw rpcError(
    RPC_ERROR.WALLET_WRONG_ENC_STATE,
    `Error: running with an unencrypted wallet, but ${method} was called.`,
  );
}

export function wrongPassphrase(): Error {
  return rpcError(
    RPC_ERROR.WALLET_PASSPHRASE_INCORRECT,
    'Error: The wallet passphrase entered was incorrect.',
  );
}
