/**
 * An account of a wallet: its root key, its address settings and its imported channel keys. Includes the form in the wallet
 * file, encryption, and merging with another copy. This class has neither the used addresses nor the coins of the account.
 * Source: lbry-sdk lbry/wallet/account.py `Account`.
 */
import { createHash } from 'node:crypto';
import { rootOfSeed, type ExtendedKey } from '../../signing/extendedKey.js';
import type { Bytes } from '../../util/bytes.js';
import { isJsonNumber, JsonObject, numberText, type JsonValue } from '../../util/json/json.js';
import type { Clock, DaemonRandom } from '../base/clock.js';
import { assertionFailure, badValue, invalidPassword } from '../base/daemonError.js';
import { isLedgerId, ledgerParams, type LedgerParams } from '../base/ledgerParams.js';
import { compareCodePoints, writePythonJson } from '../base/pythonJson.js';
import { ADDRESS_TYPES, type AddressType } from './accountSecret.js';
import { parseChannelKey } from './channelKeyPem.js';
import {
  addressOfKey,
  childKey,
  extendedKeyText,
  KEY_CHAIN,
  parseExtendedKeyText,
  witnessAddressOfKey,
  type KeyChain,
} from './keys.js';
import { ecdsaBackend } from '../../crypto/ecdsa.js';
import { seedBytes } from './seedPhrase.js';
import { decryptField, encryptField, INIT_VECTOR_SIZE } from './walletCipher.js';

/**
 * Limits of a key chain: number of unused addresses at the end (`gap`), and maximum number of transactions per address
 * (`maxUses`).
 */
export interface AddressGap {
  gap: number;
  maxUses: number;
}

/** Method by which an account gets its addresses: successive keys of its chains, or always the address of the root key. */
export type AddressGenerator =
  | { readonly name: 'deterministic-chain'; readonly receiving: AddressGap; readonly change: AddressGap }
  | { readonly name: 'single-address' };

type SecretField = 'seed' | 'private_key';

/** Dependencies of an account. */
export interface AccountTools {
  readonly clock: Clock;
  readonly random: DaemonRandom;
}

const DEFAULT_GAPS: Readonly<Record<'receiving' | 'change', AddressGap>> = {
  receiving: { gap: 20, maxUses: 1 },
  change: { gap: 6, maxUses: 1 },
};
const PEM_START = '-----BEGIN';

function textIn(object: JsonObject, key: string): string {
  const value = object.get(key) ?? '';
  if (typeof value !== 'string') throw badValue(`The field '${key}' of an account is not a string.`);
  return value;
}

/** Integer part of a number in the object; undefined if the member is not a number. */
function integerIn(object: JsonObject, key: string): number | undefined {
  const value = object.get(key);
  if (value === undefined) return undefined;
  if (!isJsonNumber(value)) throw badValue(`The field '${key}' of an account is not a number.`);
  const number = Math.trunc(Number(numberText(value)));
  if (!Number.isSafeInteger(number))
    throw badValue(`The field '${key}' of an account is too large a number.`);
  return number;
}

function objectIn(object: JsonObject, key: string): JsonObject | undefined {
  const value = object.get(key);
  if (value === undefined || value instanceof JsonObject) return value;
  throw badValue(`The field '${key}' of an account is not an object.`);
}

function gapIn(generator: JsonObject, chain: 'receiving' | 'change'): AddressGap {
  const given = objectIn(generator, chain);
  const { gap, maxUses } = DEFAULT_GAPS[chain];
  return {
    gap: (given && integerIn(given, 'gap')) ?? gap,
    maxUses: (given && integerIn(given, 'maximum_uses_per_address')) ?? maxUses,
  };
}

function generatorIn(account: JsonObject): AddressGenerator {
  const generator = objectIn(account, 'address_generator') ?? new JsonObject();
  const name = generator.get('name') ?? 'deterministic-chain';
  if (name === 'single-address') return { name };
  if (name !== 'deterministic-chain') throw badValue('The address generator of an account is unknown.');
  return { name, receiving: gapIn(generator, 'receiving'), change: gapIn(generator, 'change') };
}

function addressTypeIn(account: JsonObject): AddressType {
  const type = account.get('address_type') ?? 'p2pkh';
  const known = ADDRESS_TYPES.find((one) => one === type);
  if (known === undefined) throw badValue('The address type of an account is unknown.');
  return known;
}

