/** A header table in memory with short functions that fill it, for tests of the code that uses it. */
import { sha256 } from '../../../src/crypto/hash.js';
import { HeaderTable, NO_HEADER } from '../../../src/store/files/headerTable.js';
import type { RowReader } from '../../../src/store/rows/rows.js';

export const NO_ROWS: RowReader = {
  get: async () => undefined,
  getMany: async (keys) => keys.map(() => undefined),
  getRange() {
    throw new Error('a header table reads no ranges');
  },
  range() {
    throw new Error('a header table walks no ranges');
  },
};

export class TestHeaders {
  readonly table = new HeaderTable(NO_ROWS);

  /** Adds a block. By default, its work is its height. `offset`: position of its data in file 0. */
  add(
    parent: number,
    changes: { timeSec?: number; work?: bigint; offset?: number; file?: number } = {},
  ): number {
    const { table } = this;
    const number = table.count;
    const height = parent === NO_HEADER ? 0 : table.height(parent) + 1;
    const header = {
      version: 0x20000000,
      prevHash: Buffer.alloc(32),
      merkleRoot: Buffer.alloc(32),
      claimRoot: Buffer.alloc(32),
      timeSec: changes.timeSec ?? 1_600_000_000 + height,
      bits: 0x207fffff,
      nonce: number,
    };
    const id = table.add(header, sha256(Buffer.from(String(number))), parent, changes.work ?? BigInt(height));
    table.setDataPosition(id, { file: changes.file ?? 0, offset: changes.offset ?? number * 1000 });
    return id;
  }

  /** Adds `count` connected blocks. Returns their ids. */
  chain(parent: number, count: number): number[] {
    const ids: number[] = [];
    for (let i = 0, at = parent; i < count; i++) ids.push((at = this.add(at)));
    return ids;
  }
}
