/** Methods of lbcwallet for addresses: creating, importing and describing them. */
import { encodeDestination } from '../../../script/address.js';
import { scriptForDestination, solveScript } from '../../../script/standard.js';
import { destinationForKey, OUTPUT_TYPES } from '../../../signing/outputType.js';
import { ecdsaBackend } from '../../../crypto/ecdsa.js';
import { decodeSecret } from '../../../script/wif.js';
import { isMine, MINE } from '../../../wallet/keys/isMine.js';
import { newAddress } from '../../../wallet/keys/newAddress.js';
import {
  IMPORTED_ACCOUNT,
  IMPORTED_ACCOUNT_NAME,
  DEFAULT_ACCOUNT,
  LbcdAccounts,
} from '../../../wallet/lbcd/accounts.js';
import type { Wallet } from '../../../wallet/wallet.js';
import type { Bytes } from '../../../util/bytes.js';
import { toHex } from '../../../util/bytes.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { t } from '../../../schema/schema.js';
import { ranOut } from '../wallet/addresses/addressArguments.js';
import { walletOf } from '../wallet/wallets/walletOf.js';
import { accountAddress } from './accounts.js';
import {
  ACCOUNT_PARAM,
  ADDRESS_TYPE_PARAM,
  addressKind,
  callNode,
  destinationOf,
  lbcwalletMethod,
  unlockNeeded,
} from './lbcwalletMethod.js';

const LEGACY_PARAM = { ...ADDRESS_TYPE_PARAM, default: 'legacy' } as const;

export const getNewAddress = lbcwalletMethod({
  name: 'getnewaddress',
  summary: 'Returns a new address of an account.',
  params: [ACCOUNT_PARAM, LEGACY_PARAM],
  result: t.str('the address'),
  run(ctx, { account, addresstype }) {
    const wallet = walletOf(ctx);
    const accounts = new LbcdAccounts(wallet);
    const number = account === '' ? DEFAULT_ACCOUNT : accounts.numberOf(account);
    return accountAddress(wallet, number, addresstype);
  },
});

export const getRawChangeAddress = lbcwalletMethod({
  name: 'getrawchangeaddress',
  summary: 'Returns a new address for change of an account.',
  params: [ACCOUNT_PARAM, LEGACY_PARAM],
  result: t.str('the address'),
  async run(ctx, { account, addresstype }) {
    const wallet = walletOf(ctx);
    const number = new LbcdAccounts(wallet).numberOf(account);
    const address = await newAddress(wallet, addressKind(addresstype) ?? 'legacy', 'change');
    if (address === null) throw wallet.isLocked ? unlockNeeded() : ranOut();
    await wallet.change((batch) => new LbcdAccounts(wallet).assign(batch, address, number));
    return address;
  },
});

function refuseOtherAccount(account: string | undefined): void {
  if (account === undefined || account === IMPORTED_ACCOUNT_NAME) return;
  throw rpcError(RPC_ERROR.WALLET_ERROR, 'imported addresses must belong to the imported account');
}

async function assignImported(wallet: Wallet, addresses: readonly string[]): Promise<void> {
  await wallet.change((batch) => {
    const accounts = new LbcdAccounts(wallet);
    for (const address of addresses) accounts.assign(batch, address, IMPORTED_ACCOUNT);
  });
}

export const importPrivKey = lbcwalletMethod({
  name: 'importprivkey',
  summary: 'Adds a private key to the account of imported keys.',
  params: [
    { name: 'privkey', type: 'string', required: true, description: 'The private key in WIF' },
    { name: 'label', type: 'string', description: 'The name of the account: "imported"' },
    {
      name: 'rescan',
      type: 'boolean',
      default: true,
      description: 'Rescan the chain for transactions of the key',
    },
  ],
  result: t.none(),
  async run(ctx, { privkey, label, rescan }) {
    const wallet = walletOf(ctx);
    refuseOtherAccount(label);
    const secret = decodeSecret(privkey, wallet.prefixes);
    if (secret === null)
      throw rpcError(RPC_ERROR.INVALID_ADDRESS_OR_KEY, 'WIF decode failed: malformed private key');
    if (wallet.isLocked) throw unlockNeeded();
    const publicKey = ecdsaBackend().publicKeyOf(secret.privateKey, secret.compressed);
    secret.privateKey.fill(0);
    await callNode(ctx, 'importprivkey', [privkey, '', rescan]);
    const destinations = OUTPUT_TYPES.map((type) => destinationForKey(publicKey, type));
    await assignImported(
      wallet,
      destinations.map((one) => encodeDestination(one, wallet.prefixes)),
    );
    return null;
  },
});