/** The LBRY chain that an account in a file belongs to. Throws `ValueError`. */
export function ledgerIn(account: JsonObject): LedgerParams {
  const id = account.get('ledger');
  if (!isLedgerId(id)) throw badValue('The ledger of an account is unknown.');
  return ledgerParams(id);
}

/** Root key of an account in a file. The private key is null if it is encrypted or absent. */
export function accountKeysIn(account: JsonObject): ExtendedKey {
  const ledger = ledgerIn(account);
  if (account.get('encrypted') !== true) {
    const seed = textIn(account, 'seed');
    if (seed !== '') return rootOfSeed(seedBytes(seed));
    const privateKey = textIn(account, 'private_key');
    if (privateKey !== '') return parseExtendedKeyText(privateKey, ledger);
  }
  return { ...parseExtendedKeyText(textIn(account, 'public_key'), ledger), privateKey: null };
}

export class Account {
  readonly #tools: AccountTools;
  readonly ledger: LedgerParams;
  /** Id of the account: the address of its root public key. */
  readonly id: string;
  name: string;
  /** Seed phrase; empty if unknown. While the account is locked, this is the encrypted text of the file. */
  seed: string;
  modifiedOnSec: number;
  isLocked: boolean;
  readonly generator: AddressGenerator;
  /**
   * Type of the account's addresses. lbrynet supports only P2PKH: it ignores this field, and removes it when it writes the
   * file.
   */
  readonly addressType: AddressType;
  /** Imported channel keys as PEM texts, by address. Invalid entries of the file are preserved unchanged. */
  channelKeys: Map<string, JsonValue>;
  /** Encrypted private key from the file; empty unless the account is locked. */
  #privateKeyText: string;
  #root: ExtendedKey;
  readonly #publicChains = new Map<KeyChain, ExtendedKey>();
  /**
   * Secret fields that are null in the file. They stay null while the account is locked, because the hash of the wallet
   * covers them.
   */
  readonly #nullFields: Set<SecretField>;
  /** Initialization vector of each encrypted field. It does not change during the lifetime of the object. */
  readonly initVectors = new Map<SecretField, Buffer>();

