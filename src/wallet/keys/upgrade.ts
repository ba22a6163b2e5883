/**
 * Upgrades an older wallet: to keys derived from a seed, and to a separate chain for change keys. Source: lbrycrd
 * wallet/wallet.cpp `CreateWalletFromFile`, `MarkPreSplitKeys`.
 */
import type { Wallet } from '../wallet.js';
import { FEATURE } from '../walletVersion.js';
import { WalletRowError } from './keyring.js';

/**
 * Upgrades the wallet to version `wanted`. Throws `WalletRowError` if the upgrade fails. In that case the wallet is
 * unchanged.
 */
export async function upgradeWallet(wallet: Wallet, wanted: number): Promise<void> {
  const { version, hd, keypool, logName, node } = wallet;
  if (wanted < version) throw new WalletRowError('Cannot downgrade wallet');
  const needsSeed = wanted >= FEATURE.hd && hd.state === null && wallet.hasPrivateKeys;
  if (needsSeed && wallet.isLocked) {
    throw new WalletRowError(
      'Unable to generate keys: the wallet is locked. Start without -upgradewallet and use sethdseed once it is unlocked.',
    );
  }
  node.log.info(`${logName} Performing wallet upgrade to ${Math.min(wanted, FEATURE.latest)}`);
  await wallet.change((batch) => {
    const isSplit = wanted >= FEATURE.hdSplit;
    if (isSplit && version < FEATURE.hdSplit) keypool.markPreSplit(batch);
    if (needsSeed) hd.setSeed(batch, wallet.keys.makeSeed(batch), isSplit);
    else if (isSplit) hd.split(batch);
    wallet.setVersion(batch, isSplit ? FEATURE.preSplitKeypool : Math.min(wanted, FEATURE.latest));
  });
  if (needsSeed && !(await wallet.keys.topUp())) throw new WalletRowError('Unable to generate keys');
}