export const addMultisigAddress = lbcwalletMethod({
  name: 'addmultisigaddress',
  summary: 'Adds a multisig script to the wallet, and returns its address.',
  params: [
    { name: 'nrequired', type: 'integer', required: true, description: 'Number of required signatures' },
    { name: 'keys', type: 'array', required: true, description: 'Public keys, or addresses of the wallet' },
    { name: 'account', type: 'string', description: 'The name of the account: "imported"' },
  ],
  result: t.str('the address'),
  async run(ctx, { nrequired, keys, account }, positional) {
    const wallet = walletOf(ctx);
    refuseOtherAccount(account);
    const made = await callNode(ctx, 'addmultisigaddress', [positional[0]!, keys, '', 'legacy']);
    const { address } = made as { readonly address: string };
    if (nrequired > 0) await assignImported(wallet, [address]);
    return address;
  },
});

export const keypoolRefill = lbcwalletMethod({
  name: 'keypoolrefill',
  summary: 'Has no effect: keys are derived when they are needed.',
  params: [{ name: 'newsize', type: 'integer', default: 100, description: 'Ignored' }],
  result: t.none(),
  run: () => null,
});

const SCRIPT_TYPES = {
  pubkey: 'pubkey',
  pubkeyhash: 'pubkeyhash',
  scripthash: 'scripthash',
  multisig: 'multisig',
  nulldata: 'nulldata',
  witness_v0_keyhash: 'witness_v0_keyhash',
  witness_v0_scripthash: 'witness_v0_scripthash',
} as const;

/** Returns the fields that describe a redeem or witness script. */
function scriptFacts(wallet: Wallet, script: Bytes): Record<string, JsonOut> {
  const template = solveScript(script);
  const type = SCRIPT_TYPES[template.type as keyof typeof SCRIPT_TYPES] ?? 'nonstandard';
  if (template.type !== 'multisig') return { hex: toHex(script), script: type };
  const addresses = template.publicKeys.map((key) =>
    encodeDestination(destinationForKey(key, 'legacy'), wallet.prefixes),
  );
  return { hex: toHex(script), script: type, addresses, sigsrequired: template.required };
}

/** Returns the redeem script of a P2SH output script; null if the wallet does not have it. */
function innerScript(wallet: Wallet, script: Bytes): Bytes | null {
  const template = solveScript(script);
  return template.type === 'scripthash' ? wallet.keyring.script(template.hash) : null;
}

/**
 * Returns the key of an address in the wallet. Null if the address does not pay to a single key, either directly or by a
 * witness program, with or without P2SH.
 */
function keyBehind(wallet: Wallet, script: Bytes): { readonly publicKey: Bytes; readonly id: Bytes } | null {
  const template = solveScript(innerScript(wallet, script) ?? script);
  if (template.type !== 'pubkeyhash' && template.type !== 'witness_v0_keyhash') return null;
  const publicKey = wallet.keyring.publicKey(template.hash);
  return publicKey === null ? null : { publicKey, id: template.hash };
}

