/**
 * The rows of a wallet: keys and values have the format of the reference's `wallet.dat`, so that it can be imported row by
 * row. A key consists of the name of the row type, as a string with its length, and a part that identifies the row. Source:
 * lbrycrd wallet/walletdb.cpp.
 */
import type { RowChange } from '../../store/rows/rowRecords.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';

/**
 * The row types, with the names of the reference. `lockedfrom` and `scanfrom` do not exist in the reference
 * (`scan/scans.ts`).
 */
export const RECORD_KINDS = [
  'acc',
  'acentry',
  'bestblock',
  'bestblock_nomerkle',
  'ckey',
  'cscript',
  'defaultkey',
  'destdata',
  'flags',
  'hdchain',
  'key',
  'keymeta',
  'lockedfrom',
  'minversion',
  'mkey',
  'name',
  'orderposnext',
  'pool',
  'purpose',
  'scanfrom',
  'tx',
  'version',
  'watchmeta',
  'watchs',
  'wkey',
] as const;
export type RecordKind = (typeof RECORD_KINDS)[number];

/** Key prefix of all rows of a type. */
export function kindPrefix(kind: RecordKind): string {
  return String.fromCharCode(kind.length) + kind;
}

/** Builds the key of a row, as latin1. `rest` is the part of the key that identifies the row among rows of the same type. */
export function recordKey(kind: RecordKind, rest: Bytes | string = ''): string {
  return kindPrefix(kind) + (typeof rest === 'string' ? rest : toLatin1(rest));
}

/** Splits a key into row type and rest. Null if the key has no valid type. */
export function splitKey(key: Bytes): { kind: string; rest: Buffer } | null {
  const length = key[0];
  if (length === undefined || length >= 253 || key.length < 1 + length) return null;
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.length);
  return { kind: bytes.toString('latin1', 1, 1 + length), rest: bytes.subarray(1 + length) };
}

const KEY_PREFIX = kindPrefix('key');

/** Changes of rows that are written to the wallet file in one step. */
export class WalletBatch {
  readonly changes: RowChange[] = [];
  /** Positions in `changes` of the records that `putLast` added, by key. */
  private readonly lastOnes = new Map<string, number>();

  put(key: string, value: Bytes): void {
    this.changes.push([key, value]);
  }

  /**
   * Like `put`, for a row that one batch may change very often. Only the last value is stored in the batch. The batch must
   * not delete the row.
   */
  putLast(key: string, value: Bytes): void {
    const at = this.lastOnes.get(key) ?? this.changes.length;
    this.lastOnes.set(key, at);
    this.changes[at] = [key, value];
  }

  del(key: string): void {
    this.changes.push([key, null]);
  }

  /**
   * Overwrites the unencrypted private keys in the batch. Must be called after the batch was written or is not needed any
   * more.
   */
  wipe(): void {
    for (const [key, value] of this.changes)
      if (value !== null && String(key).startsWith(KEY_PREFIX)) value.fill(0);
  }
}
