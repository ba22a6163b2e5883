/** `getaddressinfo`: the wallet's data about an address. Source: lbrycrd wallet/rpcwallet.cpp `DescribeWalletAddressVisitor`. */
import { COMPRESSED_KEY_SIZE } from '../../../../crypto/ecdsaEncoding.js';
import { hash160, ripemd160 } from '../../../../crypto/hash.js';
import { decodeDestination, encodeDestination } from '../../../../script/address.js';
import {
  extractDestination,
  scriptForDestination,
  solveScript,
  type Destination,
} from '../../../../script/standard.js';
import { hashToHex, toHex, type Bytes } from '../../../../util/bytes.js';
import type { JsonOut } from '../../../../util/json/jsonWrite.js';
import { isMine, MINE } from '../../../../wallet/keys/isMine.js';
import { keyIdOfDestination } from '../../../../wallet/keys/keyOfDestination.js';
import type { KeyMetadata } from '../../../../wallet/keys/keyRecords.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { SCRIPT_TYPES } from '../../../format/script.js';
import { defineMethod, type RpcContext } from '../../../declare/method.js';
import { t, type SchemaFields } from '../../../../schema/schema.js';
import { describeDestination } from '../../util/validateAddress.js';
import { walletOf } from '../wallets/walletOf.js';

/** Schema of the fields of an address. Embedded addresses have the same fields. */
const DETAILS: SchemaFields = {
  isscript: t.optional(t.bool('whether the key is a script'), 'absent for unknown witness versions'),
  iswitness: t.bool('whether the address is a witness address'),
  witness_version: t.optional(t.int('the version of the witness program'), 'for a witness address'),
  witness_program: t.optional(t.hex('the witness program'), 'for a witness address'),
  pubkey: t.optional(
    t.hex('the public key'),
    'for addresses of one key, including embedded ones, if the key is known',
  ),
  iscompressed: t.optional(t.bool('whether the public key is compressed'), 'if the key is known'),
  script: t.optional(t.oneOf(SCRIPT_TYPES, 'the type of the script'), 'if the script is known'),
  hex: t.optional(t.hex('the script in hex'), 'if the key is known'),
  sigsrequired: t.optional(
    t.int('number of signatures required by the multisig script'),
    'for a known multisig script',
  ),
  pubkeys: t.optional(t.array(t.hex('a public key')), 'for a known multisig script'),
  addresses: t.optional(t.array(t.str('an address')), 'with -deprecatedrpc=validateaddress'),
};
const EMBEDDED: SchemaFields = {
  ...DETAILS,
  address: t.str('the address in the script'),
  scriptPubKey: t.hex('the script that pays to it'),
};

type Fields = Record<string, JsonOut>;

/** Source: `ProcessSubScript`. */
function describeScript(wallet: Wallet, script: Bytes, withAddresses: boolean): Fields {
  const template = solveScript(script);
  const fields: Fields = { script: template.type, hex: toHex(script) };
  const addresses: string[] = [];
  const inner = extractDestination(script);
  if (inner !== null) {
    const address = encodeDestination(inner, wallet.prefixes);
    const embedded: Fields = {
      ...describeDestination(inner),
      ...describe(wallet, inner, false),
      address,
      scriptPubKey: toHex(script),
    };
    if (embedded['pubkey'] !== undefined) fields['pubkey'] = embedded['pubkey'];
    fields['embedded'] = embedded;
    addresses.push(address);
  } else if (template.type === 'multisig') {
    fields['sigsrequired'] = template.required;
    fields['pubkeys'] = template.publicKeys.map(toHex);
    for (const key of template.publicKeys)
      addresses.push(encodeDestination({ type: 'pubkeyhash', hash: hash160(key) }, wallet.prefixes));
  }
  if (withAddresses) fields['addresses'] = addresses;
  return fields;
}

/** Returns the wallet's data about the key or script of an address. */
function describe(wallet: Wallet, destination: Destination, withAddresses: boolean): Fields {
  const { keyring } = wallet;
  switch (destination.type) {
    case 'pubkeyhash': {
      const key = keyring.publicKey(destination.hash);
      if (key === null) return {};
      return { pubkey: toHex(key), iscompressed: key.length === COMPRESSED_KEY_SIZE };
    }
    case 'witness_v0_keyhash': {
      const key = keyring.publicKey(destination.hash);
      return key === null ? {} : { pubkey: toHex(key) };
    }
    case 'scripthash': {
      const script = keyring.script(destination.hash);
      return script === null ? {} : describeScript(wallet, script, withAddresses);
    }
    case 'witness_v0_scripthash': {
      const script = keyring.script(ripemd160(destination.hash));
      return script === null ? {} : describeScript(wallet, script, false);
    }
    case 'witness_unknown':
      return {};
  }
}

