/**
 * Rows of chosen kinds as they were last written, in bounded memory: what a block writes, a block soon to come reads
 * again. Two generations: when the younger is full the elder one goes, so that a row stays for at least half of the
 * bound after its last writing. Owns the choice of what stays; who writes must tell it of every change.
 */
import type { Bytes } from '../util/bytes.js';
import { prefixEnd } from './rows.js';
import { RowTable } from './rowTable.js';

export interface RecentRowsOptions {
  /** First bytes of the keys that are kept. */
  kinds: readonly string[];
  /** The most memory they take; 0 keeps nothing. */
  maxBytes: number;
}

export class RecentRows {
  private readonly options: RecentRowsOptions;
  private young = new RowTable();
  private old = new RowTable();

  constructor(options: RecentRowsOptions) {
    this.options = options;
  }

  get sizeBytes(): number {
    return this.young.sizeBytes + this.old.sizeBytes;
  }

  /** A copy of the row; null when it is known to be absent, undefined when the database must be asked. */
  get(key: string): Bytes | null | undefined {
    const row = this.young.get(key);
    return row === undefined ? this.old.get(key) : row;
  }

  /** Takes note of what is in the database from now on; null for a row that is deleted. */
  note(key: string, value: Bytes | null): void {
    const { kinds, maxBytes } = this.options;
    if (maxBytes === 0 || !kinds.includes(key[0]!)) return;
    this.young.set(key, value);
    if (this.young.sizeBytes < maxBytes / 2) return;
    const spare = this.old;
    spare.clear();
    this.old = this.young;
    this.young = spare;
  }

  /** Rows between the keys have changed, or gone, without being noted one by one. */
  forget(gte: string, lt: string): void {
    if (this.options.kinds.some((kind) => gte < prefixEnd(kind) && lt > kind)) this.clear();
  }

  clear(): void {
    this.young.clear();
    this.old.clear();
  }
}
