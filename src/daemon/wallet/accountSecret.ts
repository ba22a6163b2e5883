/**
 * Forms of seeds and keys from which an account can be created: lbry-sdk's own, and those of other wallets. An account
 * stores only a seed of lbry-sdk's form. For other forms it stores the extended key of the account, so that lbrynet can read
 * the wallet too. Source: BIP32, BIP39, BIP44, BIP84; SLIP-132 for the prefixes of BIP84 keys.
 */
import { mnemonicToSeedSync, validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { EXTENDED_KEY_SIZE, HARDENED, parseExtendedKey, rootOfSeed } from '../../signing/extendedKey.js';
import type { ExtendedKey } from '../../signing/extendedKey.js';
import { decodeBase58Check } from '../../script/base58.js';
import { badValue } from '../base/daemonError.js';
import type { LedgerParams } from '../base/ledgerParams.js';
import { keyAlong, keyPathText, parseKeyPath } from './keyPath.js';
import { extendedKeyText, parseExtendedKeyText } from './keys.js';
import { isSeedPhrase } from './seedPhrase.js';

/** The address type: P2PKH in base58, or P2WPKH in bech32 (BIP84). */
export const ADDRESS_TYPES = ['p2pkh', 'p2wpkh'] as const;
export type AddressType = (typeof ADDRESS_TYPES)[number];

export interface GivenSecret {
  readonly seed?: string | undefined;
  readonly privateKey?: string | undefined;
  readonly publicKey?: string | undefined;
  /** Path from the root of the seed or key to the account. */
  readonly path?: string | undefined;
  /** Passphrase of a BIP39 seed; undefined for none. */
  readonly passphrase?: string | undefined;
}

export interface AccountSecret {
  /** Name of the recognized form of the input, for display. */
  readonly form: string;
  readonly addressType: AddressType;
  /** Secret of an account, in the form of the members in a wallet file; null for an absent member. */
  readonly seed: string | null;
  readonly privateKey: string | null;
  readonly publicKey: string | null;
}

const BIP49 = HARDENED + 49;
const BIP84 = HARDENED + 84;
const PREFIX_SIZE = 4;
/** Pattern of a hexadecimal seed of 16 to 64 bytes, as lbcwallet displays it. Source: BIP32. */
const HEX_SEED = /^[0-9A-Fa-f]{32,128}$/;
/**
 * Version bytes of extended keys for P2WPKH addresses: zpub and zprv on the main network, vpub and vprv on test networks.
 */
const WITNESS_PREFIXES = {
  main: { public: 0x04b24746, secret: 0x04b2430c },
  test: { public: 0x045f1cf6, secret: 0x045f18bc },
} as const;

/** Version bytes of extended keys for addresses of BIP49: `ypub`, `yprv`, `upub` and `uprv`. Source: SLIP-132. */
const NESTED_PREFIXES: readonly number[] = [0x049d7cb2, 0x049d7878, 0x044a5262, 0x044a4e28];
const NO_NESTED = 'Addresses of BIP49, which nest a witness program in a script hash, are not supported.';

/** Whether the words are a BIP39 seed with a correct checksum. */
function isBip39Seed(words: string): boolean {
  return validateMnemonic(plainWords(words), wordlist);
}

const plainWords = (words: string): string =>
  words.normalize('NFKD').trim().toLowerCase().split(/\s+/u).join(' ');

/** Derives the seed of 64 bytes for the root key. Source: BIP39. */
export function bip39SeedBytes(words: string, passphrase = ''): Buffer {
  return Buffer.from(mnemonicToSeedSync(plainWords(words), passphrase));
}

/**
 * Converts the input to fields of an account. Throws `ValueError` if a field of the input is missing, superfluous or
 * malformed.
 */
export function accountSecretOf(given: GivenSecret, ledger: LedgerParams): AccountSecret {
  const { seed, privateKey, publicKey, passphrase } = given;
  const path = given.path ? parseKeyPath(given.path) : null;
  if (!seed && !privateKey && !publicKey)
    throw badValue("One of 'seed', 'private_key' and 'public_key' is required.");
  if (seed) {
    if (path !== null) return secretOfSeed(seed, path, passphrase, ledger);
    if (passphrase) throw badValue("'passphrase' belongs to a BIP39 seed, which requires a 'path' too.");
    return secretOfWords(seed, privateKey, publicKey);
  }
  if (passphrase) throw badValue("'passphrase' belongs to a BIP39 seed.");
  return secretOfKey((privateKey || publicKey)!, path, ledger);
}

/** Fields for a seed phrase without a path. The phrase is stored in lbry-sdk's form, which accepts any words. */
function secretOfWords(seed: string, privateKey?: string, publicKey?: string): AccountSecret {
  const isOwn = isSeedPhrase(seed);
  if (!isOwn && isBip39Seed(seed))
    throw badValue(
      "These words are a BIP39 seed. Pass the path that its wallet uses, for example --path=m/44'/140'/0' " +
        "or, for addresses that begin with the network's bech32 prefix, --path=m/84'/140'/0'.",
    );
  return {
    form: isOwn ? 'lbry-sdk seed' : 'other words, used as lbry-sdk uses them',
    addressType: 'p2pkh',
    seed,
    privateKey: privateKey ?? null,
    publicKey: publicKey ?? null,
  };
}

function secretOfSeed(
  seed: string,
  path: readonly number[],
  passphrase: string | undefined,
  ledger: LedgerParams,
): AccountSecret {
  const isHex = HEX_SEED.test(seed.trim()) && seed.trim().length % 2 === 0;
  if (isHex && passphrase) throw badValue("'passphrase' belongs to a BIP39 seed.");
  if (!isHex && !isBip39Seed(seed))
    throw badValue(
      isSeedPhrase(seed)
        ? "These words are a seed of lbry-sdk, which has no path. Omit 'path'."
        : 'These words are not a BIP39 seed: a word is wrong, or one is missing, or they are in another order.',
    );
  const bytes = isHex ? Buffer.from(seed.trim(), 'hex') : bip39SeedBytes(seed, passphrase);
  const account = keyAlong(rootOfSeed(bytes), path);
  return {
    form: `${isHex ? 'BIP32 seed in hex' : 'BIP39 seed'} with path ${keyPathText(path)}`,
    addressType: addressTypeOf(path),
    seed: null,
    privateKey: extendedKeyText(account, true, ledger),
    publicKey: null,
  };
}

function addressTypeOf(path: readonly number[]): AddressType {
  if (path[0] === BIP49) throw badValue(NO_NESTED);
  return path[0] === BIP84 ? 'p2wpkh' : 'p2pkh';
}

function secretOfKey(text: string, path: readonly number[] | null, ledger: LedgerParams): AccountSecret {
  const witness = witnessKeyOf(text, ledger);
  const key = witness ?? parseExtendedKeyText(text, ledger);
  if (path !== null && key.depth > 0)
    throw badValue(`'path' begins at a root key. This key is ${key.depth} levels below its root.`);
  const account = path === null ? key : keyAlong(key, path);
  const isPrivate = account.privateKey !== null;
  const kind = `${witness ? 'BIP84 ' : ''}extended ${isPrivate ? 'private' : 'public'} key`;
  const accountText = extendedKeyText(account, isPrivate, ledger);
  return {
    form: path === null ? kind : `${kind} with path ${keyPathText(path)}`,
    addressType: witness ? 'p2wpkh' : addressTypeOf(path ?? []),
    seed: null,
    privateKey: isPrivate ? accountText : null,
    publicKey: isPrivate ? null : accountText,
  };
}

/**
 * Parses an extended key whose prefix stands for P2WPKH addresses. Returns null if it has another prefix. Throws
 * `ValueError` for an invalid key.
 */
function witnessKeyOf(text: string, { id }: LedgerParams): ExtendedKey | null {
  const bytes = decodeBase58Check(text);
  if (bytes === null || bytes.length !== PREFIX_SIZE + EXTENDED_KEY_SIZE) return null;
  const version = bytes.readUInt32BE(0);
  if (NESTED_PREFIXES.includes(version)) throw badValue(NO_NESTED);
  const prefixes = WITNESS_PREFIXES[id === 'lbc_mainnet' ? 'main' : 'test'];
  if (version !== prefixes.secret && version !== prefixes.public) return null;
  const key = parseExtendedKey(bytes.subarray(PREFIX_SIZE), version === prefixes.secret);
  if (key === null) throw badValue('invalid extended key');
  return key;
}