/**
 * Returns the origin of an address's key: its creation time and, if it was derived, its HD path. For a watched address,
 * returns the time from which it is watched.
 */
function originOf({ keyring }: Wallet, destination: Destination, script: Bytes): Fields {
  const keyId = keyIdOfDestination(keyring, destination);
  const metadata: KeyMetadata | null =
    (keyId === null ? null : keyring.metadata(keyId)) ?? keyring.watchedMetadata(hash160(script));
  if (metadata === null) return {};
  const { createdSec, path, seedId } = metadata;
  if (path === '') return { timestamp: createdSec };
  const seed = hashToHex(seedId);
  return { timestamp: createdSec, hdkeypath: path, hdseedid: seed, hdmasterkeyid: seed };
}

function labelsOf(ctx: RpcContext, { book }: Wallet, address: string): { label: Fields; labels: JsonOut } {
  const entry = book.find(address);
  if (entry === undefined) return { label: {}, labels: [] };
  const { label, purpose } = entry;
  return {
    label: { label, ...(ctx.isDeprecatedEnabled('accounts') ? { account: label } : {}) },
    labels: [{ name: label, purpose }],
  };
}

export const ADDRESS_INFO: SchemaFields = {
  address: t.str('the address'),
  scriptPubKey: t.hex('the script that pays to the address'),
  ismine: t.bool('whether the address is yours'),
  iswatchonly: t.bool('whether the address is watched'),
  isclaim: t.bool('always false for an address, because each output can be a claim or not'),
  issupport: t.bool('always false, in the same way, for supports'),
  ...DETAILS,
  embedded: t.optional(
    t.object({ ...EMBEDDED, embedded: t.optional(t.object(EMBEDDED), 'the same once more') }),
    'for a script that is itself an address',
  ),
  label: t.optional(t.str('the label'), 'if it has one'),
  account: t.optional(t.str('the same value as "label"'), 'with -deprecatedrpc=accounts'),
  timestamp: t.optional(t.int('creation time of the key, in seconds since 1970'), 'if the key is known'),
  hdkeypath: t.optional(t.str('the derivation path of the key'), 'for keys derived from a seed'),
  hdseedid: t.optional(
    t.claimId('the id of the seed, as the hash of its key'),
    'for keys derived from a seed',
  ),
  hdmasterkeyid: t.optional(t.claimId('the same value under its older name'), 'for keys derived from a seed'),
  labels: t.array(
    t.object({
      name: t.str('the label'),
      purpose: t.str('purpose of the key: send, receive, refund, timelock or unknown'),
    }),
    'the labels; at most one',
  ),
};

/** Returns the wallet's data about an address. Throws if the address is invalid. */
export function addressInfo(ctx: RpcContext, text: string): Record<string, JsonOut> {
  const wallet = walletOf(ctx);
  const destination = decodeDestination(text, wallet.prefixes);
  if (destination === null) throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'Invalid address');
  const address = encodeDestination(destination, wallet.prefixes);
  const script = scriptForDestination(destination);
  const mine = isMine(wallet.keyring, script);
  const { label, labels } = labelsOf(ctx, wallet, address);
  return {
    address,
    scriptPubKey: toHex(script),
    ismine: (mine & MINE.spendable) !== 0,
    iswatchonly: (mine & MINE.watchOnly) !== 0,
    isclaim: (mine & MINE.claim) !== 0,
    issupport: (mine & MINE.support) !== 0,
    ...describeDestination(destination),
    ...describe(wallet, destination, ctx.isDeprecatedEnabled('validateaddress')),
    ...label,
    ...originOf(wallet, destination, script),
    labels,
  };
}

export const getAddressInfo = defineMethod({
  name: 'getaddressinfo',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Return information about the given address. Some information requires the address to be in the wallet.',
  params: [
    {
      name: 'address',
      type: 'string',
      required: true,
      description: 'The address to get the information of',
    },
  ],
  result: t.object(ADDRESS_INFO),
  examples: [['"bW5PZEvEBNPQRVhwpYXSjabFgbSw1oaHyR"']],
  run: (ctx, { address }) => addressInfo(ctx, address),
});
