/**
 * `signrawtransaction`: deprecated method that signs with keys in the arguments or with a wallet. Source: lbrycrd
 * rpc/rawtransaction.cpp.
 */
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { getString } from '../../declare/paramTypes.js';
import { signWithWallet } from '../wallet/sending/signRawTransactionWithWallet.js';
import { walletOf } from '../wallet/wallets/walletOf.js';
import { PREVTXS_PARAM, SIGHASH_PARAM, SIGNED_SCHEMA } from './signTransaction.js';
import { signWithKeys } from './signRawTransactionWithKey.js';

export const signRawTransaction = defineMethod({
  name: 'signrawtransaction',
  category: 'rawtransactions',
  chainUse: 'reads',
  summary:
    'DEPRECATED. Sign inputs for raw transaction (serialized, hex-encoded).\nThe second optional argument (may be null) is ' +
    'an array of previous transaction outputs that this transaction depends on but may not yet be in the block chain.\n' +
    'The third optional argument (may be null) is an array of base58-encoded private keys that, if given, will be the ' +
    'only keys used to sign the transaction.',
  params: [
    {
      name: 'hexstring',
      // The type is not `string`, because the reference checks the keys before it parses the transaction.
      type: 'unreadString',
      required: true,
      strict: 'nullable',
      description: 'The transaction hex string',
    },
    PREVTXS_PARAM,
    {
      name: 'privkeys',
      type: 'array',
      strict: 'nullable',
      description: 'The base58-encoded private keys for signing',
    },
    SIGHASH_PARAM,
  ],
  result: SIGNED_SCHEMA,
  examples: [['"myhex"']],
  deprecated: {
    option: 'signrawtransaction',
    message:
      'signrawtransaction is deprecated and will be fully removed in v0.18. To use signrawtransaction in v0.17, restart ' +
      'lbrycrd with -deprecatedrpc=signrawtransaction.\nProjects should transition to using signrawtransactionwithkey and ' +
      'signrawtransactionwithwallet before upgrading to v0.18',
  },
  run(ctx, { hexstring, privkeys, ...args }) {
    if (privkeys !== undefined)
      return signWithKeys(ctx.services, { ...args, hexstring: getString(hexstring), privkeys });
    if (!ctx.services.wallets?.all().length)
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'No private keys available.');
    return signWithWallet(ctx.services, walletOf(ctx), { ...args, hexstring: getString(hexstring) });
  },
});