  /** Parses an account of a wallet file. Only its chain and one key are required. Throws `ValueError`. */
  constructor(account: JsonObject, tools: AccountTools) {
    this.#tools = tools;
    this.ledger = ledgerIn(account);
    this.#root = accountKeysIn(account);
    this.id = addressOfKey(this.#root.publicKey, this.ledger);
    const name = account.get('name') ?? '';
    this.name = typeof name === 'string' && name !== '' ? name : `Account #${this.id}`;
    this.seed = textIn(account, 'seed');
    this.#privateKeyText = textIn(account, 'private_key');
    this.#nullFields = new Set((['seed', 'private_key'] as const).filter((key) => account.get(key) === null));
    this.isLocked = account.get('encrypted') === true;
    this.generator = generatorIn(account);
    this.addressType = addressTypeIn(account);
    this.modifiedOnSec = integerIn(account, 'modified_on') ?? tools.clock.nowSec();
    this.channelKeys = new Map(objectIn(account, 'certificates')?.entries);
  }

  /** Root key. The private part is null while the account is locked, or if only the public key is known. */
  get root(): ExtendedKey {
    return this.#root;
  }

  /** Whether the account has a private key, encrypted or not. */
  get isSpendable(): boolean {
    return this.isLocked || this.#root.privateKey !== null;
  }

  get publicKeyText(): string {
    return extendedKeyText(this.#root, false, this.ledger);
  }

  /**
   * Derives a key of a chain. It has a private part if the root key has one. In an account with a single address the result
   * is the root key itself, except for channel keys.
   */
  key(chain: KeyChain, index: number): ExtendedKey {
    if (this.generator.name === 'single-address' && chain !== KEY_CHAIN.channel) return this.#root;
    return childKey(childKey(this.#root, chain), index);
  }

  /** The address of a public key of the account. The key has 33 bytes. */
  addressOf(publicKey: Bytes): string {
    return this.addressType === 'p2wpkh'
      ? witnessAddressOfKey(publicKey, this.ledger)
      : addressOfKey(publicKey, this.ledger);
  }

  #initVector(field: SecretField): Buffer {
    const kept = this.initVectors.get(field) ?? this.#tools.random.bytes(INIT_VECTOR_SIZE);
    this.initVectors.set(field, kept);
    return kept;
  }

  /** Derives a public key of a chain, which is possible even while the account is locked. */
  publicKey(chain: KeyChain, index: number): ExtendedKey {
    if (this.generator.name === 'single-address' && chain !== KEY_CHAIN.channel)
      return { ...this.#root, privateKey: null };
    const parent = this.#publicChains.get(chain) ?? childKey({ ...this.#root, privateKey: null }, chain);
    this.#publicChains.set(chain, parent);
    return childKey(parent, index);
  }

  /**
   * JSON form of the account for the file or for the wallet hash. Secrets are encrypted if the account is locked or a
   * password is given.
   */
  toJson({
    password = null,
    isForHash = false,
  }: { password?: string | null; isForHash?: boolean } = {}): JsonObject {
    let { seed } = this;
    let privateKey = this.#privateKeyText;
    if (!this.isLocked && this.#root.privateKey !== null)
      privateKey = extendedKeyText(this.#root, true, this.ledger);
    if (!this.isLocked && password !== null) {
      if (privateKey !== '') privateKey = encryptField(password, privateKey, this.#initVector('private_key'));
      if (seed !== '') seed = encryptField(password, seed, this.#initVector('seed'));
    }
    const entries: [string, JsonValue][] = [
      ['ledger', this.ledger.id],
      ['name', this.name],
      ['seed', seed === '' && this.#nullFields.has('seed') ? null : seed],
      ['encrypted', this.isLocked || password !== null],
      ['private_key', privateKey === '' && this.#nullFields.has('private_key') ? null : privateKey],
      ['public_key', this.publicKeyText],
      ['address_generator', generatorToJson(this.generator)],
      ['modified_on', this.modifiedOnSec],
    ];
    if (isForHash) return new JsonObject(entries);
    entries.push(['certificates', new JsonObject([...this.channelKeys])]);
    if (this.addressType !== 'p2pkh') entries.push(['address_type', this.addressType]);
    return new JsonObject(entries);
  }

  /** Hash of the account. The hashes of all accounts are part of the hash by which copies of a wallet are compared. */
  hash(): Buffer {
    if (this.isLocked) throw assertionFailure('Cannot hash an encrypted account.');
    const hash = createHash('sha256').update(writePythonJson(this.toJson({ isForHash: true })));
    for (const address of [...this.channelKeys.keys()].sort(compareCodePoints)) hash.update(address);
    return hash.digest();
  }

  lock(password: string): void {
    if (this.isLocked) throw assertionFailure('Key is already encrypted.');
    if (this.seed !== '') this.seed = encryptField(password, this.seed, this.#initVector('seed'));
    if (this.#root.privateKey !== null) {
      const text = extendedKeyText(this.#root, true, this.ledger);
      this.#privateKeyText = encryptField(password, text, this.#initVector('private_key'));
      this.#root = { ...this.#root, privateKey: null };
    }
    this.isLocked = true;
  }

  /** Unlocks the account. Returns false, without changes, if the password is wrong. */
  unlock(password: string): boolean {
    if (!this.isLocked) throw assertionFailure('Key is not encrypted.');
    try {
      const seed = this.#decrypted('seed', this.seed, password);
      const privateKey = this.#decrypted('private_key', this.#privateKeyText, password);
      const root = privateKey === null ? null : parseExtendedKeyText(privateKey.text, this.ledger);
      // Decryption with a wrong password may give valid padding. The address of the decrypted key shows whether the
      // password is correct.
      const checked = root ?? (seed === null ? null : rootOfSeed(seedBytes(seed.text)));
      if (checked !== null && addressOfKey(checked.publicKey, this.ledger) !== this.id) return false;
      this.seed = seed?.text ?? '';
      if (root !== null) this.#root = root;
      this.#privateKeyText = '';
      this.#nullFields.clear();
      this.isLocked = false;
      if (seed !== null) this.initVectors.set('seed', seed.initVector);
      if (privateKey !== null) this.initVectors.set('private_key', privateKey.initVector);
      return true;
    } catch {
      return false;
    }
  }

  /** Decrypts a field; null if the encrypted or the decrypted text is empty. Throws `InvalidPasswordError`. */
  #decrypted(
    _field: SecretField,
    encrypted: string,
    password: string,
  ): { text: string; initVector: Buffer } | null {
    if (encrypted === '') return null;
    const field = decryptField(password, encrypted);
    if (field.initVector.length !== INIT_VECTOR_SIZE) throw invalidPassword();
    return field.text === '' ? null : field;
  }

  /** Merges another copy of this account: adopts its name and gaps if the copy is newer, and its channel keys in any case. */
  merge(other: JsonObject): void {
    const modifiedOn = other.get('modified_on') ?? 0;
    if (isJsonNumber(modifiedOn) && Number(numberText(modifiedOn)) > this.modifiedOnSec) {
      const modifiedOnSec = integerIn(other, 'modified_on')!;
      const name = other.get('name');
      if (typeof name !== 'string') throw badValue('The name of an account is missing.');
      this.name = name;
      this.modifiedOnSec = modifiedOnSec;
      const generator = objectIn(other, 'address_generator') ?? new JsonObject();
      if (generator.get('name') !== this.generator.name)
        throw assertionFailure('The address generator of an account cannot change.');
      if (this.generator.name === 'deterministic-chain') {
        mergeGap(this.generator.change, objectIn(generator, 'change'));
        mergeGap(this.generator.receiving, objectIn(generator, 'receiving'));
      }
    }
    for (const [address, pem] of objectIn(other, 'certificates')?.entries ?? [])
      this.channelKeys.set(address, pem);
  }

  /** Stores the values that `merge` and `refileChannelKeys` change. The returned function restores these values. */
  remember(): () => void {
    const putBack = this.rememberSettings();
    const entries = [...this.channelKeys];
    return () => {
      putBack();
      this.channelKeys = new Map(entries);
    };
  }

  /** Like `remember`, but without the channel keys, because other calls may add channel keys before the settings are restored. */
  rememberSettings(): () => void {
    const { name, modifiedOnSec, generator } = this;
    const gaps = generator.name === 'single-address' ? null : structuredClone(generator);
    return () => {
      this.name = name;
      this.modifiedOnSec = modifiedOnSec;
      if (generator.name === 'single-address' || gaps === null) return;
      Object.assign(generator.receiving, gaps.receiving);
      Object.assign(generator.change, gaps.change);
    };
  }

  /**
   * Indexes imported channel keys by the addresses of their public keys, and removes invalid entries. Entries whose PEM text
   * cannot be parsed stay. Returns whether an entry was changed. Source: `maybe_migrate_certificates`.
   */
  refileChannelKeys(): boolean {
    const refiled = new Map<string, JsonValue>();
    for (const [address, pem] of this.channelKeys) {
      if (typeof pem !== 'string' || !pem.startsWith(PEM_START)) continue;
      refiled.set(this.#addressOfChannelKey(pem) ?? address, pem);
    }
    const isSame =
      refiled.size === this.channelKeys.size &&
      [...refiled].every(([address, pem]) => this.channelKeys.get(address) === pem);
    if (!isSame) this.channelKeys = refiled;
    return !isSame;
  }

  #addressOfChannelKey(pem: string): string | null {
    try {
      return addressOfKey(ecdsaBackend().publicKeyOf(parseChannelKey(pem), true), this.ledger);
    } catch {
      return null;
    }
  }
}

function gapToJson({ gap, maxUses }: AddressGap): JsonObject {
  return new JsonObject([
    ['gap', gap],
    ['maximum_uses_per_address', maxUses],
  ]);
}

export function generatorToJson(generator: AddressGenerator): JsonObject {
  if (generator.name === 'single-address') return new JsonObject([['name', generator.name]]);
  return new JsonObject([
    ['name', generator.name],
    ['receiving', gapToJson(generator.receiving)],
    ['change', gapToJson(generator.change)],
  ]);
}

function mergeGap(mine: AddressGap, theirs: JsonObject | undefined): void {
  if (theirs === undefined) return;
  mine.gap = integerIn(theirs, 'gap') ?? mine.gap;
  mine.maxUses = integerIn(theirs, 'maximum_uses_per_address') ?? mine.maxUses;
}
