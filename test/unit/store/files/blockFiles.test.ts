import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readBlockRecords } from '../../../../src/chain/open/importFile.js';
import { BlockFileError, BlockFiles, type FilePosition } from '../../../../src/store/files/blockFiles.js';

/** Target of a link; empty if the link is missing. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

const magic = Buffer.from('fae4aad1', 'hex');
const block = (size: number, fill: number): Buffer => Buffer.alloc(size, fill);

describe('BlockFiles', () => {
  let folder: string;
  let files: BlockFiles;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'blocks-'));
    files = new BlockFiles({ folder, magic, maxFileBytes: 1000 });
  });
  afterEach(() => {
    files.close();
    rmSync(folder, { recursive: true });
  });

  const records = async (file: number): Promise<number[]> => {
    const sizes: number[] = [];
    files.writeOut();
    for await (const { bytes } of readBlockRecords(files.path('blk', file), magic)) sizes.push(bytes.length);
    return sizes;
  };

  it('reports a pipe in place of a file to write', () => {
    const { file } = files.writeBlock(block(10, 1));
    execFileSync('mkfifo', [files.path('rev', file)]);
    files.writeUndo(file, block(32, 0), block(10, 2));
    expect(() => files.writeOut()).toThrow(
      expect.objectContaining({ code: 'EFTYPE', path: files.path('rev', file) }),
    );
  });

  it('keeps short records in memory until they are needed, and writes them in order', async () => {
    files = new BlockFiles({ folder, magic });
    const path = files.path('blk', 0);
    files.writeBlock(block(300, 1));
    expect([existsSync(path), files.sizeBytes('blk', 0)]).toEqual([false, 308]);
    files.writeOut();
    expect(statSync(path).size).toBe(308);
    const second = files.writeBlock(block(400, 2));
    expect(statSync(path).size).toBe(308);
    expect(files.readBlockSync(second)).toEqual(block(400, 2));
    expect(statSync(path).size).toBe(716);
    files.writeBlock(block(110, 3));
    // A record that is larger than the buffer is written after the buffered ones.
    const large = files.writeBlock(block(300 << 10, 4));
    files.writeBlock(block(120, 5));
    expect(large.offset).toBe(842);
    expect(await files.readBlock(large)).toEqual(block(300 << 10, 4));
    files.sync();
    expect(await records(0)).toEqual([300, 400, 110, 300 << 10, 120]);
    // The data of a pruned file is not written any more.
    const parent = Buffer.alloc(32, 7);
    files.writeUndo(0, parent, block(20, 9));
    files.remove(0);
    files.close();
    expect(files.fileNumbers()).toEqual([]);
    expect(existsSync(files.path('rev', 0))).toBe(false);
  });

  it('writes records that other readers can find, and reads them back', async () => {
    const first = files.writeBlock(block(300, 1));
    const second = files.writeBlock(block(400, 2));
    expect([first.offset, second.offset]).toEqual([8, 316]);
    expect(await files.readBlock(second)).toEqual(block(400, 2));
    expect(files.readBlockSync(first)).toEqual(block(300, 1));
    expect(await files.readPart(second, 100, 10)).toEqual(block(10, 2));
    expect(await files.readPart(second, 390, 100)).toEqual(block(10, 2));
    // `readNow` reads the bytes that are in memory. Without the addon, or if the system does not report them, it reads none.
    const target = Buffer.alloc(10);
    const got = files.readNow(first, 100, target);
    expect(target.subarray(0, got)).toEqual(block(got, 1));
    expect(files.readNow(second, 1000, target)).toBe(0);
    expect(() => files.readNow({ file: 5, offset: 8 }, 0, target)).toThrow(BlockFileError);
    expect(await records(0)).toEqual([300, 400]);
  });

  it('starts a new file when one is full, and continues in the last one after a restart', () => {
    files.writeBlock(block(900, 1));
    expect(files.writeBlock(block(900, 2)).file).toBe(1);
    files.close();
    files = new BlockFiles({ folder, magic, maxFileBytes: 1000 });
    expect(files.writeBlock(block(50, 3))).toEqual({ file: 1, offset: 916 });
    expect(files.fileNumbers()).toEqual([0, 1]);
  });

  it('refuses invalid records and undo data that does not match the parent', () => {
    const position = files.writeBlock(block(300, 1));
    expect(() => files.readBlockSync({ file: 0, offset: position.offset + 5 })).toThrow(BlockFileError);
    const parent = Buffer.alloc(32, 7);
    const at = files.writeUndo(0, parent, block(20, 9));
    expect(files.readUndoSync({ file: 0, offset: at }, parent)).toEqual(block(20, 9));
    expect(() => files.readUndoSync({ file: 0, offset: at }, Buffer.alloc(32, 8))).toThrow(BlockFileError);
  });

  it('reads consecutive blocks ahead, and drops the bytes when the file is truncated or removed', async () => {
    files = new BlockFiles({ folder, magic });
    const sizes = [300, 10, 200 << 10, 40, 50, 60, 70];
    const positions = sizes.map((size, n) => files.writeBlock(block(size, n)));
    for (const [n, position] of positions.entries())
      expect(await files.readNextBlock(position)).toEqual(block(sizes[n]!, n));
    for (const n of [5, 2, 6, 3, 4])
      expect(await files.readNextBlock(positions[n]!)).toEqual(block(sizes[n]!, n));
    const { file, offset } = positions[4]!;
    const inside = { file, offset: offset + 5 };
    await expect(files.readNextBlock(inside)).rejects.toThrow(BlockFileError);
    await expect(files.readNextBlock({ file: 3, offset: 8 })).rejects.toThrow(BlockFileError);
    // Appended blocks follow those that were read ahead.
    const appended = files.writeBlock(block(500, 8));
    expect(await files.readNextBlock(positions[6]!)).toEqual(block(70, 6));
    expect(await files.readNextBlock(appended)).toEqual(block(500, 8));
    await files.readNextBlock(positions[3]!);
    files.truncate(0, offset - 8);
    expect(files.writeBlock(block(50, 9))).toEqual(positions[4]);
    expect(await files.readNextBlock(positions[4]!)).toEqual(block(50, 9));
    files.remove(0);
    await expect(files.readNextBlock(positions[4]!)).rejects.toThrow(BlockFileError);
  });

  it('compares consecutive undo records with undo data, checksums included', () => {
    files = new BlockFiles({ folder, magic });
    const parent = Buffer.alloc(32, 7);
    const sizes = [20, 0, 30, 200 << 10, 40, 50, 60];
    const offsets = sizes.map((size, n) => files.writeUndo(0, parent, block(size, n)));
    const holds = (n: number, undo: Buffer, parentHash = parent): boolean =>
      files.hasUndoSync({ file: 0, offset: offsets[n]! }, parentHash, undo);
    for (const [n, size] of sizes.entries()) expect(holds(n, block(size, n))).toBe(true);
    // The same and other bytes, lengths and parents, in and out of order.
    for (const [n, size] of sizes.entries()) {
      expect(holds(n, block(size, n))).toBe(true);
      expect(holds(n, block(size, n + 1))).toBe(size === 0);
      expect(holds(n, block(size + 1, n))).toBe(false);
    }
    expect(holds(2, block(30, 2))).toBe(true);
    expect(() => files.hasUndoSync({ file: 0, offset: 9 }, parent, block(20, 0))).toThrow(BlockFileError);
    files.writeOut();
    const path = files.path('rev', 0);
    const bytes = readFileSync(path);
    bytes[offsets[1]! + 4]! ^= 1;
    bytes[offsets[4]! + 4]! ^= 1;
    bytes[offsets[5]! + 50]! ^= 1;
    writeFileSync(path, bytes);
    const again = new BlockFiles({ folder, magic });
    const states = sizes.map((size, n) => {
      try {
        return again.hasUndoSync({ file: 0, offset: offsets[n]! }, parent, block(size, n));
      } catch {
        return false;
      }
    });
    expect(states).toEqual([true, false, true, true, false, false, true]);
    again.close();
  });

  it('reads consecutive undo records ahead, with checksums', async () => {
    files = new BlockFiles({ folder, magic });
    const parent = Buffer.alloc(32, 7);
    const sizes = [20, 0, 30, 200 << 10, 40, 50, 60];
    const write = (size: number, n: number): FilePosition => ({
      file: 0,
      offset: files.writeUndo(0, parent, block(size, n)),
    });
    const positions = sizes.map(write);
    for (const n of [0, 1, 2, 3, 4, 5, 6, 5, 2, 3, 4])
      expect(await files.readNextUndo(positions[n]!, parent)).toEqual(block(sizes[n]!, n));
    await expect(files.readNextUndo(positions[5]!, Buffer.alloc(32, 8))).rejects.toThrow(BlockFileError);
    const appended = write(70, 8);
    expect(await files.readNextUndo(positions[6]!, parent)).toEqual(block(60, 6));
    expect(await files.readNextUndo(appended, parent)).toEqual(block(70, 8));
    const path = files.path('rev', 0);
    const bytes = readFileSync(path);
    bytes[positions[2]!.offset + 4]! ^= 1;
    bytes[positions[5]!.offset + 51]! ^= 1;
    writeFileSync(path, bytes);
    const again = new BlockFiles({ folder, magic });
    const readable = [];
    for (const position of positions)
      readable.push(
        await again.readNextUndo(position, parent).then(
          () => true,
          (error: unknown) => {
            expect(error).toBeInstanceOf(BlockFileError);
            return false;
          },
        ),
      );
    expect(readable).toEqual([true, true, false, true, true, false, true]);
    again.close();
  });

  it('returns the position of a torn record, so that it can be removed before the next write', async () => {
    files.writeBlock(block(100, 1));
    const end = files.sizeBytes('blk', 0);
    files.close();
    appendFileSync(
      files.path('blk', 0),
      Buffer.concat([Buffer.alloc(64), magic, Buffer.from([200, 0, 0, 0]), block(50, 2)]),
    );
    files = new BlockFiles({ folder, magic, maxFileBytes: 1000 });
    const torn: number[] = [];
    const sizes: number[] = [];
    for await (const { bytes } of readBlockRecords(files.path('blk', 0), magic, 0, (at) => torn.push(at)))
      sizes.push(bytes.length);
    expect([sizes, torn]).toEqual([[100], [end + 64]]);
    files.truncate(0, end + 64);
    expect(statSync(files.path('blk', 0)).size).toBe(end + 64);
    files.writeBlock(block(120, 3));
    expect(await records(0)).toEqual([100, 120]);
  });

  it('keeps a file open during a read, however many others are opened meanwhile', async () => {
    files.close();
    files = new BlockFiles({ folder, magic, maxFileBytes: 600 });
    const positions = Array.from({ length: 100 }, (_, n) => files.writeBlock(block(500, n)));
    expect(positions.at(-1)!.file).toBe(99);
    const read = await Promise.all(positions.map((position) => files.readBlock(position)));
    read.forEach((bytes, n) => expect(bytes).toEqual(block(500, n)));
    const pending = files.readBlock(positions[7]!);
    files.remove(7);
    expect(await pending).toEqual(block(500, 7));
    files.close();
    // All descriptors are closed, including those that were released during a read.
    if (existsSync('/proc/self/fd')) {
      const open = readdirSync('/proc/self/fd').map((fd) => linkOf(`/proc/self/fd/${fd}`));
      expect(open.filter((path) => path.startsWith(folder))).toEqual([]);
    }
  });

  it('does not create a file by reading, and reports a missing or truncated one', async () => {
    const position = files.writeBlock(block(300, 1));
    files.writeOut();
    expect(() => files.readBlockSync({ file: 3, offset: 8 })).toThrow(/blk00003\.dat is missing/);
    await expect(files.readBlock({ file: 3, offset: 8 })).rejects.toThrow(BlockFileError);
    expect(files.fileNumbers()).toEqual([0]);
    files.close();
    truncateSync(files.path('blk', 0), 200);
    files = new BlockFiles({ folder, magic, maxFileBytes: 1000 });
    expect(() => files.readBlockSync(position)).toThrow(BlockFileError);
  });

  it('reports the name of a file that the system refuses to read', async () => {
    const position = files.writeBlock(block(300, 1));
    const undo = files.writeUndo(0, Buffer.alloc(32, 7), block(50, 2));
    files.close();
    for (const kind of ['blk', 'rev'] as const) {
      rmSync(files.path(kind, 0));
      mkdirSync(files.path(kind, 0));
    }
    const isNamed = (error: unknown): boolean => {
      expect(error).toBeInstanceOf(BlockFileError);
      expect((error as Error).message).toMatch(/(?:blk|rev)00000\.dat/);
      return true;
    };
    await expect(files.readBlock(position)).rejects.toSatisfy(isNamed);
    await expect(files.readPart(position, 0, 10)).rejects.toSatisfy(isNamed);
    expect(() => files.readBlockSync(position)).toThrow(expect.toSatisfy(isNamed));
    expect(() => files.readUndoSync({ file: 0, offset: undo }, Buffer.alloc(32, 7))).toThrow(
      expect.toSatisfy(isNamed),
    );
  });

  it('finds records between garbage', async () => {
    files.writeBlock(block(100, 1));
    files.close();
    appendFileSync(
      files.path('blk', 0),
      Buffer.concat([Buffer.from('garbage'), magic, Buffer.from([3, 0, 0, 0])]),
    );
    files = new BlockFiles({ folder, magic, maxFileBytes: 1000 });
    files.writeBlock(block(110, 2));
    expect(await records(0)).toEqual([100, 110]);
  });
});
