/**
 * Content of a wallet: accounts, preferences with the times of their changes, and the password for the wallet file. Also
 * computes the forms in the file and in exports, computes the hash, and merges another copy of the wallet. `walletFile.ts`
 * reads and writes the file. Source: lbry-sdk lbry/wallet/wallet.py.
 */
import { createHash } from 'node:crypto';
import { deflate, inflate } from 'node:zlib';
import { promisify } from 'node:util';
import { isJsonNumber, JsonObject, numberText, type JsonValue } from '../../util/json/json.js';
import { decodeUtf8, MAX_JSON_VALUES, parseJson } from '../../util/json/jsonParse.js';
import { assertionFailure, badValue, invalidPassword } from '../base/daemonError.js';
import { compareCodePoints, hasNumberWords, isTooDeep, writePythonJson } from '../base/pythonJson.js';
import { Account, accountKeysIn, ledgerIn, type AccountTools } from './account.js';
import { addressOfKey } from './keys.js';
import { newSeedPhrase } from './seedPhrase.js';
import { decryptExport, encryptExport } from './walletCipher.js';
import type { LedgerParams } from '../base/ledgerParams.js';

export const WALLET_VERSION = 1;
/** Name of the preference that the wallet file is encrypted. */
export const ENCRYPT_ON_DISK = 'encrypt-on-disk';
/** Maximum size of an uncompressed export in bytes. Arbitrary: a hundred times the size of a large wallet. */
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024;

const deflateAsync = promisify<Buffer, Buffer>(deflate);
const inflateAsync = promisify<Buffer, { maxOutputLength: number }, Buffer>(inflate);

export interface MergedAccounts {
  readonly added: readonly Account[];
  readonly merged: readonly Account[];
}

export class WalletContents {
  readonly #tools: AccountTools;
  readonly id: string;
  readonly name: string;
  readonly accounts: Account[] = [];
  /** Preferences by name, each as `{value, ts}`. They are in the order of the file, then in the order of their creation. */
  readonly #preferences: Map<string, JsonObject>;
  /** Password of the wallet file; null until the wallet is encrypted or unlocked. */
  password: string | null = null;

  /** Parses the content of the file. Throws `ValueError` for an invalid account. */
  constructor(id: string, wallet: JsonObject, tools: AccountTools) {
    this.#tools = tools;
    this.id = id;
    const name = wallet.get('name') ?? 'Wallet';
    if (typeof name !== 'string') throw badValue('The name of the wallet is not a string.');
    this.name = name;
    this.#preferences = preferencesIn(wallet);
    for (const account of accountsIn(wallet) ?? []) this.accounts.push(new Account(account, tools));
  }

  get defaultAccount(): Account | undefined {
    return this.accounts[0];
  }

