/** Which block files are deleted, and when. */
import { describe, expect, it } from 'vitest';
import { MIN_BLOCKS_TO_KEEP } from '../../../../src/chain/blocks/acceptance.js';
import { ChainEvents } from '../../../../src/chain/chainEvents.js';
import { Pruner } from '../../../../src/chain/blocks/pruner.js';
import { NO_HEADER } from '../../../../src/store/files/headerTable.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { TestHeaders } from '../headers.js';

const MIB = 1 << 20;
const BLOCKS_A_FILE = 100;
const FILES = 10;

/** A chain whose blocks are in ten files of 20 MiB each. */
function makePruner(targetMib: number, pruneAfterHeight = 0, neededFrom = () => Infinity) {
  const headers = new TestHeaders();
  let tip = NO_HEADER;
  for (let n = 0; n < FILES * BLOCKS_A_FILE; n++)
    tip = headers.add(tip, { file: Math.floor(n / BLOCKS_A_FILE) });
  const removed: number[] = [];
  const lines: string[] = [];
  let flushes = 0;
  const chain = {
    tip,
    height: FILES * BLOCKS_A_FILE - 1,
    events: new ChainEvents(),
    index: { headers: headers.table, forgetData: (id: number) => headers.table.setDataPosition(id, { file: -1, offset: 0 }) }, // prettier-ignore
    deps: {
      params: { pruneAfterHeight },
      files: {
        currentFile: FILES - 1,
        fileNumbers: () => Array.from({ length: FILES }, (_, file) => file).filter((file) => !removed.includes(file)), // prettier-ignore
        sizeBytes: (kind: string) => (kind === 'blk' ? 19 * MIB : MIB),
        remove: (file: number) => void removed.push(file),
      },
    },
    change: <T>(task: () => Promise<T>) => task(),
  };
  const flusher = {
    pruned: false,
    scanFrom: null as { file: number } | null,
    flush: async () => void flushes++,
  };
  const pruner = new Pruner(
    chain as unknown as ConstructorParameters<typeof Pruner>[0],
    flusher as unknown as ConstructorParameters<typeof Pruner>[1],
    { targetBytes: targetMib * MIB, neededFrom },
    {
      ...SILENT_LOGGER,
      debug: (category, message) =>
        void lines.push(`${category}: ${typeof message === 'string' ? message : message()}`),
    },
  );
  return { pruner, flusher, removed, lines, flushes: () => flushes };
}

describe('the pruner', () => {
  it('removes the oldest files when a lower target is set, without a new tip', async () => {
    const { pruner, flusher, removed, lines, flushes } = makePruner(140);
    await pruner.pruneToTarget();
    // The files have 200 MiB. 17 MiB of the target remain free for new blocks.
    expect(removed).toEqual([0, 1, 2, 3]);
    expect([flusher.pruned, flushes()]).toEqual([true, 1]);
    const last = FILES * BLOCKS_A_FILE - 1 - MIN_BLOCKS_TO_KEEP;
    expect(lines).toEqual([
      `prune: Prune: target=140MiB actual=120MiB diff=20MiB max_prune_height=${last} removes 4 blk/rev pairs`,
      ...removed.map(
        (file) =>
          `prune: Prune: deleted blk/rev ${file}, ${BLOCKS_A_FILE} blocks up to height ${(file + 1) * BLOCKS_A_FILE - 1}`,
      ),
    ]);
  });

  it('keeps blocks that an index still has to read', async () => {
    // Without the index, two more files would be deleted.
    const held = makePruner(140, 0, () => 250);
    await held.pruner.pruneToTarget();
    expect(held.removed).toEqual([0, 1]);
  });

  it('keeps the last blocks, and all blocks of a short or small chain', async () => {
    const tight = makePruner(1);
    await tight.pruner.pruneToTarget();
    expect(tight.removed).toEqual([0, 1, 2, 3, 4, 5, 6]);
    const roomy = makePruner(217);
    await roomy.pruner.pruneToTarget();
    expect([roomy.removed, roomy.flushes()]).toEqual([[], 0]);
    const short = makePruner(1, 10_000);
    await short.pruner.pruneToTarget();
    expect(short.removed).toEqual([]);
  });

  it('first removes files left by a crash in the middle of pruning', async () => {
    const { pruner, flusher, removed } = makePruner(140);
    await pruner.pruneToTarget();
    expect(removed).toEqual([0, 1, 2, 3]);
    // The database no longer has these files, but they exist.
    removed.length = 0;
    await pruner.pruneToTarget();
    expect(removed).toEqual([0, 1, 2, 3]);
    // Files that the next start must read are kept.
    removed.length = 0;
    flusher.scanFrom = { file: 2 };
    await pruner.pruneToTarget();
    expect(removed).toEqual([0, 1]);
  });

  it('keeps unknown files if the folder was never pruned', async () => {
    const { pruner, flusher, removed } = makePruner(140);
    await pruner.pruneToTarget();
    removed.length = 0;
    flusher.pruned = false;
    await pruner.pruneToTarget();
    expect(removed).toEqual([4, 5, 6]);
  });
});
