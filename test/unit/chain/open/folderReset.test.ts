/** The deletion of coins, claims and indexes for `-reindex-chainstate`: which rows remain, and every state a kill can leave. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { formatChainState, parseChainState } from '../../../../src/chain/connect/chainState.js';
import {
  beginChainStateReset,
  finishChainStateReset,
  finishReplacing,
  isMarkedAsOurs,
} from '../../../../src/chain/open/folderReset.js';
import { PREFIX } from '../../../../src/store/rows/keys.js';
import { RowStore } from '../../../../src/store/rows/rowStore.js';

let folder: string;
let database: string;
const open = (path: string): Promise<RowStore> => RowStore.open({ path, cacheBytes: 1 << 20 });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnode-reset-'));
  database = join(folder, 'chainstate');
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ROW = Buffer.from('row');
const KEPT = `${PREFIX.headerChunk}1`;
const DROPPED = `${PREFIX.coin}1`;

async function filled(): Promise<RowStore> {
  const store = await open(database);
  const state = {
    tip: '11'.repeat(32),
    headerCount: 1,
    scannedFile: 0,
    scannedBytes: 0,
    coinsOnDisk: true,
    pruned: false,
    resetting: false,
    rebuilding: false,
  };
  store.put(PREFIX.tip, formatChainState(state));
  store.put(KEPT, ROW);
  store.put(DROPPED, ROW);
  await store.flush();
  return store;
}

describe('finishChainStateReset', () => {
  it('keeps headers only, and finds rows that are written afterwards', async () => {
    const store = await filled();
    await beginChainStateReset(store);
    const fresh = await finishChainStateReset(store, database, open);
    const state = parseChainState(await fresh.get(PREFIX.tip));
    expect(state).toMatchObject({ tip: null, resetting: false, rebuilding: true, coinsOnDisk: false });
    expect(await fresh.getMany([KEPT, DROPPED])).toEqual([ROW, undefined]);
    expect(fresh.getRangeNow({ gte: PREFIX.coin, lt: `${PREFIX.coin}\xff` })).toEqual([]);
    fresh.put(DROPPED, ROW);
    await fresh.flush();
    expect(await fresh.getMany([KEPT, DROPPED])).toEqual([ROW, ROW]);
    expect(fresh.getBlocking(DROPPED)).toEqual(ROW);
    await fresh.close();
    expect(readdirSync(folder)).toEqual(['chainstate']);
    expect(isMarkedAsOurs(database)).toBe(true);
  });

  it('copies large rows in parts, and removes what an earlier copy left', async () => {
    const store = await filled();
    const large = Buffer.alloc(1 << 20, 7);
    for (let n = 0; n < 24; n++) store.put(`${PREFIX.headerChunk}large${String(n).padStart(2, '0')}`, large);
    await beginChainStateReset(store);
    writeFileSync(`${database}.reset.journal`, 'of an earlier copy');
    const flushed: number[] = [];
    const noting = async (path: string): Promise<RowStore> => {
      const opened = await open(path);
      const flush = vi.spyOn(opened, 'flush');
      flush.mockImplementation(() => {
        flushed.push(opened.dirtyBytes);
        return RowStore.prototype.flush.call(opened);
      });
      return opened;
    };
    const fresh = await finishChainStateReset(store, database, noting);
    expect(flushed.length).toBeGreaterThan(1);
    expect(Math.max(...flushed)).toBeLessThan(20 << 20);
    expect(await fresh.get(`${PREFIX.headerChunk}large23`)).toEqual(large);
    await fresh.close();
    expect(readdirSync(folder)).toEqual(['chainstate']);
  });

  it('returns the same store if no deletion was requested', async () => {
    const store = await filled();
    expect(await finishChainStateReset(store, database, open)).toBe(store);
    expect(await store.get(DROPPED)).toEqual(ROW);
    await store.close();
  });

  it('keeps the former database if the new one cannot be completed', async () => {
    const store = await filled();
    await beginChainStateReset(store);
    const failing = (): Promise<RowStore> => Promise.reject(new Error('no space'));
    await expect(finishChainStateReset(store, database, failing)).rejects.toThrow('no space');
    await store.close();
    const again = await open(database);
    expect(parseChainState(await again.get(PREFIX.tip)).resetting).toBe(true);
    const fresh = await finishChainStateReset(again, database, open);
    expect(await fresh.getMany([KEPT, DROPPED])).toEqual([ROW, undefined]);
    await fresh.close();
  });
});

describe('finishReplacing', () => {
  const write = (suffix: string): void => {
    mkdirSync(database + suffix);
    writeFileSync(join(database + suffix, 'name'), suffix);
  };

  it.each([
    { there: [], left: undefined },
    { there: [''], left: '' },
    { there: ['', '.reset'], left: '' },
    { there: ['.replaced', '.reset'], left: '.reset' },
    { there: ['.replaced'], left: '.replaced' },
    { there: ['', '.replaced'], left: '' },
  ])('leaves one database of $there', ({ there, left }) => {
    for (const suffix of there) write(suffix);
    finishReplacing(database);
    expect(readdirSync(folder)).toEqual(left === undefined ? [] : ['chainstate']);
    if (left !== undefined) expect(readFileSync(join(database, 'name'), 'utf8')).toBe(left);
    expect(existsSync(`${database}.reset`)).toBe(false);
  });

  it('does not touch copies of the database that the user made', () => {
    for (const suffix of ['.new', '.old', '.bak']) write(suffix);
    finishReplacing(database);
    expect(readdirSync(folder).toSorted()).toEqual(['chainstate.bak', 'chainstate.new', 'chainstate.old']);
  });
});
