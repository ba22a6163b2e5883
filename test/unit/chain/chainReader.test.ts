import { expect, test } from 'vitest';
import { ChainReader } from '../../../src/chain/chainReader.js';
import { readUndoChecked } from '../../../src/rpc/lookup/blockLookup.js';
import { BlockFileError } from '../../../src/store/files/blockFiles.js';
import { NO_HEADER, STATUS } from '../../../src/store/files/headerTable.js';

/** A reader of a chain that started from a snapshot of block 3: block 1 is validated, block 2 only downloaded. */
function readerOf(): ChainReader {
  const status = [STATUS.haveData, STATUS.haveData | STATUS.haveUndo, STATUS.haveData, 0];
  const headers = {
    prev: (id: number) => (id === 0 ? NO_HEADER : id - 1),
    height: (id: number) => id,
    hash: () => Buffer.alloc(32),
    hasStatus: (id: number, wanted: number) => (status[id]! & wanted) === wanted,
    undoPosition: (id: number) => ({ file: 0, offset: id }),
  };
  const files = { readUndoSync: ({ offset }: { offset: number }) => Buffer.of(offset) };
  return new ChainReader({ index: { headers, snapshotHeight: 3 }, deps: { files } } as never, {} as never);
}

test('a downloaded block below a snapshot has no undo data until it is validated', async () => {
  const chain = readerOf();
  expect([0, 1, 2, 3].map((id) => chain.hasUndo(id))).toEqual([true, true, false, false]);
  expect([chain.readUndo(0), chain.readUndo(1)]).toEqual([Buffer.alloc(0), Buffer.of(1)]);
  expect(() => chain.readUndo(2)).toThrow(BlockFileError);
  expect([chain.behindSnapshot(0), chain.behindSnapshot(1)]).toEqual([null, null]);
  for (const id of [2, 3])
    await expect(readUndoChecked({ chain } as never, id)).rejects.toMatchObject({
      code: -1,
      message: expect.stringContaining(`Block ${id} is not available yet`),
    });
});
