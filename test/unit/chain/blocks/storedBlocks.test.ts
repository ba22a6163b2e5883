import { closeSync, openSync, readSync, writeSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { BlockFileError } from '../../../../src/store/files/blockFiles.js';
import { TestChain } from '../../../support/testChain.js';

const HEIGHT = 3;

describe('reading the bytes of a block', () => {
  let chain: TestChain;
  let id: number;
  let raw: Buffer;

  beforeEach(async () => {
    chain = await TestChain.open();
    await chain.mine(HEIGHT);
    id = chain.opened.chain.index.active.at(HEIGHT);
    ({ raw } = await chain.opened.chain.readBlock(id));
  });
  afterEach(() => chain.close());

  /** Inverts a bit of the stored block at this distance from its end. */
  function flipBit(fromEnd: number): void {
    const { file, offset } = chain.opened.chain.index.headers.dataPosition(id);
    const fd = openSync(chain.opened.chain.deps.files.path('blk', file), 'r+');
    const byte = Buffer.alloc(1);
    const at = offset + raw.length - fromEnd;
    readSync(fd, byte, 0, 1, at);
    byte[0]! ^= 1;
    writeSync(fd, byte, 0, 1, at);
    closeSync(fd);
  }

  it('verifies a block at the first read, and compares its checksum afterwards', async () => {
    // Each verification looks up whether segwit is active.
    const verified = vi.spyOn(chain.opened.chain.index.versionBits, 'isActive');
    expect(await chain.opened.chain.readBlockBytes(id)).toEqual(raw);
    expect(verified).toHaveBeenCalledTimes(1);
    expect(await chain.opened.chain.readBlockBytes(id)).toEqual(raw);
    expect(verified).toHaveBeenCalledTimes(1);
    expect(await chain.opened.chain.readBlockBytes(chain.opened.chain.index.active.at(1))).not.toEqual(raw);
    expect(verified).toHaveBeenCalledTimes(2);
  });

  it('refuses a block that became corrupt before or after it was verified, until its bytes are right again', async () => {
    for (const fromEnd of [1, raw.length]) {
      flipBit(fromEnd);
      await expect(chain.opened.chain.readBlockBytes(id)).rejects.toBeInstanceOf(BlockFileError);
      await expect(chain.opened.chain.readBlockBytes(id)).rejects.toBeInstanceOf(BlockFileError);
      flipBit(fromEnd);
      expect(await chain.opened.chain.readBlockBytes(id)).toEqual(raw);
    }
  });
});
