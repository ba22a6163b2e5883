/** How imports change a wallet, and what they fail with. */
import type { WalletBatch } from '../../../../wallet/store/records.js';
import { ImportError } from '../../../../wallet/transfer/imports.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, rpcError, type RpcError } from '../../../declare/errors.js';

const CODES: Readonly<Record<ImportError['kind'], number>> = {
  address: RPC_ERROR.INVALID_ADDRESS_OR_KEY,
  parameter: RPC_ERROR.INVALID_PARAMETER,
  wallet: RPC_ERROR.WALLET_ERROR,
};

/** The answer that says why something was not taken in; anything else is thrown on. */
export function importFailure(error: unknown): RpcError {
  if (error instanceof ImportError) return rpcError(CODES[error.kind], error.message);
  throw error;
}

/** Runs an import. It is on disk when it resolves, and transactions that are known are seen with new eyes. */
export async function runImport<T>(wallet: Wallet, task: (batch: WalletBatch) => T): Promise<T> {
  const outcome = await wallet.change((batch): { value: T } | { error: unknown } => {
    try {
      return { value: task(batch) };
    } catch (error) {
      // What was done before stays, as in the reference.
      return { error };
    }
  });
  if ('error' in outcome) throw importFailure(outcome.error);
  return outcome.value;
}
