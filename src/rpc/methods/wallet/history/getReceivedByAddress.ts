/** `getreceivedbyaddress`: the total amount that an address has received. Source: lbrycrd wallet/rpcwallet.cpp. */
import { coins } from '../../../../util/json/json.js';
import { MINE } from '../../../../wallet/keys/isMine.js';
import { destinationFlags } from '../../../../wallet/listing/amounts.js';
import { ofOneState } from '../../../../wallet/listing/oneState.js';
import { receivedSat } from '../../../../wallet/listing/received.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { addressKey } from '../addresses/addressOf.js';
import { walletOf } from '../wallets/walletOf.js';

export const MIN_DEPTH_PARAM = {
  name: 'minconf',
  type: 'integer',
  default: 1,
  description: 'Only include transactions confirmed at least this many times',
} as const;

export const getReceivedByAddress = defineMethod({
  name: 'getreceivedbyaddress',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Returns the total amount received by the given address in transactions with at least minconf confirmations.',
  params: [
    { name: 'address', type: 'string', required: true, description: 'The address' },
    { ...MIN_DEPTH_PARAM, late: true },
  ],
  result: t.coins('the total amount received, without mined coins, claims and supports'),
  examples: [['"bW5PZEvEBNPQRVhwpYXSjabFgbSw1oaHyR"', '6']],
  async run(ctx, { address, minconf }) {
    const wallet = walletOf(ctx);
    const key = addressKey(wallet, address);
    if (destinationFlags(wallet, key) === MINE.no) {
      throw rpcError(RPC_ERROR.WALLET_ERROR, 'Address not found in wallet');
    }
    const minDepth = minconf();
    return coins(await ofOneState(wallet, () => receivedSat(wallet, key, minDepth)));
  },
});
