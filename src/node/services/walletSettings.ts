/** Creates the wallets' settings from the options. Source: lbrycrd wallet/init.cpp, wallet/wallet.cpp `CreateWalletFromFile`. */
import { join } from 'node:path';
import type { OutputType } from '../../signing/outputType.js';
import type { WalletOptions } from '../../wallet/walletOptions.js';
import { FOREIGN_FILE_NAME, isThere, WALLET_FILE_NAME } from '../../wallet/walletPlace.js';
import type { WalletsOptions } from '../../wallet/walletOpener.js';
import type { LoadedOptions } from '../options/options.js';

export function walletSettings(loaded: LoadedOptions): WalletsOptions {
  const { options, paths } = loaded;
  return {
    walletDir: options.walletdir ?? defaultWalletDir(paths.networkDir),
    wallet: walletOptions(loaded),
    rescans: options.rescan,
    salvages: options.salvagewallet,
    zaps: options.zapwallettxes === 0 ? 'nothing' : options.zapwallettxes === 2 ? 'all' : 'transactions',
    upgradesTo: options.upgradewallet,
  };
}

/** Returns the names of the wallets to open at startup. Default: the wallet in the wallet folder itself, whose name is empty. */
export function walletNamesAtStart({ options, isSet }: LoadedOptions): readonly string[] {
  return isSet('wallet') ? options.wallet : [''];
}

/**
 * Returns the default wallet folder: `wallets` in the network's folder, or the network's folder itself if it contains a
 * wallet. Source: `GetWalletDir`, `GetDataDir`.
 */
function defaultWalletDir(networkDir: string): string {
  const folder = join(networkDir, 'wallets');
  if (isThere(folder)) return folder;
  return [WALLET_FILE_NAME, FOREIGN_FILE_NAME].some((name) => isThere(join(networkDir, name)))
    ? networkDir
    : folder;
}

function walletOptions({ options, params, isSet }: LoadedOptions): WalletOptions {
  return {
    addressType: options.addresstype as OutputType,
    changeType: (options.changetype ?? null) as OutputType | null,
    avoidsPartialSpends: options.avoidpartialspends,
    discardFeeRatePerKb: options.discardfee,
    fallbackFeeRatePerKb: isSet('fallbackfee') || params.fallbackFeeEnabled ? options.fallbackfee : 0n,
    minTxFeeRatePerKb: options.mintxfee,
    payTxFeeRatePerKb: options.paytxfee,
    maxTxFeeSat: options.maxtxfee,
    keypoolSize: options.keypool,
    confirmTarget: options.txconfirmtarget,
    spendsUnconfirmedChange: options.spendzeroconfchange,
    signalsReplacement: options.walletrbf,
    broadcasts: options.walletbroadcast,
    rejectsLongChains: options.walletrejectlongchains ?? options.compat === 'documented',
  };
}
