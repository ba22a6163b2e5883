/**
 * `addmultisigaddress`: adds an address that needs signatures of several keys. Source: lbrycrd wallet/rpcwallet.cpp,
 * rpc/util.cpp.
 */
import { COMPRESSED_KEY_SIZE, UNCOMPRESSED_KEY_SIZE } from '../../../../crypto/ecdsaEncoding.js';
import { decodeDestination, encodeDestination } from '../../../../script/address.js';
import { ecdsaBackend } from '../../../../crypto/ecdsa.js';
import { yieldIfDue } from '../../../../scheduler/yield.js';
import { fromHex, isHex, toHex, type Bytes } from '../../../../util/bytes.js';
import { addScriptDestination, keyIdOfDestination } from '../../../../wallet/keys/keyOfDestination.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { getString } from '../../../declare/paramTypes.js';
import { t } from '../../../../schema/schema.js';
import { multisigScript } from '../../util/createMultisig.js';
import { ADDED_ADDRESS_PARAMS, addressTypeOf, checkLabel } from '../addresses/addressArguments.js';
import { runImport } from './importing.js';
import { walletOf } from '../wallets/walletOf.js';

const KEY_DIGITS = [COMPRESSED_KEY_SIZE * 2, UNCOMPRESSED_KEY_SIZE * 2];

/** Parses a public key in hex, or finds the key of an address in the wallet. Source: `HexToPubKey`, `AddrToPubKey`. */
function publicKeyFor({ keyring, prefixes }: Wallet, text: string): Bytes {
  const fail = (message: string, code: number = RPC_ERROR.INVALID_ADDRESS_OR_KEY): never => {
    throw rpcError(code, message);
  };
  const { isFullyValidPublicKey } = ecdsaBackend();
  if (KEY_DIGITS.includes(text.length) && isHex(text)) {
    const publicKey = fromHex(text);
    return isFullyValidPublicKey(publicKey) ? publicKey : fail(`Invalid public key: ${text}`);
  }
  const destination = decodeDestination(text, prefixes) ?? fail(`Invalid address: ${text}`);
  const keyId = keyIdOfDestination(keyring, destination) ?? fail(`${text} does not refer to a key`);
  const publicKey = keyring.publicKey(keyId) ?? fail(`no full public key for address ${text}`);
  if (isFullyValidPublicKey(publicKey)) return publicKey;
  return fail('Wallet contains an invalid public key', RPC_ERROR.INTERNAL_ERROR);
}

export const addMultisigAddress = defineMethod({
  name: 'addmultisigaddress',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Add a nrequired-to-sign multisignature address to the wallet. Requires a new wallet backup.\nEach key is an ' +
    'address or hex-encoded public key. Only intended for use with non-watchonly addresses; see importaddress for ' +
    'watchonly p2sh address support.',
  params: [
    {
      name: 'nrequired',
      type: 'integer',
      required: true,
      description: 'The number of required signatures out of the n keys or addresses',
    },
    {
      name: 'keys',
      type: 'array',
      required: true,
      description: 'The addresses or hex-encoded public keys',
    },
    ...ADDED_ADDRESS_PARAMS,
  ],
  result: t.object({
    address: t.str('the new multisig address'),
    redeemScript: t.hex('the redemption script'),
  }),
  examples: [['2', '["bW5PZEvEBNPQRVhwpYXSjabFgbSw1oaHyR","bCqJcQrPsDSsB8UUzSsvuApMW9TX8ffEWk"]']],
  async run(ctx, { nrequired, keys, label, address_type }) {
    const wallet = walletOf(ctx);
    checkLabel(label);
    const publicKeys: Bytes[] = [];
    let since = performance.now();
    for (const key of keys) {
      publicKeys.push(publicKeyFor(wallet, getString(key)));
      since = await yieldIfDue(since);
    }
    const type = addressTypeOf(address_type, wallet.options.addressType);
    const script = multisigScript(nrequired, publicKeys);
    const address = await runImport(wallet, (batch) => {
      const destination = addScriptDestination(wallet.keyring, batch, script, type);
      const text = encodeDestination(destination, wallet.prefixes);
      wallet.book.set(batch, text, label, 'send');
      return text;
    });
    return { address, redeemScript: toHex(script) };
  },
});
