import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { parseChainState } from '../../../src/chain/connect/chainState.js';
import { Flusher } from '../../../src/chain/flusher.js';
import { StepTimers } from '../../../src/chain/connect/stepTimers.js';
import { NO_HEADER } from '../../../src/store/files/headerTable.js';
import { SILENT_LOGGER, type Logger } from '../../../src/util/logging.js';
import { TestHeaders } from './headers.js';

/** Memory of the rows in bytes: unflushed rows, cached rows, and the database. */
interface RowMemory {
  readonly dirtyBytes: number;
  readonly recentBytes: number;
  readonly recentMaxBytes: number;
  readonly databaseMemory: { readonly bytes: number; readonly maxBytes: number };
}

/** A flusher whose dependencies record its calls. */
function makeFlusher(log: Logger = SILENT_LOGGER, coinBytes = 5000, rows: Partial<RowMemory> = {}) {
  const headers = new TestHeaders();
  const genesis = headers.add(NO_HEADER);
  const notes = { trims: 0, flushes: 0, states: [] as unknown[], diskFails: false };
  const store = {
    beforeSpill: async (): Promise<void> => undefined,
    mustFlush: false,
    dirtyBytes: 0,
    recentBytes: 0,
    recentMaxBytes: 0,
    databaseMemory: { bytes: 0, maxBytes: 0 },
    ...rows,
    put: (key: string, row: Buffer) => void (key === 'T' && notes.states.push(parseChainState(row))),
    tableStats: () => 'Level  Files\n  0  1\n',
    flush: async () => {
      notes.flushes++;
      if (notes.diskFails) throw new Error('no disk');
    },
  };
  const clock = { cpuMs: 500 };
  const coins = {
    usageBytes: coinBytes,
    dirtyCount: 1,
    dirtyBytes: 100,
    entryCount: 9,
    takeDirty: () => null,
    trim: () => notes.trims++,
  };
  const flusher = new Flusher(
    { cacheBytes: 1000, folders: [tmpdir()], cpuMs: () => clock.cpuMs },
    {
      store,
      coins,
      index: { headers: headers.table, active: { tip: genesis } },
      files: { sync: () => undefined, path: () => '', currentFile: 2, sizeBytes: () => 700 },
      timers: new StepTimers(),
      log,
    } as unknown as ConstructorParameters<typeof Flusher>[1],
    { coinsOnDisk: false, pruned: false, rebuilding: false },
  );
  return { flusher, store, notes, clock, coins };
}

describe('Flusher', () => {
  it('trims the coin cache after a block, and not during one', async () => {
    const { flusher, store, notes } = makeFlusher();
    await store.beforeSpill();
    expect(notes).toMatchObject({ trims: 0, states: [{ coinsOnDisk: true }] });
    await flusher.afterBlock();
    expect(notes.trims).toBe(1);
  });

  it.each([
    ['coins and rows within the limit', 300, { dirtyBytes: 550 }, 0],
    ['coins and rows above the limit', 300, { dirtyBytes: 650 }, 1],
    ['rows that the flush copies to the row caches', 300, { dirtyBytes: 400, recentMaxBytes: 500 }, 1],
    ['row caches that are nearly full', 300, { dirtyBytes: 40, recentBytes: 450, recentMaxBytes: 500 }, 0],
    ['full row caches', 300, { dirtyBytes: 250, recentBytes: 500, recentMaxBytes: 500 }, 1],
    ['memory of the database', 300, { dirtyBytes: 250, databaseMemory: { bytes: 0, maxBytes: 500 } }, 1],
    ['a share for coins and rows beside larger caches', 300, { dirtyBytes: 50, recentBytes: 5000 }, 0],
  ])('flushes by the limit of all caches: %s', async (_, coinBytes, rows, flushes) => {
    const { flusher, notes } = makeFlusher(SILENT_LOGGER, coinBytes, rows);
    await flusher.afterBlock();
    expect(notes.flushes).toBe(flushes);
  });

  it('flushes when the blocks since the last flush took much processor time', async () => {
    const { flusher, notes, clock, coins } = makeFlusher(SILENT_LOGGER, 0);
    const connectBlocks = async (): Promise<number> => {
      for (let i = 0; i < 40; i++) await flusher.afterBlock();
      return notes.flushes;
    };
    coins.dirtyBytes = 2 << 20;
    clock.cpuMs += 11_000;
    expect(await connectBlocks()).toBe(0);
    clock.cpuMs += 2_000;
    expect(await connectBlocks()).toBe(1);
    clock.cpuMs += 11_000;
    expect(await connectBlocks()).toBe(1);
    // Few unflushed data: a kill would lose so little that a flush is not worth its cost.
    coins.dirtyBytes = 1000;
    clock.cpuMs += 11_000;
    expect(await connectBlocks()).toBe(1);
  });

  it('records the read position during an import, and the end of the files otherwise', async () => {
    const { flusher, notes } = makeFlusher();
    flusher.scanFrom = { file: 1, offset: 55 };
    await flusher.flush();
    flusher.scanFrom = null;
    await flusher.flush();
    expect(notes.states).toMatchObject([
      { scannedFile: 1, scannedBytes: 55 },
      { scannedFile: 2, scannedBytes: 700 },
    ]);
  });

  it('logs what it wrote', async () => {
    const lines: string[] = [];
    const { flusher } = makeFlusher({
      ...SILENT_LOGGER,
      willLog: () => true,
      debug: (category, message) =>
        void lines.push(`${category}: ${typeof message === 'string' ? message : message()}`),
    });
    await flusher.flush();
    expect(lines).toEqual([
      'coindb: Committed 1 changed transaction outputs (out of 9, 0.00 MiB) to coin database',
      'leveldb: Level  Files',
      'leveldb:   0  1',
    ]);
  });

  it('reports a flush that failed, after which the database may not be read', async () => {
    const { flusher, notes } = makeFlusher();
    const failures: unknown[] = [];
    flusher.onFailure = (error) => failures.push(error);
    notes.diskFails = true;
    await expect(flusher.flush()).rejects.toThrow('no disk');
    await expect(flusher.settled()).rejects.toThrow('stopping after an error');
    expect(failures).toMatchObject([{ message: 'no disk' }]);
  });
});
