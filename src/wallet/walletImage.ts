/**
 * Creates the parts of a wallet image (`store/walletImage.ts`) from an open wallet, and opens a wallet with them. Rows that
 * changed after the image was written are read one by one.
 */
import { hash160 } from '../crypto/hash.js';
import { scriptForDestination } from '../script/standard.js';
import { fromLatin1, toLatin1, type Bytes } from '../util/bytes.js';
import { Reader } from '../util/reader.js';
import type { Slices } from '../util/slices.js';
import { idOf, parsePoolKey } from './keys/keyRecords.js';
import { paysToPool } from './keys/paysToPool.js';
import type { Keyring, KeyringNotes } from './keys/keyring.js';
import { PackedKeys } from './keys/packedKeys.js';
import type { Keypool } from './keys/keypool.js';
import type { Ledger } from './ledger/ledger.js';
import type { LedgerNotes } from './ledger/ledgerImage.js';
import { kindPrefix, splitKey, type RecordKind } from './store/records.js';
import type { WalletFile } from './store/walletFile.js';
import type { WalletParts } from './store/walletImage.js';

/** The parts of a wallet that its image covers. */
export interface ImagedWallet {
  readonly file: WalletFile;
  readonly keyring: Keyring;
  readonly keypool: Keypool;
  readonly ledger: Ledger;
}

interface WalletNotes {
  readonly keyring: KeyringNotes;
  readonly ledger: LedgerNotes;
  readonly highestPoolIndex: number;
}

/** The row types that an image covers. Rows of other types are always read. */
const ANNOUNCED_KINDS = [
  'tx',
  'key',
  'wkey',
  'ckey',
  'keymeta',
  'pool',
] as const satisfies readonly RecordKind[];
const ANNOUNCED_PREFIXES = ANNOUNCED_KINDS.map((kind) => Buffer.from(kindPrefix(kind), 'latin1'));
/** Types of rows that determine which outputs belong to the wallet. */
const SCRIPT_KINDS: readonly string[] = ['cscript', 'watchs'] satisfies RecordKind[];
/**
 * Row types whose rows may have been deleted since the image was written. If a row of another covered type was deleted, the
 * image is invalid.
 */
const MAY_BE_GONE: readonly string[] = ['tx', 'pool'] satisfies RecordKind[];

/** Whether the image does not cover the type of a row. The key contains the type. */
export function isOtherRow(key: Buffer): boolean {
  return !ANNOUNCED_PREFIXES.some(
    (prefix) => key.length >= prefix.length && prefix.compare(key, 0, prefix.length) === 0,
  );
}

/**
 * Creates the parts of an image of an open wallet, which must not change during the call. Null if they would not be correct,
 * for example because memory contains changes that are not written yet.
 */
export function* imageParts({ keyring, keypool, ledger, file }: ImagedWallet): Slices<WalletParts | null> {
  if (keypool.hasReserved) return null;
  const keys = yield* keyring.image(keypool.lists, (key) => file.has(key));
  const transactions =
    keys === null ? null : yield* ledger.imageParts((to) => paysToPool(keyring, keypool, to));
  if (keys === null || transactions === null) return null;
  const notes: WalletNotes = {
    keyring: keys.notes,
    ledger: transactions.notes,
    highestPoolIndex: keypool.highestIndex,
  };
  return { columns: { keys: keys.columns, transactions: transactions.columns }, notes };
}

/** A row that changed after the image was written. `value` is undefined for a deleted row. */
interface ChangedRow {
  readonly kind: string;
  readonly rest: Buffer;
  readonly value: Buffer | undefined;
}

function changedRows(file: WalletFile, changed: Iterable<string>): ChangedRow[] | null {
  const rows: ChangedRow[] = [];
  for (const key of changed) {
    const split = splitKey(fromLatin1(key));
    if (split === null) continue;
    const value = file.get(key);
    const isAnnounced = (ANNOUNCED_KINDS as readonly string[]).includes(split.kind);
    if (isAnnounced && value === undefined && !MAY_BE_GONE.includes(split.kind)) return null;
    rows.push({ ...split, value });
  }
  return rows;
}

/**
 * Loads a wallet from the image of its file. Returns false without any change if every row must be read. `loadOther` loads a
 * row that the image does not cover.
 */
export function* loadImage(
  wallet: ImagedWallet,
  loadOther: (key: Buffer, value: Buffer) => void,
): Slices<boolean> {
  const { file, keyring, keypool, ledger } = wallet;
  const { image } = file;
  const changed = image === null ? null : changedRows(file, image.changed);
  if (image === null || changed === null) return false;
  const { columns } = image.parts;
  const notes = image.parts.notes as WalletNotes;
  const packed = new PackedKeys(columns.keys);
  keyring.begin(packed, notes.keyring, columns.keys['idWords'] as Uint32Array);
  keypool.begin(packed, notes.highestPoolIndex);
  let count = 0;
  for (const { key, value } of file.otherValues(isOtherRow)) {
    loadOther(key, value);
    if (++count % 64 === 0) yield;
  }
  for (const row of changed) {
    loadChanged(wallet, row);
    if (++count % 64 === 0) yield;
  }
  ledger.begin(columns.transactions, notes.ledger);
  for (const { kind, rest, value } of changed) {
    if (kind === 'tx') {
      ledger.unload(toLatin1(rest));
      if (value !== undefined) ledger.load(value, toLatin1(rest));
    } else ledger.keysCame(cameBy(kind, rest));
    if (++count % 64 === 0) yield;
  }
  yield* ledger.reconsiderOutputs();
  return true;
}

/** Loads a key or a key pool entry that changed. */
function loadChanged({ keyring, keypool }: ImagedWallet, { kind, rest, value }: ChangedRow): void {
  if (kind === 'pool') {
    const index = Number(new Reader(rest).i64());
    keypool.unload(index);
    if (value !== undefined) keypool.load(index, parsePoolKey(value));
  } else if (kind !== 'tx' && value !== undefined && !isOtherKind(kind)) {
    keyring.load(kind, rest, value);
    // The buffer is overwritten, because it may contain a private key.
    value.fill(0);
  }
}

const isOtherKind = (kind: string): boolean => !(ANNOUNCED_KINDS as readonly string[]).includes(kind);

/** Hashes for `Ledger.keysCame` that follow from an added row; null if any output may belong to the wallet because of the row. */
function cameBy(kind: string, rest: Buffer): readonly Bytes[] | null {
  if (SCRIPT_KINDS.includes(kind)) return null;
  if (kind !== 'key' && kind !== 'wkey' && kind !== 'ckey') return [];
  const keyId = idOf(rest.subarray(1, 1 + rest[0]!));
  return [keyId, hash160(scriptForDestination({ type: 'witness_v0_keyhash', hash: keyId }))];
}