  /** Adds an account in the form of the file. The caller must save the wallet. */
  addAccount(account: JsonObject): Account {
    const added = new Account(account, this.#tools);
    this.accounts.push(added);
    return added;
  }

  /** Creates an account with a new seed. */
  generateAccount(
    ledger: LedgerParams,
    name: string | null = null,
    generator: JsonObject = new JsonObject(),
  ): Account {
    return this.addAccount(
      new JsonObject([
        ['ledger', ledger.id],
        ['name', name ?? ''],
        ['seed', newSeedPhrase(this.#tools.random)],
        ['address_generator', generator],
      ]),
    );
  }

  /** Value of a preference; undefined if it was never set. */
  preference(key: string): JsonValue | undefined {
    return this.#preferences.get(key)?.get('value');
  }

  preferenceKeys(): string[] {
    return [...this.#preferences.keys()];
  }

  /**
   * Sets a preference. Throws `ValueError` if the value cannot be represented in the file. The returned function restores
   * the previous value.
   */
  setPreference(key: string, value: JsonValue): () => void {
    if (isTooDeep(value)) throw badValue('The lists and objects of the value are nested too deep.');
    if (hasNumberWords(value)) throw badValue('The value has a number that is too large.');
    const before = this.#preferences.get(key);
    const preference = new JsonObject([
      ['value', value],
      ['ts', this.#tools.clock.nowSec()],
    ]);
    this.#preferences.set(key, preference);
    return () => {
      if (this.#preferences.get(key) !== preference) return;
      if (before === undefined) this.#preferences.delete(key);
      else this.#preferences.set(key, before);
    };
  }

  get isLocked(): boolean {
    return this.accounts.some((account) => account.isLocked);
  }

  get isEncryptedOnDisk(): boolean {
    return isTrue(this.preference(ENCRYPT_ON_DISK));
  }

  /** Whether the wallet is locked, or will be written encrypted because its password is known. */
  get isEncrypted(): boolean {
    return this.isLocked || (this.isEncryptedOnDisk && this.password !== null);
  }

  /** JSON form of the wallet. With `password`, secrets that are not encrypted are encrypted. */
  toJson(password: string | null = null): JsonObject {
    return new JsonObject([
      ['version', WALLET_VERSION],
      ['name', this.name],
      ['preferences', this.#preferencesToJson()],
      ['accounts', this.accounts.map((account) => account.toJson({ password }))],
    ]);
  }

  #preferencesToJson(): JsonObject {
    return new JsonObject([...this.#preferences]);
  }

  /** Returns the export text: one line, with unencrypted secrets. */
  exportText(): string {
    if (this.isLocked) throw assertionFailure('Cannot serialize a wallet with locked/encrypted accounts.');
    return writePythonJson(this.toJson());
  }

  /**
   * Text of the wallet file. If the preference requires encryption but the password is unknown, the preference is turned off
   * and `wasReset` is true.
   */
  fileText(): { text: string; wasReset: boolean } {
    const hasNoPassword = this.isEncryptedOnDisk && this.password === null && !this.isLocked;
    if (hasNoPassword) this.setPreference(ENCRYPT_ON_DISK, false);
    const json = this.toJson(this.isEncryptedOnDisk ? this.password : null);
    return { text: writePythonJson(json, { indent: 4, sortKeys: true }), wasReset: hasNoPassword };
  }

  /** Hash of 32 bytes by which copies of a wallet are compared. */
  hash(): Buffer {
    const hash = createHash('sha256');
    if (this.isEncrypted) {
      if (this.password === null)
        throw assertionFailure('Encryption is enabled but no password is available, cannot generate hash.');
      hash.update(this.password, 'utf8');
    }
    hash.update(createHash('sha256').update(writePythonJson(this.#preferencesToJson())).digest());
    const ordered = this.accounts.toSorted((a, b) => compareCodePoints(a.id, b.id));
    for (const account of ordered) hash.update(account.hash());
    return hash.digest();
  }

  /** Encrypts the wallet with a password. Resolves to the text of an export. */
  async pack(password: string): Promise<string> {
    if (this.isLocked) throw assertionFailure('Cannot pack a wallet with locked/encrypted accounts.');
    return encryptExport(password, await deflateAsync(Buffer.from(this.exportText())), this.#tools.random);
  }

  /**
   * Merges another copy into this wallet. A preference of the copy replaces the wallet's preference unless it is older.
   * Accounts are matched by id. The caller must save the wallet. After a failure the parts merged so far are kept, as in
   * lbry-sdk; within `wholly` they are reverted.
   */
  merge(other: JsonObject): MergedAccounts {
    if (this.isLocked) throw assertionFailure('Cannot sync apply on a locked wallet.');
    for (const [key, theirs] of preferencesIn(other)) {
      const mine = this.#preferences.get(key);
      const time = timeOf(theirs);
      if (time === null || theirs.get('value') === undefined)
        throw badValue(`The preference '${key}' has no ${time === null ? 'time' : 'value'}.`);
      // A preference of this wallet without a time was added to the file by hand. It counts as older than any other.
      if (mine === undefined || time >= (timeOf(mine) ?? -Infinity)) this.#preferences.set(key, theirs);
    }
    const accounts = accountsIn(other);
    if (accounts === null) throw badValue('The data has no accounts.');
    const added: Account[] = [];
    const merged: Account[] = [];
    for (const account of accounts) {
      const id = addressOfKey(accountKeysIn(account).publicKey, ledgerIn(account));
      const match = this.accounts.find((local) => local.id === id);
      match?.merge(account);
      if (match) merged.push(match);
      else added.push(this.addAccount(account));
    }
    return { added, merged };
  }

  /** Runs a merge as a whole: if it throws, accounts and preferences are restored. */
  wholly<Result>(task: () => Result): Result {
    const accounts = [...this.accounts];
    const preferences = [...this.#preferences];
    const undo = accounts.map((account) => account.remember());
    try {
      return task();
    } catch (error) {
      this.accounts.splice(0, this.accounts.length, ...accounts);
      this.#preferences.clear();
      for (const [key, preference] of preferences) this.#preferences.set(key, preference);
      for (const one of undo) one();
      throw error;
    }
  }

  /**
   * Unlocks all accounts. Returns false if the password is wrong for one of them. If so, the accounts that were locked
   * before are locked again, so that a save does not write them unencrypted.
   */
  unlock(password: string): boolean {
    const locked = this.accounts.filter((account) => account.isLocked);
    const wrong = locked.findIndex((account) => !account.unlock(password));
    if (wrong >= 0) {
      for (const account of locked.slice(0, wrong)) account.lock(password);
      return false;
    }
    this.password = password;
    return true;
  }

  lock(): void {
    if (this.password === null) throw assertionFailure('Cannot lock an unencrypted wallet, encrypt first.');
    for (const account of this.accounts) if (!account.isLocked) account.lock(this.password);
  }

  /**
   * Turns on the encryption of the file with the password. The caller must save the wallet. The returned function reverts
   * the change.
   */
  encrypt(password: string): () => void {
    if (this.isLocked) throw assertionFailure('Cannot re-encrypt a locked wallet, unlock first.');
    if (password === '') throw assertionFailure('Cannot encrypt with blank password.');
    const before = this.password;
    this.password = password;
    const takeBack = this.setPreference(ENCRYPT_ON_DISK, true);
    return () => {
      takeBack();
      if (this.password === password) this.password = before;
    };
  }

  /** Turns off the encryption of the file. The caller must save the wallet. The returned function reverts the change. */
  decrypt(): () => void {
    if (this.isLocked) throw assertionFailure('Cannot decrypt a locked wallet, unlock first.');
    return this.setPreference(ENCRYPT_ON_DISK, false);
  }
}

/** Decrypts an export. Throws `InvalidPasswordError`, or `ValueError` if the content is not a wallet. */
export async function unpackWallet(password: string, text: string): Promise<JsonObject> {
  const compressed = await decryptExport(password, text);
  const inflated = await inflateAsync(compressed, { maxOutputLength: MAX_UNPACKED_BYTES }).catch(() => {
    throw invalidPassword();
  });
  return parseWalletText(decodeUtf8(inflated) ?? '');
}

/**
 * Parses the text of a wallet as lbry-sdk writes it, with numbers such as NaN that are not valid JSON. Throws `ValueError`
 * if the text is not an object.
 */
export function parseWalletText(text: string): JsonObject {
  let wallet: JsonValue;
  try {
    wallet = parseJson(text, MAX_JSON_VALUES, 'python');
  } catch (error) {
    throw badValue(`The text is not JSON: ${(error as Error).message}.`);
  }
  if (!(wallet instanceof JsonObject)) throw badValue('The text is not a JSON object.');
  if (isTooDeep(wallet)) throw badValue('The lists and objects of the text are nested too deep.');
  return wallet;
}

function preferencesIn(wallet: JsonObject): Map<string, JsonObject> {
  const preferences = wallet.get('preferences') ?? new JsonObject();
  if (!(preferences instanceof JsonObject))
    throw badValue('The preferences of the wallet are not an object.');
  const byKey = new Map<string, JsonObject>();
  for (const [key, preference] of preferences.entries) {
    if (!(preference instanceof JsonObject)) throw badValue(`The preference '${key}' is not an object.`);
    byKey.set(key, preference);
  }
  return byKey;
}

/** Accounts of a wallet; null if the wallet has no list of accounts. */
function accountsIn(wallet: JsonObject): JsonObject[] | null {
  const accounts = wallet.get('accounts');
  if (accounts === undefined) return null;
  if (!Array.isArray(accounts)) throw badValue('The accounts of the wallet are not a list.');
  return accounts.map((account) => {
    if (account instanceof JsonObject) return account;
    throw badValue('An account of the wallet is not an object.');
  });
}

/** Time of the last change of a preference; null if the time is missing or invalid. */
function timeOf(preference: JsonObject): number | null {
  const time = preference.get('ts');
  const number = time !== undefined && isJsonNumber(time) ? Number(numberText(time)) : NaN;
  return Number.isFinite(number) ? number : null;
}

/** Whether Python treats the value as true. */
function isTrue(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  if (isJsonNumber(value)) return Number(numberText(value)) !== 0;
  if (Array.isArray(value)) return value.length > 0;
  return value instanceof JsonObject ? value.size > 0 : true;
}
