/**
 * The rows of a wallet: keys and values are those of the reference's `wallet.dat`, so that one is taken over row by row. A key
 * is the name of its kind as a string with its length, and what distinguishes rows of the kind. Source: lbrycrd
 * wallet/walletdb.cpp.
 */
import type { RowChange } from '../../store/rows/rowRecords.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';

/** The kinds of rows, by what the reference calls them; `lockedfrom` and `scanfrom` are ours (`scan/scans.ts`). */
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

/** What the keys of a kind begin with. */
export function kindPrefix(kind: RecordKind): string {
  return String.fromCharCode(kind.length) + kind;
}

/** The key of a row, a byte a character. */
export function recordKey(kind: RecordKind, rest: Bytes | string = ''): string {
  return kindPrefix(kind) + (typeof rest === 'string' ? rest : toLatin1(rest));
}

/** The kind that a key names and what follows it; null when it names none. */
export function splitKey(key: Bytes): { kind: string; rest: Buffer } | null {
  const length = key[0];
  if (length === undefined || length >= 253 || key.length < 1 + length) return null;
  const bytes = Buffer.from(key.buffer, key.byteOffset, key.length);
  return { kind: bytes.toString('latin1', 1, 1 + length), rest: bytes.subarray(1 + length) };
}

const KEY_PREFIX = kindPrefix('key');

/** Changes that are committed together. */
export class WalletBatch {
  readonly changes: RowChange[] = [];
  /** Positions of the records from `putLast`. */
  private readonly lastOnes = new Map<string, number>();

  put(key: string, value: Bytes): void {
    this.changes.push([key, value]);
  }

  /** The same for a row that one batch may put very often: only the last value counts. It must not be deleted with the batch. */
  putLast(key: string, value: Bytes): void {
    const at = this.lastOnes.get(key) ?? this.changes.length;
    this.lastOnes.set(key, at);
    this.changes[at] = [key, value];
  }

  del(key: string): void {
    this.changes.push([key, null]);
  }

  /** Wipes the private keys in clear among them, once they are on their way to disk or given up. */
  wipe(): void {
    for (const [key, value] of this.changes)
      if (value !== null && String(key).startsWith(KEY_PREFIX)) value.fill(0);
  }
}
