/** `unloadwallet`: closes a wallet. Source: lbrycrd wallet/rpcwallet.cpp. */
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { namedWallet, walletsOf } from './walletOf.js';

export const unloadWallet = defineMethod({
  name: 'unloadwallet',
  category: 'wallet',
  needsWallet: 'any',
  summary:
    'Unloads the wallet referenced by the request endpoint otherwise unloads the wallet specified in the argument.\n' +
    'Specifying the wallet name on a wallet endpoint is invalid.',
  params: [
    { name: 'wallet_name', type: 'string', late: true, description: 'The name of the wallet to unload' },
  ],
  result: t.none(),
  examples: [['"wallet_name"']],
  async run(ctx, { wallet_name }, [given = null]) {
    const wallets = walletsOf(ctx);
    if (ctx.walletName !== undefined && given !== null)
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Cannot unload the requested wallet');
    const name = ctx.walletName ?? wallet_name();
    // The reference parses the missing name as a string, which throws this error.
    if (name === undefined) throw rpcError(RPC_ERROR.MISC_ERROR, 'JSON value is not a string as expected');
    await wallets.unload(namedWallet(wallets, name));
    return null;
  },
});
