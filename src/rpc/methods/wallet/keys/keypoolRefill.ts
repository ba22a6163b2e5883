/** `keypoolrefill`: creates keys in advance until the key pool is full. Source: lbrycrd wallet/rpcwallet.cpp. */
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { requirePrivateKeys, requireUnlocked, walletOf } from '../wallets/walletOf.js';

export const keypoolRefill = defineMethod({
  name: 'keypoolrefill',
  category: 'wallet',
  needsWallet: 'one',
  summary: 'Fills the keypool.',
  params: [
    {
      name: 'newsize',
      type: 'integer',
      default: 0,
      late: true,
      description: 'The new size of the key pool; 0 for the value of -keypool',
    },
  ],
  result: t.none(),
  examples: [[]],
  async run(ctx, args) {
    const wallet = walletOf(ctx);
    requirePrivateKeys(wallet);
    const newsize = args.newsize();
    if (newsize < 0) throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Invalid parameter, expected valid size.');
    requireUnlocked(wallet);
    const filled = await wallet.keys.topUp(newsize === 0 ? undefined : newsize);
    if (!filled) throw rpcError(RPC_ERROR.WALLET_ERROR, 'Error refreshing keypool.');
    return null;
  },
});
