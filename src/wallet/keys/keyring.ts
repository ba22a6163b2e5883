/**
 * The keys and scripts of a wallet: private keys (encrypted or unencrypted), watch-only public keys and scripts, and their
 * origins. A change is applied to memory immediately, and to disk when the batch to which it was added is written. Handles
 * locking and unlocking, but not passphrases (`encryption/`). Source: lbrycrd keystore.cpp, wallet/crypter.cpp,
 * wallet/wallet.cpp.
 */
import { COMPRESSED_KEY_SIZE, hasPublicKeySize, UNCOMPRESSED_KEY_SIZE } from '../../crypto/ecdsaEncoding.js';
import { hash160, sha256 } from '../../crypto/hash.js';
import { MAX_SCRIPT_ELEMENT_SIZE } from '../../script/script.js';
import { scriptForDestination, scriptForPublicKey } from '../../script/standard.js';
import type { SigningKey, SigningProvider } from '../../signing/signingProvider.js';
import { assert } from '../../util/assert.js';
import { fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import { PrefixFilter } from '../../util/prefixFilter.js';
import { Reader } from '../../util/reader.js';
import type { Slices } from '../../util/slices.js';
import { decryptSecret, encryptSecret } from '../encryption/cipher.js';
import type { Columns } from '../store/columnFile.js';
import { recordKey, type WalletBatch } from '../store/records.js';
import { keyIdsOf } from './affectedKeys.js';
import {
  bytesKey,
  formatKeyMetadata,
  formatKeyRecord,
  idOf,
  parseKeyRecord,
  plainMetadata,
  type KeyMetadata,
} from './keyRecords.js';
import { keyMemory } from './keyMemory.js';
import type { OwnedKeys } from './isMine.js';
import { KeyOrigins } from './keyOrigins.js';
import { KeyTable, WitnessKeys } from './keyTable.js';
import { opensKey, OwnKey } from './ownKey.js';
import { KEY_ROW_KINDS, PackedKeys } from './packedKeys.js';
import { packOwn, packPool, type PoolLists } from './packKeys.js';
import { WatchedScripts } from './watchedScripts.js';
import type { KnownScripts } from './scriptFilter.js';

/** Thrown if a row of the wallet file cannot be parsed or contradicts another row. The wallet is then not loaded. */
export class WalletRowError extends Error {
  override readonly name = 'WalletRowError';
}

/** Data about the keys that a wallet image contains besides the columns (`KeyColumns`, and `idWords`). */
export interface KeyringNotes {
  readonly isEncrypted: boolean;
  /** Value of `firstKeySec`; null if the wallet has no keys. */
  readonly earliestSec: number | null;
  readonly idCount: number;
}

/**
 * Called when keys or scripts were added. `hashes` contains the hashes of destinations that may belong to the wallet because
 * of the addition; null if they are unknown.
 */
export type KeysCame = (hashes: readonly Bytes[] | null) => void;

/** Columns of a wallet whose pools are empty. */
const NO_POOL = {
  poolIndexes: new Float64Array(0),
  poolSecs: new Float64Array(0),
  poolFlags: new Uint8Array(0),
  receive: new Uint32Array(0),
  change: new Uint32Array(0),
  preSplit: new Uint32Array(0),
};
/** Output script that pays to a key by P2WPKH. */
const witnessScriptOf = (keyId: Bytes): Buffer =>
  scriptForDestination({ type: 'witness_v0_keyhash', hash: keyId });
/** Empty set of known scripts, to find only keys that are in a script itself. */
const NO_SCRIPTS = { script: () => null };
/** Scratch buffer for the P2WPKH script of a key. */
const WITNESS_SCRIPT = witnessScriptOf(Buffer.alloc(20));

export class Keyring implements OwnedKeys, KnownScripts, SigningProvider {
  private readonly slab = keyMemory.take();
  private readonly keys = new KeyTable();
  private readonly scripts = new Map<string, Buffer>();
  /** Public key of the last loaded row. `latestKeyId` and `latestId` contain its id. */
  private readonly latestKey = Buffer.alloc(UNCOMPRESSED_KEY_SIZE);
  private latestKeyId: Buffer = Buffer.alloc(0);
  private latestId = '';
  /** Key ids by the id of the key's P2WPKH script. The script itself is computed from the key id. */
  private readonly witnessKeys = new WitnessKeys();
  /** Filter that contains the ids of `keys`, `scripts` and `witnessKeys`. */
  private readonly ids = new PrefixFilter(() => this.allIds());
  private readonly watched = new WatchedScripts(this.slab, (publicKey, keyId) =>
    this.learnWitnessScript(publicKey, keyId, toLatin1(keyId)),
  );
  private readonly origins = new KeyOrigins();
  /** Encrypted private keys that do not match their public keys after decryption. */
  private readonly corrupt = new Set<OwnKey>();
  private encrypted = false;
  private masterKey: Buffer | null = null;
  /** Private keys that were decrypted since the wallet was unlocked. They are overwritten when the wallet is locked. */
  private readonly lent = new Map<OwnKey, Buffer>();
  /** Whether all encrypted keys have been compared with their public keys since the start. */
  private isChecked = false;
  private earliestSec = Infinity;
  private changes = 0;
  /** Ids of the keys that were added since a task of `addedBy` started; null while no such task runs. */
  private added: Buffer[] | null = null;
  /** Ids of the keys to which `scripts` refer; null until computed. */
  private scriptKeys: Set<string> | null = null;
  private readonly came: KeysCame;
  /** Reads a row of the wallet file by the key of the row. */
  private readonly readRow: (key: string) => Buffer | undefined;
  private packed: { readonly keys: PackedKeys; readonly isEncrypted: boolean } | null = null;

  constructor(
    came: KeysCame = () => undefined,
    readRow: (key: string) => Buffer | undefined = () => undefined,
  ) {
    this.came = came;
    this.readRow = readRow;
  }

  // Methods that answer queries about keys and scripts.

  hasKey(keyId: Bytes): boolean {
    return this.keys.has(toLatin1(keyId));
  }

  publicKey(keyId: Bytes): Bytes | null {
    const id = toLatin1(keyId);
    return this.keys.publicKey(id) ?? this.watched.publicKey(id) ?? null;
  }

  script(scriptId: Bytes): Bytes | null {
    const id = toLatin1(scriptId);
    const keyId = this.witnessKeys.get(id);
    return keyId === undefined ? (this.scripts.get(id) ?? null) : witnessScriptOf(fromLatin1(keyId));
  }

  isWatched(script: Bytes): boolean {
    return this.watched.has(script);
  }

  knowsKeyId(id: string): boolean {
    return this.keys.has(id);
  }

  mayKnowId(bytes: Uint8Array, start: number): boolean {
    return this.ids.mayHave(bytes, start);
  }

  /** Words of the `PrefixFilter` behind `mayKnowId`. They change when a key or script is added. */
  get idWords(): Uint32Array {
    return this.ids.words;
  }

  private *allIds(): Generator<string> {
    yield* this.keys.keys();
    yield* this.scripts.keys();
    yield* this.witnessKeys.keys();
  }

  knowsScriptId(id: string): boolean {
    return this.witnessKeys.has(id) || this.scripts.has(id);
  }

  get watchesScripts(): boolean {
    return this.watched.size > 0;
  }

  /**
   * Returns the private key with this id for signing. Null for an unknown key, and for all keys while the wallet is locked.
   * The memory of the result belongs to the keyring, which wipes it when the wallet is locked. So callers must not store the
   * key.
   */
  signingKey(keyId: Bytes): SigningKey | null {
    const own = this.keys.get(toLatin1(keyId));
    if (own === undefined) return null;
    const privateKey = this.clearSecret(own);
    return privateKey === null ? null : { privateKey, publicKey: own.publicKey };
  }

  private clearSecret(own: OwnKey): Bytes | null {
    if (!this.encrypted) return own.secret;
    if (this.masterKey === null || this.corrupt.has(own)) return null;
    const known = this.lent.get(own);
    if (known !== undefined) return known;
    const clear = decryptSecret(own.secret, own.publicKey, this.masterKey);
    if (clear !== null) this.lent.set(own, clear);
    return clear;
  }

  /** Number that changes whenever a key or script was added or removed. Ownership of outputs may then differ. */
  get revision(): number {
    return this.changes;
  }

  /** Ids of all keys, as latin1. */
  keyIds(): Iterable<string> {
    return this.keys.keys();
  }

  get keyCount(): number {
    return this.keys.size;
  }

  /** Iterates over the known scripts with their ids, including the P2WPKH scripts of known keys. */
  *allScripts(): Generator<[id: string, script: Buffer]> {
    for (const [id, keyId] of this.witnessKeys.entries()) yield [id, witnessScriptOf(fromLatin1(keyId))];
    for (const entry of this.scripts) if (!this.witnessKeys.has(entry[0])) yield entry;
  }

  watchedScripts(): IterableIterator<Buffer> {
    return this.watched.all();
  }

  /** Origin (creation time and derivation path) of a key; null if unknown. */
  metadata(keyId: Bytes): KeyMetadata | null {
    return this.origins.get(toLatin1(keyId));
  }

  /** Metadata of a watched script by the id of the script; null if the script is unknown. */
  watchedMetadata(scriptId: Bytes): KeyMetadata | null {
    return this.watched.metadata(scriptId);
  }

  /** Creation time of the oldest key in seconds since 1970; 1 if unknown, `Infinity` without keys. Source: `nTimeFirstKey`. */
  get firstKeySec(): number {
    return this.earliestSec;
  }

  private noteTime(createdSec: number): void {
    // A key without a creation time may be as old as the chain.
    this.earliestSec = createdSec <= 1 ? 1 : Math.min(this.earliestSec, createdSec);
  }

  // Methods that change the keys.

  /** Adds a key. The wallet must not be locked. If the key was only watched before, the wallet owns it after the call. */
  addKey(batch: WalletBatch, privateKey: Bytes, publicKey: Bytes, metadata: KeyMetadata): void {
    assert(!this.isLocked, 'a key was added to a locked wallet');
    const keyId = idOf(publicKey);
    const id = toLatin1(keyId);
    const secret =
      this.masterKey === null ? privateKey : encryptSecret(privateKey, publicKey, this.masterKey);
    this.keys.set(id, new OwnKey(this.slab, publicKey, secret));
    this.ids.add(id);
    this.changes++;
    this.added?.push(keyId);
    this.origins.set(id, metadata);
    this.noteTime(metadata.createdSec);
    this.learnWitnessScript(publicKey, keyId, id);
    batch.put(recordKey('keymeta', bytesKey(publicKey)), formatKeyMetadata(metadata));
    if (this.encrypted) batch.put(recordKey('ckey', bytesKey(publicKey)), bytesKey(secret));
    else batch.put(recordKey('key', bytesKey(publicKey)), formatKeyRecord(privateKey, publicKey));
    this.unwatch(batch, scriptForDestination({ type: 'pubkeyhash', hash: keyId }));
    this.unwatch(batch, scriptForPublicKey(publicKey));
    // If a known script contains the key, outputs to this script may belong to the wallet after the addition.
    this.came(this.namedInScripts().has(id) ? null : [keyId, hash160(witnessScriptOf(keyId))]);
  }

  private namedInScripts(): ReadonlySet<string> {
    if (this.scriptKeys === null) {
      this.scriptKeys = new Set();
      for (const script of this.scripts.values()) this.noteNamedKeys(this.scriptKeys, script);
    }
    return this.scriptKeys;
  }

  private noteNamedKeys(named: Set<string>, script: Bytes): void {
    for (const keyId of keyIdsOf(NO_SCRIPTS, script)) named.add(toLatin1(keyId));
  }

  /** Runs a task. Returns the ids of the keys that the task added. */
  addedBy(task: () => void): Buffer[] {
    const added: Buffer[] = [];
    this.added = added;
    try {
      task();
    } finally {
      this.added = null;
    }
    return added;
  }

  /** Adds a redeem or witness script. Returns false if the script is too long to be pushed on the stack. */
  addScript(batch: WalletBatch, script: Bytes): boolean {
    if (script.length > MAX_SCRIPT_ELEMENT_SIZE) return false;
    const id = hash160(script);
    this.scripts.set(toLatin1(id), this.slab.keep(script));
    this.ids.add(toLatin1(id));
    if (this.scriptKeys !== null) this.noteNamedKeys(this.scriptKeys, script);
    this.changes++;
    batch.put(recordKey('cscript', id), bytesKey(script));
    const program = scriptForDestination({ type: 'witness_v0_scripthash', hash: sha256(script) });
    // Outputs may pay to the script by P2SH, P2WSH, and P2WSH in P2SH. If it is a witness program, outputs may also pay to
    // it directly.
    this.came([id, program.subarray(2), hash160(program), script.subarray(2)]);
    return true;
  }

  /** Watches an output script. If the script is a bare public key script, its key is added too. */
  watch(batch: WalletBatch, script: Bytes, metadata: KeyMetadata): void {
    this.watched.watch(batch, script, metadata);
    this.changes++;
    this.noteTime(metadata.createdSec);
    this.came(null);
  }

  /** Records the time when a script was added. The script itself is not watched. */
  noteScriptTime(batch: WalletBatch, script: Bytes, createdSec: number): void {
    this.watched.noteTime(batch, script, createdSec);
    this.noteTime(createdSec);
  }

  unwatch(batch: WalletBatch, script: Bytes): void {
    this.watched.unwatch(batch, script);
    this.changes++;
  }

  /**
   * Adds the P2WPKH script of a key, so that outputs to it are recognized, directly or in P2SH. Source:
   * `ImplicitlyLearnRelatedKeyScripts`.
   */
  private learnWitnessScript(publicKey: Bytes, keyId: Bytes, id: string): void {
    if (publicKey.length !== COMPRESSED_KEY_SIZE) return;
    WITNESS_SCRIPT.set(keyId, WITNESS_SCRIPT.length - keyId.length);
    const scriptId = toLatin1(idOf(WITNESS_SCRIPT));
    this.witnessKeys.set(scriptId, id);
    this.ids.add(scriptId);
  }

  // Methods about encryption.

  get isEncrypted(): boolean {
    return this.encrypted;
  }

  get isLocked(): boolean {
    return this.encrypted && this.masterKey === null;
  }

  /** Encrypts all private keys for a later call of `encrypt`. The keyring itself is not changed. */
  *encryptedSecrets(masterKey: Bytes): Slices<Map<string, Buffer>> {
    const hidden = new Map<string, Buffer>();
    for (const [id, { publicKey, secret }] of this.keys.entries()) {
      hidden.set(id, encryptSecret(secret, publicKey, masterKey));
      yield;
    }
    return hidden;
  }

  /**
   * Encrypts every key with a master key, which the keyring then stores. `ready` contains encrypted private keys that the
   * caller has computed before. If writing the batch fails, the wallet must not be used any more.
   */
  encrypt(batch: WalletBatch, masterKey: Bytes, ready: ReadonlyMap<string, Buffer> = new Map()): void {
    assert(!this.encrypted, 'a wallet was encrypted twice');
    this.encrypted = true;
    this.masterKey = Buffer.from(masterKey);
    for (const [id, { publicKey, secret }] of this.keys.entries()) {
      const hidden = ready.get(id) ?? encryptSecret(secret, publicKey, masterKey);
      secret.fill(0);
      this.keys.set(id, new OwnKey(this.slab, publicKey, hidden));
      batch.del(recordKey('key', bytesKey(publicKey)));
      batch.del(recordKey('wkey', bytesKey(publicKey)));
      batch.put(recordKey('ckey', bytesKey(publicKey)), bytesKey(hidden));
    }
    this.isChecked = true;
  }

  /** Makes private keys available. Returns false, without changes, if the master key is wrong. The master key is copied. */
  *unlock(masterKey: Bytes): Slices<boolean> {
    if (!(yield* this.isMasterKey(masterKey))) return false;
    this.lock();
    this.masterKey = Buffer.from(masterKey);
    return true;
  }

  /**
   * Whether a master key decrypts the private keys. A wrong master key decrypts none of them. Does not lock or unlock the
   * wallet. The first call compares every key with its public key. A key that does not match is corrupt and not available.
   */
  *isMasterKey(masterKey: Bytes): Slices<boolean> {
    assert(this.encrypted, 'a wallet has no master key that is not encrypted');
    let isOpened = false;
    const corrupt: OwnKey[] = [];
    for (const own of this.keys.values()) {
      if (opensKey(own, masterKey)) isOpened = true;
      else corrupt.push(own);
      if (isOpened ? this.isChecked : corrupt.length === MOST_CORRUPT) break;
      yield;
    }
    if (!isOpened) return false;
    if (!this.isChecked) for (const own of corrupt) this.corrupt.add(own);
    this.isChecked = true;
    return true;
  }

  /** Number of private keys that are known to be corrupt. In an encrypted wallet they are detected by the first unlock. */
  get corruptKeys(): number {
    return this.corrupt.size;
  }

  /** Overwrites the master key and all decrypted keys in memory. */
  lock(): void {
    for (const clear of this.lent.values()) clear.fill(0);
    this.lent.clear();
    this.masterKey?.fill(0);
    this.masterKey = null;
  }

  /** Closes the keyring. Afterwards `getmemoryinfo` does not count its keys any more. */
  close(): void {
    this.lock();
    keyMemory.giveBack(this.slab);
  }

  // Methods that load keys and scripts from disk.

  /**
   * Initializes the keyring with the data of a wallet image. After this, `load` adds newer rows, and the caller must not use
   * the columns any more.
   */
  begin(packed: PackedKeys, { isEncrypted, earliestSec, idCount }: KeyringNotes, idWords: Uint32Array): void {
    this.packed = { keys: packed, isEncrypted };
    this.encrypted = isEncrypted;
    this.earliestSec = earliestSec ?? Infinity;
    this.ids.fill(idWords, idCount);
    this.keys.begin(packed, (number) => this.readOwn(packed, number));
    this.witnessKeys.begin(packed);
    this.origins.begin(packed, this.readRow);
  }

  /** Reads a key from its row on disk. Throws `WalletRowError` if the row is missing or corrupt. */
  private readOwn(packed: PackedKeys, number: number): OwnKey {
    const publicKey = packed.publicKey(number);
    const kind = KEY_ROW_KINDS[packed.columns.rowKinds[number]!]!;
    const row = this.readRow(recordKey(kind, bytesKey(publicKey)));
    if (row === undefined) throw new WalletRowError('A private key in the wallet is missing.');
    if (kind === 'ckey') return new OwnKey(this.slab, publicKey, new Reader(row).varBytes());
    const secret = secretIn(kind, row, publicKey);
    const own = new OwnKey(this.slab, publicKey, secret);
    secret.fill(0);
    row.fill(0);
    return own;
  }

  /**
   * Current data of the keyring, which a later start passes to `begin`. Null if the rows on disk do not match the data.
   * `hasRow` returns whether a row exists.
   */
  *image(
    pools: PoolLists,
    hasRow: (key: string) => boolean,
  ): Slices<{ readonly columns: Columns; readonly notes: KeyringNotes } | null> {
    const { keys, ids, encrypted, earliestSec } = this;
    const own = yield* this.ownColumns(hasRow);
    if (own === null) return null;
    const packed = new PackedKeys({ ...own, ...NO_POOL });
    const pool = yield* packPool(keys.size, (id) => packed.find(id), pools);
    if (pool === null) return null;
    return {
      columns: { ...own, ...pool, idWords: ids.words },
      notes: {
        isEncrypted: encrypted,
        earliestSec: earliestSec === Infinity ? null : earliestSec,
        idCount: ids.count,
      },
    };
  }

  private *ownColumns(hasRow: (key: string) => boolean): ReturnType<typeof packOwn> {
    const { keys, packed, witnessKeys } = this;
    const isSame = packed !== null && keys.isAsItBegan && packed.isEncrypted === this.encrypted;
    if (isSame && packed.keys.columns.hasOrigin.every((has) => has === 1)) return packed.keys.columns;
    return yield* packOwn({
      ids: [...keys.keys()],
      publicKey: (id) => keys.publicKey(id)!,
      scripts: witnessKeys.entries(),
      hasRow,
    });
  }

  /** Loads a row of a key or script. Returns false for other row types. Throws `WalletRowError`. */
  load(kind: string, rest: Bytes, value: Bytes): boolean {
    switch (kind) {
      case 'key':
      case 'wkey':
        this.loadKey(kind, publicKeyOf(rest), value);
        return true;
      case 'ckey':
        this.loadEncryptedKey(publicKeyOf(rest), new Reader(value).varBytes());
        return true;
      case 'keymeta':
        this.noteTime(this.origins.load(this.loadedId(publicKeyOf(rest)), value));
        return true;
      case 'cscript': {
        const script = new Reader(value).varBytes();
        if (script.length <= MAX_SCRIPT_ELEMENT_SIZE)
          this.scripts.set(toLatin1(rest), this.slab.keep(script));
        this.ids.add(toLatin1(rest));
        return true;
      }
      case 'watchs':
        this.watched.load(rest, value);
        return true;
      case 'watchmeta':
        this.noteTime(this.watched.loadTime(rest, value));
        return true;
      default:
        return false;
    }
  }

  /** Must be called after all rows were loaded. A key without a creation time counts as being as old as the chain. */
  loaded(): void {
    if (this.encrypted) {
      for (const { isClear } of this.keys.inMemory()) {
        // If a wallet contains both unencrypted and encrypted keys, an encryption was interrupted.
        if (isClear) throw new WalletRowError('Some keys of the encrypted wallet are stored unencrypted.');
      }
    }
    for (const id of this.keys.added()) {
      if (this.origins.has(id)) continue;
      this.origins.set(id, plainMetadata(0));
      this.noteTime(0);
    }
  }

  private loadKey(kind: 'key' | 'wkey', publicKey: Bytes, value: Bytes): void {
    const secret = secretIn(kind, value, publicKey);
    this.loadOwn(publicKey, secret);
    secret.fill(0);
  }

  private loadEncryptedKey(publicKey: Bytes, secret: Bytes): void {
    this.encrypted = true;
    this.loadOwn(publicKey, secret);
  }

  private loadOwn(publicKey: Bytes, secret: Bytes): void {
    const id = this.loadedId(publicKey);
    this.keys.set(id, new OwnKey(this.slab, publicKey, secret));
    this.ids.add(id);
    this.learnWitnessScript(publicKey, this.latestKeyId, id);
  }

  /** The id of a public key. The result for the previous row is cached, because successive rows often have the same key. */
  private loadedId(publicKey: Bytes): string {
    const { latestKey } = this;
    if (
      this.latestId === '' ||
      latestKey.compare(publicKey, 0, publicKey.length, 0, publicKey.length) !== 0
    ) {
      latestKey.set(publicKey);
      this.latestKeyId = idOf(publicKey);
      this.latestId = toLatin1(this.latestKeyId);
    }
    return this.latestId;
  }
}

/** Maximum number of keys with which a master key is tested. If it decrypts none of them, it counts as wrong. Arbitrary. */
const MOST_CORRUPT = 64;

/** Parses the private key in a row. Throws `WalletRowError`. */
function secretIn(kind: 'key' | 'wkey', value: Bytes, publicKey: Bytes): Buffer {
  // A row of the old type `wkey` contains the version, the key, two times and a comment.
  const row = kind === 'wkey' ? bytesKey(new Reader(value, 4).varBytes()) : value;
  const secret = parseKeyRecord(row, publicKey);
  if (secret === null) throw new WalletRowError('A private key in the wallet is corrupt.');
  return secret;
}

/** Parses the public key in the key of a row, after the row type. */
function publicKeyOf(rest: Bytes): Bytes {
  const key = rest.subarray(1, 1 + rest[0]!);
  if (key.length !== rest[0] || !hasPublicKeySize(key))
    throw new WalletRowError('A public key in the wallet is corrupt.');
  return key;
}

/** Converts a key id of `Keyring.keyIds` to bytes. */
export const keyIdBytes = (id: string): Buffer => fromLatin1(id);
