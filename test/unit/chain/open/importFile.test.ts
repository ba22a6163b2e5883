import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readBlockRecords } from '../../../../src/chain/open/importFile.js';
import { Random } from '../../../differential/support.js';

const MAGIC = Buffer.from('fae4aad1', 'hex');
const folder = mkdtempSync(join(tmpdir(), 'lbcnode-import-'));
afterAll(() => rmSync(folder, { recursive: true }));

function record(body: Buffer, length = body.length): Buffer {
  const head = Buffer.alloc(8);
  MAGIC.copy(head);
  head.writeUInt32LE(length, 4);
  return Buffer.concat([head, body]);
}

const body = (fill: number, length = 100): Buffer => Buffer.alloc(length, fill);

/** Length and first byte of each block that is found in a file of these pieces. Checks the offsets too. */
async function find(pieces: readonly Buffer[], from = 0): Promise<[number, number][]> {
  const bytes = Buffer.concat(pieces);
  const path = join(folder, 'blk.dat');
  writeFileSync(path, bytes);
  const found: [number, number][] = [];
  let last = from;
  for await (const block of readBlockRecords(path, MAGIC, from)) {
    expect(block.bytes.equals(bytes.subarray(block.offset, block.end))).toBe(true);
    expect(bytes.subarray(block.offset - 8, block.offset - 4).equals(MAGIC)).toBe(true);
    expect(block.offset).toBeGreaterThanOrEqual(last + 8);
    last = block.end;
    found.push([block.bytes[0]!, block.bytes.length]);
  }
  return found;
}

describe('readBlockRecords', () => {
  it('finds nothing in an empty file, a few bytes, or zeros', async () => {
    expect(await find([])).toEqual([]);
    expect(await find([MAGIC])).toEqual([]);
    expect(await find([MAGIC, Buffer.alloc(3)])).toEqual([]);
    expect(await find([Buffer.alloc(5000)])).toEqual([]);
  });

  it('finds consecutive records, also after zeros and garbage', async () => {
    expect(
      await find([
        record(body(1)),
        record(body(2, 200)),
        Buffer.alloc(500),
        Buffer.from('garbage'),
        record(body(3)),
      ]),
    ).toEqual([
      [1, 100],
      [2, 200],
      [3, 100],
    ]);
  });

  it('starts at the given position', async () => {
    const pieces = [record(body(1)), record(body(2))];
    expect(await find(pieces, 108)).toEqual([[2, 100]]);
    expect(await find(pieces, 1)).toEqual([[2, 100]]);
    expect(await find(pieces, 216)).toEqual([]);
    expect(await find(pieces, 10_000)).toEqual([]);
  });

  it('skips impossible lengths', async () => {
    for (const length of [0, 79, 8_000_001, 0xffffffff]) {
      expect(await find([record(body(9), length), record(body(1))])).toEqual([[1, 100]]);
    }
    expect(await find([record(body(1, 80))])).toEqual([[1, 80]]);
  });

  it('skips a truncated record, also before complete ones', async () => {
    expect(await find([record(body(1)), record(body(2), 5000)])).toEqual([[1, 100]]);
    expect(await find([record(body(2), 5000), record(body(1)), record(body(3))])).toEqual([
      [1, 100],
      [3, 100],
    ]);
  });

  it('finds a magic after a repeated beginning of it', async () => {
    expect(await find([MAGIC.subarray(0, 3), record(body(1))])).toEqual([[1, 100]]);
    expect(await find([MAGIC, record(body(1))])).toEqual([[1, 100]]);
    expect(
      await find([MAGIC.subarray(0, 1), MAGIC.subarray(0, 2), record(body(1)), MAGIC.subarray(0, 2)]),
    ).toEqual([[1, 100]]);
  });

  it('finds records across its reads, also of the maximum size', async () => {
    const sizes = [8_000_000, 7_999_999, 500_000, 80, 8_000_000, 123_456];
    const pieces = sizes.map((size, i) => record(body(i + 1, size)));
    // The magic number of a block lies across the end of a read of 16 MiB.
    const gap = (16 << 20) - (8_000_008 + 8_000_007) - 2;
    pieces.splice(2, 0, Buffer.alloc(gap));
    expect(await find(pieces)).toEqual(sizes.map((size, i) => [i + 1, size]));
  });

  it('finds every complete record between other bytes', async () => {
    const random = new Random(500);
    for (let round = 0; round < 40; round++) {
      const pieces: Buffer[] = [];
      const expected: [number, number][] = [];
      for (let i = 0; i < 12; i++) {
        if (random.chance(2)) {
          const length = 80 + random.below(3000);
          const fill = 1 + random.below(200);
          pieces.push(record(body(fill, length)));
          expected.push([fill, length]);
        } else {
          // The noise has no complete magic number, but the first bytes of one.
          const noise = random.bytes(random.below(300));
          for (let at = 0; at + 3 < noise.length; at += 4) noise[at + 3] = 0;
          pieces.push(Buffer.concat([noise, MAGIC.subarray(0, random.below(4)), Buffer.alloc(4)]));
        }
      }
      expect(await find(pieces)).toEqual(expected);
    }
  });

  it('closes the file when the reader stops early, and throws when there is none', async () => {
    writeFileSync(join(folder, 'two.dat'), Buffer.concat([record(body(1)), record(body(2))]));
    const records = readBlockRecords(join(folder, 'two.dat'), MAGIC);
    expect((await records.next()).done).toBe(false);
    await records.return(undefined);
    expect((await records.next()).done).toBe(true);
    await expect(readBlockRecords(join(folder, 'none.dat'), MAGIC).next()).rejects.toThrow('ENOENT');
  });
});
