/**
 * A transaction on top of the committed rows. Its rows are in memory. If they exceed a limit, they move to the staging area,
 * where they become valid when the transaction is committed and flushed.
 */
import type { Bytes } from '../../util/bytes.js';
import type { MaybePromise } from '../../util/maybePromise.js';
import { KeyedRows } from './keyedRows.js';
import { fromArray, inOrder, mergeLayers, mergeRows, reaching, type Layer } from './mergeLayers.js';
import {
  collectRows,
  type RowRange,
  type RowReader,
  type RowSource,
  type RowTables,
  type RowTransaction,
} from './rows.js';

/** Size in bytes of an uncommitted transaction above which `relieve` moves its rows to the staging area. */
const SPILL_BYTES = 48 << 20;

/** Access of a transaction to committed rows. */
export interface TransactionGround extends Pick<RowReader, 'getMany'> {
  /** Like `getMany`, but synchronous; null if a row is not in memory. */
  getManyNow(keys: readonly string[]): (Bytes | undefined)[] | null;
  /** Like `RowTransaction.tablesOf`. */
  tablesOf(kind: string): RowTables | null;
  /** Like `RowTransaction.sourceOf`. */
  sourceOf(kinds: string): RowSource | null;
  /** See `RowTransaction.formerValues`. */
  packedValues(records: Buffer): MaybePromise<Buffer> | null;
  /** Reads a range synchronously; null if the rows must be read asynchronously. */
  getRangeNow(range: RowRange): [string, Bytes][] | null;
  /**
   * Reads the rows at positions `missing` of `keys` from the layers below memory. With `throughStage` these include the
   * staging area.
   */
  fillFromDisk(
    keys: readonly string[],
    missing: readonly number[],
    out: (Bytes | undefined)[],
    throughStage: boolean,
  ): Promise<void>;
  /** Like `RowTransaction.getBlocking`. With `throughStage` the staging area is also read. */
  getBlocking(key: string, throughStage: boolean): Bytes | undefined;
  /** See `RowStore.layers`. */
  layers(throughStage: boolean): Layer[];
  /** Must flush all committed rows. Called before the transaction writes rows to disk for the first time. */
  beforeSpill(): Promise<void>;
  /** Moves the rows to the staging area, and clears `rows`. */
  spill(rows: KeyedRows): Promise<void>;
}

/**
 * Implementation of `RowTransaction`. Reads search the transaction's rows in memory, then its rows in the staging area, then
 * the committed rows.
 */
export class OpenTransaction implements RowTransaction {
  readonly rows = new KeyedRows();
  spilled = false;
  private readonly store: TransactionGround;

  constructor(store: TransactionGround) {
    this.store = store;
  }

  put(key: string, value: Bytes): void {
    this.rows.set(key, value);
  }

  del(key: string): void {
    this.rows.set(key, null);
  }

  putRecords(kinds: string, records: Buffer): void {
    this.rows.addRecords(kinds, records);
  }

  formerValues(records: Buffer): MaybePromise<Buffer> | null {
    return this.store.packedValues(records);
  }

  async get(key: string): Promise<Bytes | undefined> {
    return (await this.getMany([key]))[0];
  }

  getManyNow(keys: readonly string[]): (Bytes | undefined)[] | null {
    const out = new Array<Bytes | undefined>(keys.length);
    let missing: number[] | null = null;
    for (let i = 0; i < keys.length; i++) {
      const row = this.rows.get(keys[i]!);
      if (row === undefined) (missing ??= []).push(i);
      else if (row !== null) out[i] = row;
    }
    if (missing === null) return out;
    if (this.spilled) return null;
    if (missing.length === keys.length) return this.store.getManyNow(keys);
    const lower = this.store.getManyNow(missing.map((i) => keys[i]!));
    if (lower === null) return null;
    for (let at = 0; at < missing.length; at++) out[missing[at]!] = lower[at];
    return out;
  }

  async getMany(keys: readonly string[]): Promise<(Bytes | undefined)[]> {
    const out = new Array<Bytes | undefined>(keys.length);
    const missing: number[] = [];
    const missingKeys: string[] = [];
    for (let i = 0; i < keys.length; i++) {
      const row = this.rows.get(keys[i]!);
      if (row === undefined) {
        missing.push(i);
        missingKeys.push(keys[i]!);
      } else if (row !== null) out[i] = row;
    }
    if (missing.length === 0) return out;
    if (this.spilled) await this.store.fillFromDisk(keys, missing, out, true);
    else {
      const lower = await this.store.getMany(missingKeys);
      missing.forEach((i, at) => {
        out[i] = lower[at];
      });
    }
    return out;
  }

  tablesOf(kind: string): RowTables | null {
    return this.spilled || this.rows.mayHave(kind) ? null : this.store.tablesOf(kind);
  }

  sourceOf(kinds: string): RowSource | null {
    for (const kind of kinds) if (this.rows.mayHave(kind)) return null;
    return this.spilled ? null : this.store.sourceOf(kinds);
  }

  getBlocking(key: string): Bytes | undefined {
    const row = this.rows.get(key);
    return row === undefined ? this.store.getBlocking(key, this.spilled) : (row ?? undefined);
  }

  getRangeNow(range: RowRange): [string, Bytes][] | null {
    if (this.spilled) return null;
    const own = this.rows.slice(range);
    const lower = this.store.getRangeNow(reaching(range, own.length));
    return lower === null || own.length === 0 ? lower : mergeRows(range, inOrder(own, range), lower);
  }

  async getRange(range: RowRange): Promise<[string, Bytes][]> {
    return this.getRangeNow(range) ?? collectRows(this.range(range));
  }

  range(range: RowRange): AsyncIterable<[string, Bytes]> {
    const own = this.rows.slice(range);
    const lower = this.store.layers(this.spilled).map(
      (layer): Layer =>
        (wanted) =>
          layer(reaching(wanted, own.length)),
    );
    return mergeLayers(range, [() => fromArray(inOrder(own, range)), ...lower]);
  }

  async relieve(): Promise<void> {
    if (this.rows.sizeBytes < SPILL_BYTES) return;
    if (!this.spilled) await this.store.beforeSpill();
    this.spilled = true;
    await this.store.spill(this.rows);
  }
}
