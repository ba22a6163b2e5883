import { describe, expect, it } from 'vitest';
import { CHUNK_ROWS, HeaderTable, NO_HEADER, STATUS } from '../../../../src/store/files/headerTable.js';
import type { RowRange, RowReader } from '../../../../src/store/rows/rows.js';
import { sha256 } from '../../../../src/crypto/hash.js';
import type { Bytes } from '../../../../src/util/bytes.js';

class Rows implements RowReader {
  readonly rows = new Map<string, Bytes>();
  async get(key: string): Promise<Bytes | undefined> {
    return this.rows.get(key);
  }
  async getMany(keys: readonly string[]): Promise<(Bytes | undefined)[]> {
    return keys.map((key) => this.rows.get(key));
  }

  async getRange(_range: RowRange): Promise<[string, Bytes][]> {
    throw new Error('the header table reads no ranges');
  }

  async *range(_range: RowRange): AsyncGenerator<[string, Bytes]> {
    throw new Error('the header table walks no ranges');
  }
  put(key: string, value: Bytes): void {
    this.rows.set(key, value);
  }
  del(key: string): void {
    this.rows.delete(key);
  }
}

const hashOf = (n: number): Buffer => sha256(Buffer.from(`header ${n}`));
const fill = (table: HeaderTable, count: number): void => {
  for (let n = table.count; n < count; n++) {
    const header = {
      version: n % 7,
      prevHash: hashOf(n - 1),
      merkleRoot: hashOf(n + 1_000_000),
      claimRoot: hashOf(n + 2_000_000),
      timeSec: 1_500_000_000 + n,
      bits: 0x207fffff,
      nonce: n * 3,
    };
    table.add(header, hashOf(n), n === 0 ? NO_HEADER : n - 1, (1n << 64n) + BigInt(n));
  }
};

describe('HeaderTable', () => {
  it('finds adjacent blocks of a file', () => {
    const table = new HeaderTable(new Rows());
    fill(table, 20);
    for (let n = 1; n < 20; n++) {
      table.setDataPosition(n, { file: n < 12 ? 0 : 1, offset: 100 * (n < 12 ? n : n - 11) });
      if (n !== 9) table.addStatus(n, STATUS.haveData);
    }
    table.setDataPosition(7, { file: 0, offset: 50 });
    const run = (ids: number[], room = 10_000): unknown[] => {
      const { file, starts, hashes } = table.runOf(ids, room);
      expect(hashes).toEqual(Buffer.concat(ids.slice(0, starts.length).map(hashOf)));
      return [file, ...starts];
    };
    expect(run([1, 2, 4, 5])).toEqual([0, 100, 200, 400, 500]);
    expect(run([1, 2, 4, 5], 301)).toEqual([0, 100, 200, 400]);
    // A run ends at another file, an earlier position, missing data, or the last block.
    expect(run([10, 11, 12])).toEqual([0, 1000, 1100]);
    expect(run([5, 6, 7, 8])).toEqual([0, 500, 600]);
    expect(run([8, 9, 10])).toEqual([0, 800]);
    expect(run([9, 10])).toEqual([0]);
    expect(run([19, -1])).toEqual([1, 800]);
    expect(run([-1])).toEqual([-1]);
  });

  it('finds, orders by work, and keeps 128 bits of work', () => {
    const table = new HeaderTable(new Rows());
    fill(table, 3000);
    expect(table.find(hashOf(2999))).toBe(2999);
    expect(table.find(hashOf(3000))).toBe(NO_HEADER);
    expect(table.height(2999)).toBe(2999);
    expect(table.work(5)).toBe((1n << 64n) + 5n);
    expect(table.compareWork(5, 6)).toBe(-1);
    expect(table.compareWork(6, 6)).toBe(0);
  });

  it('is preserved in its rows, with a partly filled chunk at the end', async () => {
    const rows = new Rows();
    const table = new HeaderTable(rows);
    fill(table, CHUNK_ROWS * 2 + 10);
    table.addStatus(7, STATUS.haveData | STATUS.failed);
    table.setDataPosition(7, { file: 3, offset: 99 });
    table.setChainTxCount(7, 2 ** 40);
    table.writeDirty(rows);

    const again = new HeaderTable(rows);
    await again.load(table.count);
    await again.prepareTail();
    expect(again.find(hashOf(CHUNK_ROWS + 3))).toBe(CHUNK_ROWS + 3);
    expect(again.isFailed(7)).toBe(true);
    expect(again.dataPosition(7)).toEqual({ file: 3, offset: 99 });
    expect(again.chainTxCount(7)).toBe(2 ** 40);
    expect(again.file(8)).toBe(-1);
    fill(again, CHUNK_ROWS * 2 + 20);
    again.writeDirty(rows);
    const third = new HeaderTable(rows);
    await third.load(again.count);
    for (const n of [0, 7, CHUNK_ROWS, CHUNK_ROWS * 2 + 5, CHUNK_ROWS * 2 + 15]) {
      const header = await third.readHeader(n);
      expect(header.nonce).toBe(n * 3);
      expect(Buffer.from(header.claimRoot)).toEqual(hashOf(n + 2_000_000));
      expect(Buffer.from(header.prevHash)).toEqual(n === 0 ? Buffer.alloc(32) : hashOf(n - 1));
    }
  });
});
