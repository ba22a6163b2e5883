/** `createmultisig`: creates an address that needs signatures of several keys. Source: lbrycrd rpc/misc.cpp, rpc/util.cpp. */
import { UNCOMPRESSED_KEY_SIZE, COMPRESSED_KEY_SIZE } from '../../../crypto/ecdsaEncoding.js';
import { encodeDestination } from '../../../script/address.js';
import { MAX_SCRIPT_ELEMENT_SIZE } from '../../../script/script.js';
import { scriptForMultisig } from '../../../script/standard.js';
import { ecdsaBackend } from '../../../crypto/ecdsa.js';
import { destinationForScript, isOutputType, type OutputType } from '../../../signing/outputType.js';
import { MemoryKeyStore } from '../../../signing/signingProvider.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { fromHex, isHex, toHex, type Bytes } from '../../../util/bytes.js';
import type { JsonValue } from '../../../util/json/json.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { addressPrefixes } from '../../format/addresses.js';
import { defineMethod } from '../../declare/method.js';
import { getString } from '../../declare/paramTypes.js';
import { t } from '../../../schema/schema.js';

const MAX_KEYS = 16;
const KEY_DIGITS = [COMPRESSED_KEY_SIZE * 2, UNCOMPRESSED_KEY_SIZE * 2];

function readPublicKey(value: JsonValue): Bytes {
  const text = getString(value);
  if (!KEY_DIGITS.includes(text.length) || !isHex(text)) {
    throw rpcError(
      RPC_ERROR.INVALID_ADDRESS_OR_KEY,
      `Invalid public key: ${text}\nNote that from v0.16, createmultisig no longer accepts addresses. Users must use ` +
        'addmultisigaddress to create multisig addresses with addresses known to the wallet.',
    );
  }
  const publicKey = fromHex(text);
  if (ecdsaBackend().isFullyValidPublicKey(publicKey)) return publicKey;
  throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, `Invalid public key: ${text}`);
}

/** Creates the script that needs signatures of `required` of the keys. Source: `CreateMultisigRedeemscript`. */
export function multisigScript(required: number, publicKeys: readonly Bytes[]): Buffer {
  const fail = (message: string): never => {
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, message);
  };
  const count = publicKeys.length;
  if (required < 1) fail('a multisignature address must require at least one key to redeem');
  if (count < required) {
    fail(`not enough keys supplied (got ${count} keys, but need at least ${required} to redeem)`);
  }
  if (count > MAX_KEYS) {
    fail('Number of keys involved in the multisignature address creation > 16\nReduce the number');
  }
  const script = scriptForMultisig(required, publicKeys);
  if (script.length > MAX_SCRIPT_ELEMENT_SIZE) {
    fail(`redeemScript exceeds size limit: ${script.length} > ${MAX_SCRIPT_ELEMENT_SIZE}`);
  }
  return script;
}

/** Parses the name of an address type; default `legacy`. Throws error -5 for an unknown name. */
function readOutputType(value: JsonValue | undefined): OutputType {
  if (value === undefined) return 'legacy';
  const name = getString(value);
  if (isOutputType(name)) return name;
  throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, `Unknown address type '${name}'`);
}

export const createMultisig = defineMethod({
  name: 'createmultisig',
  category: 'util',
  chainUse: 'none',
  summary:
    'Creates a multi-signature address with n signature of m keys required.\nIt returns a json object with the address ' +
    'and redeemScript.',
  params: [
    {
      name: 'nrequired',
      type: 'integer',
      required: true,
      description: 'The number of required signatures out of the n keys',
    },
    {
      name: 'keys',
      type: 'array',
      required: true,
      description: 'The hex-encoded public keys',
    },
    {
      name: 'address_type',
      type: 'unreadString',
      defaultText: 'legacy',
      description: 'The address type to use: legacy, p2sh-segwit or bech32',
    },
  ],
  result: t.object({
    address: t.str('the new multisig address'),
    redeemScript: t.hex('the redemption script'),
  }),
  examples: [
    [
      '2',
      '["03789ed0bb717d88f7d321a368d905e7430207ebbd82bd342cf11ae157a7ace5fd","03dbc6764b8884a92e871274b87583e6d5c2a58819473e17e107ef3f6aa5a61626"]',
    ],
  ],
  async run({ services: { params } }, { nrequired, keys, address_type }) {
    const publicKeys: Bytes[] = [];
    let since = performance.now();
    for (const key of keys) {
      publicKeys.push(readPublicKey(key));
      since = await yieldIfDue(since);
    }
    const type = readOutputType(address_type);
    const script = multisigScript(nrequired, publicKeys);
    const destination = destinationForScript(new MemoryKeyStore(), script, type);
    return {
      address: encodeDestination(destination, addressPrefixes(params)),
      redeemScript: toHex(script),
    };
  },
});
