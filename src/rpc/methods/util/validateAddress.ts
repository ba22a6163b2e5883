/** `validateaddress`: tells whether an address belongs to this network, and describes it. */
import { decodeDestination, encodeDestination } from '../../../script/address.js';
import { scriptForDestination, type Destination } from '../../../script/standard.js';
import { toHex, type Bytes } from '../../../util/bytes.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { addressPrefixes } from '../../format/addresses.js';
import { defineMethod, type RpcContext } from '../../declare/method.js';
import { t, type SchemaFields } from '../../../schema/schema.js';

function witnessAnswer(version: number, program: Bytes): Record<string, JsonOut> {
  return { iswitness: true, witness_version: version, witness_program: toHex(program) };
}

/** Source: `DescribeAddressVisitor`. */
export function describeDestination(destination: Destination): Record<string, JsonOut> {
  switch (destination.type) {
    case 'pubkeyhash':
      return { isscript: false, iswitness: false };
    case 'scripthash':
      return { isscript: true, iswitness: false };
    case 'witness_v0_keyhash':
      return { isscript: false, ...witnessAnswer(0, destination.hash) };
    case 'witness_v0_scripthash':
      return { isscript: true, ...witnessAnswer(0, destination.hash) };
    case 'witness_unknown':
      return witnessAnswer(destination.version, destination.program);
  }
}

export const VALIDATED: SchemaFields = {
  isvalid: t.bool('whether the address is valid; if not, this is the only member'),
  address: t.optional(t.str('the address'), 'if the address is valid'),
  scriptPubKey: t.optional(t.hex('the script that pays to the address'), 'if the address is valid'),
  isscript: t.optional(
    t.bool('whether the key is a script'),
    'if the address is valid and its witness version is known',
  ),
  iswitness: t.optional(t.bool('whether the address is a witness address'), 'if the address is valid'),
  witness_version: t.optional(t.int('the version of the witness program'), 'for a witness address'),
  witness_program: t.optional(t.hex('the witness program'), 'for a witness address'),
};

/** Parts of the declaration that all profiles share. */
export const VALIDATE_ADDRESS = {
  name: 'validateaddress',
  category: 'util',
  summary: 'Return information about the given address.',
  params: [{ name: 'address', type: 'string', required: true, description: 'The address to validate' }],
  examples: [['"bW5PZEvEBNPQRVhwpYXSjabFgbSw1oaHyR"']],
} as const;

export function validated({ params }: RpcContext['services'], address: string): Record<string, JsonOut> {
  const prefixes = addressPrefixes(params);
  const destination = decodeDestination(address, prefixes);
  if (destination === null) return { isvalid: false };
  return {
    isvalid: true,
    address: encodeDestination(destination, prefixes),
    scriptPubKey: toHex(scriptForDestination(destination)),
    ...describeDestination(destination),
  };
}

export const validateAddress = defineMethod({
  ...VALIDATE_ADDRESS,
  explorer: 'console',
  chainUse: 'none',
  profiles: ['documented', 'lbcd'],
  result: t.object(VALIDATED),
  run: ({ services }, { address }) => validated(services, address),
});
