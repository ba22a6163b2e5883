/** Runs imports into a wallet, and converts their errors to RPC errors. */
import type { WalletBatch } from '../../../../wallet/store/records.js';
import { ImportError } from '../../../../wallet/transfer/imports.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, rpcError, type RpcError } from '../../../declare/errors.js';

const CODES: Readonly<Record<ImportError['kind'], number>> = {
  address: RPC_ERROR.INVALID_ADDRESS_OR_KEY,
  parameter: RPC_ERROR.INVALID_PARAMETER,
  wallet: RPC_ERROR.WALLET_ERROR,
};

/** Converts an import error to an RPC error. Other errors are thrown unchanged. */
export function importFailure(error: unknown): RpcError {
  if (error instanceof ImportError) return rpcError(CODES[error.kind], error.message);
  throw error;
}

/**
 * Runs an import. When the promise resolves, the imported data is on disk, and the outputs of known transactions were
 * checked against it.
 */
export async function runImport<T>(wallet: Wallet, task: (batch: WalletBatch) => T): Promise<T> {
  const outcome = await wallet.change((batch): { value: T } | { error: unknown } => {
    try {
      return { value: task(batch) };
    } catch (error) {
      // Items that were imported before the error stay in the wallet, as in the reference.
      return { error };
    }
  });
  if ('error' in outcome) throw importFailure(outcome.error);
  return outcome.value;
}
