/** `walletpassphrase`: unlocks the private keys for a number of seconds. Source: lbrycrd wallet/rpcwallet.cpp. */
import { unlockWallet } from '../../../../wallet/encryption/passphrases.js';
import { afterUnlock } from '../../../../wallet/scan/shortageEnder.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { requireEncrypted, withPassphrase, wrongPassphrase } from './passphraseArgument.js';
import { walletOf } from './walletOf.js';

/** Maximum time in seconds for which a wallet can be unlocked. Source: `MAX_SLEEP_TIME`. */
const MAX_TIMEOUT_SEC = 100_000_000;

export const walletPassphrase = defineMethod({
  name: 'walletpassphrase',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Unlocks the wallet for a number of seconds: calls that need private keys, such as sending, work ' +
    'during that time. A call while the wallet is unlocked replaces the previous time.',
  params: [
    {
      name: 'passphrase',
      type: 'string',
      required: true,
      late: true,
      description: 'The passphrase of the wallet',
    },
    {
      name: 'timeout',
      type: 'int64',
      required: true,
      late: true,
      description:
        'Number of seconds until the wallet is locked again; at most 100000000 (about three years)',
    },
  ],
  result: t.none(),
  examples: [['"my pass phrase"', '60']],
  async run(ctx, args) {
    const wallet = walletOf(ctx);
    requireEncrypted(wallet, 'walletpassphrase');
    const text = args.passphrase();
    const timeoutSec = args.timeout();
    if (timeoutSec < 0n) throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Timeout cannot be negative.');
    const seconds = Math.min(Number(timeoutSec), MAX_TIMEOUT_SEC);
    const usage =
      'walletpassphrase <passphrase> <timeout>\nStores the wallet decryption key in memory for <timeout> seconds.';
    await withPassphrase(text, usage, async (passphrase) => {
      if (!(await unlockWallet(wallet, passphrase))) throw wrongPassphrase();
    });
    // The new time starts at this point. The old timer is cancelled, because it must not lock the wallet while the key
    // pool is refilled.
    wallet.relock.cancel();
    await wallet.keys.topUp();
    await afterUnlock(wallet);
    if (!wallet.isLocked) wallet.relock.arm(seconds, wallet.node.nowSec());
    return null;
  },
});
