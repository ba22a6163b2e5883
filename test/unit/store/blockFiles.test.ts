import { mkdtempSync, appendFileSync, statSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readBlockRecords } from '../../../src/chain/importFile.js';
import { BlockFileError, BlockFiles } from '../../../src/store/blockFiles.js';

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
    for await (const { bytes } of readBlockRecords(files.path('blk', file), magic)) sizes.push(bytes.length);
    return sizes;
  };

  it('writes records that others can find, and reads them back', async () => {
    const first = files.writeBlock(block(300, 1));
    const second = files.writeBlock(block(400, 2));
    expect([first.offset, second.offset]).toEqual([8, 316]);
    expect(await files.readBlock(second)).toEqual(block(400, 2));
    expect(files.readBlockSync(first)).toEqual(block(300, 1));
    expect(await files.readPart(second, 100, 10)).toEqual(block(10, 2));
    expect(await records(0)).toEqual([300, 400]);
  });

  it('starts a new file when one is full, and goes on in the last one after a restart', () => {
    files.writeBlock(block(900, 1));
    expect(files.writeBlock(block(900, 2)).file).toBe(1);
    files.close();
    files = new BlockFiles({ folder, magic, maxFileBytes: 1000 });
    expect(files.writeBlock(block(50, 3))).toEqual({ file: 1, offset: 916 });
    expect(files.fileNumbers()).toEqual([0, 1]);
  });

  it('refuses what is not a record and undo data that does not fit its parent', () => {
    const position = files.writeBlock(block(300, 1));
    expect(() => files.readBlockSync({ file: 0, offset: position.offset + 5 })).toThrow(BlockFileError);
    const parent = Buffer.alloc(32, 7);
    const at = files.writeUndo(0, parent, block(20, 9));
    expect(files.readUndoSync({ file: 0, offset: at }, parent)).toEqual(block(20, 9));
    expect(() => files.readUndoSync({ file: 0, offset: at }, Buffer.alloc(32, 8))).toThrow(BlockFileError);
  });

  it('drops a torn record but leaves padding alone', async () => {
    files.writeBlock(block(100, 1));
    const end = files.sizeBytes('blk', 0);
    files.close();
    appendFileSync(files.path('blk', 0), Buffer.concat([magic, Buffer.from([200, 0, 0, 0]), block(50, 2)]));
    files = new BlockFiles({ folder, magic, maxFileBytes: 1000 });
    expect(await records(0)).toEqual([100]);
    files.dropTornBlock(0, end);
    expect(statSync(files.path('blk', 0)).size).toBe(end);
    files.writeBlock(block(120, 3));
    expect(await records(0)).toEqual([100, 120]);
    files.close();
    const padded = statSync(files.path('blk', 0)).size;
    appendFileSync(files.path('blk', 0), Buffer.alloc(64));
    files = new BlockFiles({ folder, magic, maxFileBytes: 1000 });
    files.dropTornBlock(0, padded);
    expect(statSync(files.path('blk', 0)).size).toBe(padded + 64);
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
