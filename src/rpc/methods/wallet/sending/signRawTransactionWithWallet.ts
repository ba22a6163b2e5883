/** `signrawtransactionwithwallet`: signs with the wallet's keys. Source: lbrycrd wallet/rpcwallet.cpp. */
import type { JsonValue } from '../../../../util/json/json.js';
import type { JsonOut } from '../../../../util/json/jsonWrite.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { decodeTransaction } from '../../../format/decodeTransaction.js';
import { defineMethod } from '../../../declare/method.js';
import type { RpcServices } from '../../../../interfaces/services.js';
import {
  PREVTXS_PARAM,
  SIGHASH_PARAM,
  SIGNED_SCHEMA,
  signTransaction,
} from '../../rawtransactions/signTransaction.js';
import { requireUnlocked, walletOf } from '../wallets/walletOf.js';

export interface WalletSignRequest {
  readonly hexstring: string;
  readonly prevtxs: readonly JsonValue[] | undefined;
  readonly sighashtype: string | undefined;
}

export async function signWithWallet(
  services: Pick<RpcServices, 'mempool' | 'chain'>,
  wallet: Wallet,
  { hexstring, prevtxs: prevTxs, sighashtype: sighashType }: WalletSignRequest,
): Promise<JsonOut> {
  const tx = await decodeTransaction(hexstring, true, true);
  if (tx === null) throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, 'TX decode failed');
  requireUnlocked(wallet);
  return signTransaction(services, { tx, prevTxs, sighashType, provider: wallet.keyring, scripts: null });
}

export const signRawTransactionWithWallet = defineMethod({
  name: 'signrawtransactionwithwallet',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Sign inputs for raw transaction (serialized, hex-encoded).\nThe second optional argument (may be null) is an array ' +
    'of previous transaction outputs that this transaction depends on but may not yet be in the block chain.\nRequires ' +
    'wallet passphrase to be set with walletpassphrase call.',
  params: [
    {
      name: 'hexstring',
      type: 'string',
      required: true,
      strict: 'nullable',
      description: 'The transaction hex string',
    },
    PREVTXS_PARAM,
    SIGHASH_PARAM,
  ],
  result: SIGNED_SCHEMA,
  examples: [['"myhex"']],
  run(ctx, args) {
    return signWithWallet(ctx.services, walletOf(ctx), args);
  },
});