export const validateAddress = lbcwalletMethod({
  name: 'validateaddress',
  summary: 'Validates an address, and returns what the wallet knows about it.',
  params: [{ name: 'address', type: 'string', required: true, description: 'The address' }],
  result: t.object({
    isvalid: t.bool('whether the address is valid'),
    address: t.optional(t.str('the address'), 'if the address is valid'),
    ismine: t.optional(t.bool('true'), 'if the address belongs to the wallet'),
    isscript: t.optional(t.bool('true'), 'for a script address'),
    pubkey: t.optional(t.hex('the public key'), 'for a key address'),
    iscompressed: t.optional(t.bool('true'), 'for a compressed key'),
    account: t.optional(t.str('the account of the address'), 'if the address belongs to the wallet'),
    addresses: t.optional(t.array(t.str('the address of a key')), 'for a multisig script'),
    hex: t.optional(t.hex('the script in hex'), 'for a script address'),
    script: t.optional(t.str('the type of the script'), 'for a script address'),
    sigsrequired: t.optional(t.int('number of required signatures'), 'for a multisig script'),
  }),
  run(ctx, { address: text }) {
    const wallet = walletOf(ctx);
    let script: Bytes;
    try {
      script = scriptForDestination(destinationOf(wallet, text));
    } catch {
      return { isvalid: false };
    }
    const answer: Record<string, JsonOut> = { isvalid: true, address: text };
    if ((isMine(wallet.keyring, script) & MINE.spendable) === 0) return answer;
    const accounts = new LbcdAccounts(wallet);
    const account = accounts.nameOf(accounts.ofAddress(text));
    const key = keyBehind(wallet, script);
    if (key !== null) {
      const isCompressed = key.publicKey.length === 33 ? { iscompressed: true } : {};
      return { ...answer, ismine: true, pubkey: toHex(key.publicKey), ...isCompressed, account };
    }
    const inner = innerScript(wallet, script);
    const facts = inner === null ? {} : scriptFacts(wallet, inner);
    return { ...answer, ismine: true, isscript: true, account, ...facts };
  },
});

export const getAddressInfo = lbcwalletMethod({
  name: 'getaddressinfo',
  summary: 'Returns information about an address.',
  params: [{ name: 'address', type: 'string', required: true, description: 'The address' }],
  result: t.object({
    address: t.str('the address'),
    scriptPubKey: t.hex('the script that pays to it'),
    isscript: t.bool('whether it is one of a script'),
    ischange: t.bool('whether it is a change address of the wallet'),
    iswitness: t.bool('whether it is a witness program'),
    witness_version: t.optional(t.int('the version of the program'), 'if it exceeds 0'),
    witness_program: t.optional(t.hex('the witness program'), 'for a witness program'),
    script: t.optional(t.str('the kind of the redeem script'), 'if it is known'),
    hex: t.optional(t.hex('the redeem script'), 'if it is known'),
    pubkeys: t.optional(t.array(t.str('the address of a key')), 'for a multisig script'),
    sigsrequired: t.optional(t.int('number of required signatures'), 'for a multisig script'),
    pubkey: t.optional(t.hex('the public key'), 'for a key address of the wallet'),
    iscompressed: t.optional(t.bool('whether the key is compressed'), 'if the address belongs to the wallet'),
    labels: t.none('always null'),
    ismine: t.bool('whether the address belongs to the wallet'),
    iswatchonly: t.bool('whether the address is only watched'),
    hdkeypath: t.optional(t.str('the derivation path of the key'), 'if the key is derived from the seed'),
  }),
  run(ctx, { address: text }) {
    const wallet = walletOf(ctx);
    const destination = destinationOf(wallet, text);
    const script = scriptForDestination(destination);
    const mine = isMine(wallet.keyring, script);
    const key = (mine & MINE.spendable) === 0 ? null : keyBehind(wallet, script);
    const path = key === null ? '' : (wallet.keyring.metadata(key.id)?.path ?? '');
    const inner = key === null ? innerScript(wallet, script) : null;
    const { addresses, ...facts } = inner === null ? {} : scriptFacts(wallet, inner);
    const { type } = destination;
    const program =
      type === 'witness_unknown'
        ? destination.program
        : type === 'witness_v0_keyhash' || type === 'witness_v0_scripthash'
          ? destination.hash
          : null;
    return {
      address: text,
      scriptPubKey: toHex(script),
      isscript: type === 'scripthash' || type === 'witness_v0_scripthash',
      ischange: path.startsWith("m/0'/1'/"),
      iswitness: program !== null,
      witness_version: type === 'witness_unknown' ? destination.version : undefined,
      witness_program: program === null ? undefined : toHex(program),
      ...facts,
      pubkeys: addresses,
      pubkey: key === null ? undefined : toHex(key.publicKey),
      iscompressed: key === null ? undefined : key.publicKey.length === 33,
      labels: null,
      ismine: (mine & MINE.spendable) !== 0,
      iswatchonly: (mine & MINE.watchOnly) !== 0,
      hdkeypath: /^m\//.test(path) ? path : undefined,
    };
  },
});
