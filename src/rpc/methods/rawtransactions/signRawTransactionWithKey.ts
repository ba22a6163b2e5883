/** `signrawtransactionwithkey`: signs with the keys in the arguments. Source: lbrycrd rpc/rawtransaction.cpp. */
import { decodeSecret } from '../../../script/wif.js';
import { MemoryKeyStore, signingKeyOf } from '../../../signing/signingProvider.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import type { JsonValue } from '../../../util/json/json.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { addressPrefixes } from '../../format/addresses.js';
import { decodeTransaction } from '../../format/decodeTransaction.js';
import { defineMethod } from '../../declare/method.js';
import { getString } from '../../declare/paramTypes.js';
import type { RpcServices } from '../../../interfaces/services.js';
import { PREVTXS_PARAM, SIGHASH_PARAM, SIGNED_SCHEMA, signTransaction } from './signTransaction.js';

/** Parses the private keys. Throws error -5 for a key that is not a key of this network. */
async function readKeys(keys: readonly JsonValue[], params: RpcServices['params']): Promise<MemoryKeyStore> {
  const prefixes = addressPrefixes(params);
  const store = new MemoryKeyStore();
  let since = performance.now();
  for (const text of keys) {
    const secret = decodeSecret(getString(text), prefixes);
    if (secret === null) throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Invalid private key');
    store.addKey(signingKeyOf(secret.privateKey, secret.compressed));
    since = await yieldIfDue(since);
  }
  return store;
}

export interface KeySignRequest {
  readonly hexstring: string;
  readonly privkeys: readonly JsonValue[];
  readonly prevtxs: readonly JsonValue[] | undefined;
  readonly sighashtype: string | undefined;
}

export async function signWithKeys(services: RpcServices, request: KeySignRequest): Promise<JsonOut> {
  const tx = await decodeTransaction(request.hexstring, true, true);
  if (tx === null) throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, 'TX decode failed');
  const store = await readKeys(request.privkeys, services.params);
  const { prevtxs: prevTxs, sighashtype: sighashType } = request;
  return signTransaction(services, { tx, prevTxs, sighashType, provider: store, scripts: store });
}

export const signRawTransactionWithKey = defineMethod({
  name: 'signrawtransactionwithkey',
  category: 'rawtransactions',
  chainUse: 'reads',
  summary:
    'Sign inputs for raw transaction (serialized, hex-encoded).\nThe second argument is an array of base58-encoded private ' +
    'keys that will be the only keys used to sign the transaction.\nThe third optional argument (may be null) is an array ' +
    'of previous transaction outputs that this transaction depends on but may not yet be in the block chain.',
  params: [
    {
      name: 'hexstring',
      type: 'string',
      required: true,
      strict: 'nullable',
      description: 'The transaction hex string',
    },
    {
      name: 'privkeys',
      type: 'array',
      required: true,
      strict: 'nullable',
      description: 'The base58-encoded private keys for signing',
    },
    PREVTXS_PARAM,
    SIGHASH_PARAM,
  ],
  result: SIGNED_SCHEMA,
  examples: [['"myhex"', '["mykey"]']],
  run({ services }, args) {
    return signWithKeys(services, args);
  },
});
