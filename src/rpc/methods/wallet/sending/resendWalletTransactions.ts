/**
 * `resendwallettransactions`: announces the wallet's unconfirmed transactions immediately. Source: lbrycrd
 * wallet/rpcwallet.cpp.
 */
import { hashToHex } from '../../../../util/bytes.js';
import { resendBefore } from '../../../../wallet/spending/broadcasting.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { walletOf } from '../wallets/walletOf.js';

export const resendWalletTransactions = defineMethod({
  name: 'resendwallettransactions',
  category: 'hidden',
  needsWallet: 'one',
  summary:
    'Immediately re-broadcast unconfirmed wallet transactions to all peers.\nIntended only for testing; the wallet code ' +
    'periodically re-broadcasts automatically.\nReturns an RPC error if -walletbroadcast is set to false.',
  params: [],
  result: t.array(t.hash('a transaction that was announced')),
  examples: [[]],
  async run(ctx) {
    const wallet = walletOf(ctx);
    if (ctx.services.peers === null) {
      throw rpcError(RPC_ERROR.CLIENT_P2P_DISABLED, 'Error: Peer-to-peer functionality missing or disabled');
    }
    if (!wallet.options.broadcasts) {
      throw rpcError(
        RPC_ERROR.WALLET_ERROR,
        'Error: Wallet transaction broadcasting is disabled with -walletbroadcast',
      );
    }
    const txids = await resendBefore(wallet, wallet.node.nowSec());
    return txids.map(hashToHex);
  },
});
