/** Finds the wallet for a call. Source: lbrycrd wallet/rpcwallet.cpp `GetWalletForJSONRPCRequest`, `EnsureWalletIsAvailable`. */
import type { Wallet } from '../../../../wallet/wallet.js';
import type { Wallets } from '../../../../wallet/wallets.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import type { RpcContext } from '../../../declare/method.js';

/**
 * Returns the wallets of the node. Throws if the node runs without wallets; wallet methods do not exist in this case
 * (`-disablewallet`).
 */
export function walletsOf({ services }: Pick<RpcContext, 'services'>): Wallets {
  if (services.wallets === null) throw rpcError(RPC_ERROR.METHOD_NOT_FOUND, 'Method not found');
  return services.wallets;
}

/** Returns the wallet that the URL path names or, without a name, the only loaded wallet. */
export function walletOf(ctx: Pick<RpcContext, 'services' | 'walletName'>): Wallet {
  const wallets = walletsOf(ctx);
  if (ctx.walletName !== undefined) return namedWallet(wallets, ctx.walletName);
  const [only, ...others] = wallets.all();
  if (only === undefined) {
    throw rpcError(
      RPC_ERROR.METHOD_NOT_FOUND,
      'Method not found (wallet method is disabled because no wallet is loaded)',
    );
  }
  if (others.length > 0) {
    throw rpcError(
      RPC_ERROR.WALLET_NOT_SPECIFIED,
      'Wallet file not specified (must request wallet RPC through /wallet/<filename> uri-path).',
    );
  }
  return only;
}

export function namedWallet(wallets: Wallets, name: string): Wallet {
  const wallet = wallets.find(name);
  if (wallet !== undefined) return wallet;
  throw rpcError(RPC_ERROR.WALLET_NOT_FOUND, 'Requested wallet does not exist or is not loaded');
}

/** Source: `EnsureWalletIsUnlocked`. */
export function requireUnlocked(wallet: Wallet): void {
  if (!wallet.isLocked) return;
  throw rpcError(
    RPC_ERROR.WALLET_UNLOCK_NEEDED,
    'Error: Please enter the wallet passphrase with walletpassphrase first.',
  );
}

export function requirePrivateKeys(wallet: Wallet): void {
  if (wallet.hasPrivateKeys) return;
  throw rpcError(RPC_ERROR.WALLET_ERROR, 'Error: Private keys are disabled for this wallet');
}
