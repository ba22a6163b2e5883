import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadNative } from '../../../../src/native/binding.js';
import { RowStore } from '../../../../src/store/rows/rowStore.js';
import type { RowRange, RowReader } from '../../../../src/store/rows/rows.js';
import { SharedRows, type SharedRowsId } from '../../../../src/store/cache/sharedRows.js';
import { Random } from '../../../differential/support.js';

const addonPath = fileURLToPath(new URL('../../../../build/lbcnode.node', import.meta.url));

/** Number of rows that each commit of the stress test writes with its number, and how often the value repeats it. */
const ROWS = 40;
const REPEATED = 200;
const keyOf = (n: number): string => `k${String(n).padStart(3, '0')}`;

/**
 * Reads until the test ends. Single rows must be complete. If the number of changes is equal before and after, all rows must be
 * of the same commit. Counts reads that failed because the database was closed or because of a commit.
 */
const READER = `
  const { workerData, parentPort } = require('node:worker_threads');
  const { RowView } = require(workerData.addonPath);
  const view = new RowView(workerData.rows, workerData.database);
  const keys = workerData.keys;
  const state = new Int32Array(workerData.state);
  const said = { whole: 0, moved: 0, closed: 0, wrong: null };
  const numberIn = (value) => {
    const number = value.readUInt32LE(0);
    for (let at = 0; at < value.length; at += 4) if (value.readUInt32LE(at) !== number) said.wrong ??= 'a torn row';
    return number;
  };
  const valuesOf = (packed) => {
    const values = [];
    for (let at = 0; at < packed.length;) {
      const length = packed.readUInt32LE(at);
      if (length === 0xffffffff) { said.wrong ??= 'a row is missing'; break; }
      values.push(packed.subarray(at + 4, at + 4 + length));
      at += 4 + length;
    }
    return values;
  };
  const rowsOf = (records) => {
    const rows = new Map();
    for (let at = 0; at < records.length;) {
      const [key, value] = [records.readUInt32LE(at), records.readUInt32LE(at + 4)];
      rows.set(records.toString('latin1', at + 8, at + 8 + key), records.subarray(at + 8 + key, at + 8 + key + value));
      at += 8 + key + value;
    }
    return rows;
  };
  const look = (values, count, before) => {
    const numbers = new Set(values.map(numberIn));
    if (values.length !== count) said.wrong ??= 'rows are missing';
    if (view.changes !== before) said.moved++;
    else if (numbers.size === 1) said.whole++;
    else said.wrong ??= 'rows of several commits';
  };
  parentPort.postMessage('ready');
  while (Atomics.load(state, 0) === 0) {
    try {
      const before = view.changes;
      look(valuesOf(view.getMany(keys)), keys.length, before);
      const begun = view.changes;
      const answer = view.range('k', 'l', false, 1000);
      const end = 4 + answer.readUInt32LE(0);
      const rows = new Map([...rowsOf(answer.subarray(end + 1)), ...rowsOf(answer.subarray(4, end))]);
      look([...rows.values()], keys.length, begun);
    } catch (error) {
      if (error.code !== 'LEVEL_DATABASE_NOT_OPEN') said.wrong ??= String(error);
      said.closed++;
    }
    Atomics.add(state, 1, 1);
  }
  parentPort.postMessage(said);
`;

describe.skipIf(!loadNative())('rows that another thread reads', () => {
  let folder: string;
  let store: RowStore;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'shared-'));
    store = await RowStore.open({ path: join(folder, 'db'), cacheBytes: 1 << 20 });
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  const share = (): SharedRowsId => store.share()!;
  const commit = (change: (rows: ReturnType<RowStore['begin']>) => void): void => {
    const rows = store.begin();
    change(rows);
    store.commit(rows);
  };

  async function rowsOf(reader: RowReader, range: RowRange): Promise<string[]> {
    const rows: string[] = [];
    for await (const [key, value] of reader.range(range))
      rows.push(`${key}=${Buffer.from(value).toString('hex')}`);
    return rows;
  }

  it('equal those of the store in every layer', async () => {
    const random = new Random(12);
    const shared = new SharedRows(share());
    const drawn = (): string => random.pick(['a', 'b']) + String(random.below(40)).padStart(2, '0');
    for (let round = 0; round < 80; round++) {
      const before = shared.commits;
      commit((rows) => {
        for (let n = random.below(30); n >= 0; n--) {
          if (random.chance(3)) rows.del(drawn());
          else rows.put(drawn(), random.bytes(random.below(2) === 0 ? 3 : 700));
        }
      });
      expect(shared.commits).toBeGreaterThan(before);
      expect(shared.commits).toBe(store.commits);
      if (random.chance(4)) store.put(drawn(), random.bytes(5));
      if (random.chance(5)) await store.flush();
      if (random.chance(12)) await store.reopen();
      const keys = Array.from({ length: random.below(20) }, drawn);
      expect(await shared.getMany(keys)).toEqual(await store.getMany(keys));
      const key = drawn();
      expect(await shared.get(key)).toEqual(await store.get(key));
      const limit = random.below(10);
      const range = {
        gte: drawn(),
        lt: drawn(),
        reverse: random.chance(2),
        ...(limit > 0 && { limit }),
      };
      expect(await rowsOf(shared, range)).toEqual(await rowsOf(store, range));
      expect(await shared.getRange(range)).toEqual(await store.getRange(range));
    }
  });

  it('are in order over more rows than one read returns', async () => {
    commit((rows) => {
      for (let n = 0; n < 700; n++) rows.put(keyOf(n), Buffer.of(n & 255));
    });
    await store.flush();
    commit((rows) => {
      for (let n = 0; n < 700; n += 3) rows.del(keyOf(n));
    });
    const shared = new SharedRows(share());
    for (const reverse of [false, true])
      for (const limit of [undefined, 300]) {
        const range = { gte: 'k', lt: 'l', reverse, ...(limit && { limit }) };
        expect(await rowsOf(shared, range)).toEqual(await rowsOf(store, range));
      }
  });

  it('are refused if the store is missing or closed', async () => {
    const id = share();
    const shared = new SharedRows(id);
    expect(() => new SharedRows({ ...id, rows: id.database })).toThrow('not shared any more');
    expect(() => new SharedRows({ ...id, database: 0 })).toThrow('not shared any more');
    await store.flush();
    await store.close();
    await expect(shared.get('nothing')).rejects.toThrow('not open');
    await expect(shared.getRange({ gte: 'a', lt: 'b' })).rejects.toThrow('not open');
    store = await RowStore.open({ path: join(folder, 'db'), cacheBytes: 1 << 20 });
    await expect(shared.get('nothing')).rejects.toThrow('not open');
  });

  it('report the name of the corrupt file, by key and by range', async () => {
    const random = new Random(3);
    commit((rows) => {
      for (let n = 0; n < 300; n++) rows.put(keyOf(n), random.bytes(200));
    });
    await store.flush();
    await store.compact();
    await store.close();
    const path = join(folder, 'db');
    const [table] = readdirSync(path).filter((name) => name.endsWith('.ldb'));
    const file = join(path, table!);
    const content = readFileSync(file);
    content[5000]! ^= 1;
    writeFileSync(file, content);
    store = await RowStore.open({ path, cacheBytes: 1 << 20 });
    commit((rows) => rows.put(keyOf(999), Buffer.alloc(1)));
    const shared = new SharedRows(share());
    const reported = {
      name: 'DatabaseCorruptionError',
      message: expect.stringMatching(`${path}.*${table!}.*-reindex`),
    };
    const keys = Array.from({ length: 300 }, (_, n) => keyOf(n));
    await expect(shared.getMany(keys)).rejects.toMatchObject(reported);
    await expect(shared.getRange({ gte: 'k', lt: 'l' })).rejects.toMatchObject(reported);
    await expect(rowsOf(shared, { gte: 'k', lt: 'l', reverse: true })).rejects.toMatchObject(reported);
    expect(await shared.get(keyOf(999))).toEqual(Buffer.alloc(1));
  });

  /** Starts a reader. `turns` returns its number of reads. */
  async function startReader() {
    const state = new Int32Array(new SharedArrayBuffer(8));
    const keys = Array.from({ length: ROWS }, (_, n) => keyOf(n));
    const workerData = { ...share(), addonPath, keys, state: state.buffer };
    const worker = new Worker(READER, { eval: true, workerData });
    await once(worker, 'message');
    return {
      worker,
      turns: () => Atomics.load(state, 1),
      async end(): Promise<{ whole: number; moved: number; closed: number; wrong: string | null }> {
        Atomics.store(state, 0, 1);
        // A thread's last message may arrive in the same turn as its end.
        const ended = once(worker, 'exit');
        const [said] = (await once(worker, 'message')) as [never];
        await ended;
        return said;
      },
    };
  }

  const writeAll = (number: number): void =>
    commit((rows) => {
      const value = Buffer.alloc(4 * REPEATED * (1 + (number % 3)));
      for (let at = 0; at < value.length; at += 4) value.writeUInt32LE(number, at);
      for (let n = 0; n < ROWS; n++) rows.put(keyOf(n), value);
    });

  it('are never torn, and come from one commit if none happened in between', async () => {
    writeAll(0);
    const readers = [await startReader(), await startReader()];
    const leastTurns = (): number => Math.min(...readers.map(({ turns }) => turns()));
    // Some commits follow immediately. Before others, the readers have time to read.
    for (let number = 1; number <= 400; number++) {
      writeAll(number);
      if (number % 7 === 0) await store.flush();
      if (number % 90 === 0) await store.reopen();
      const before = leastTurns();
      while (number % 10 === 0 && leastTurns() < before + 2) await turn();
    }
    for (const reader of readers) {
      const said = await reader.end();
      expect(said.wrong).toBeNull();
      expect(said.whole).toBeGreaterThan(40);
    }
  });

  it('survive the end of readers during a read, and are closed safely', async () => {
    writeAll(1);
    await store.flush();
    for (let round = 0; round < 3; round++) {
      const { worker, turns } = await startReader();
      while (turns() < 5) await turn();
      writeAll(round + 2);
      await worker.terminate();
      writeAll(round + 3);
      await store.flush();
    }
    const reader = await startReader();
    while (reader.turns() < 5) await turn();
    await store.close();
    const before = reader.turns();
    while (reader.turns() < before + 2) await turn();
    const { wrong, closed } = await reader.end();
    expect(wrong).toBeNull();
    expect(closed).toBeGreaterThan(0);
    store = await RowStore.open({ path: join(folder, 'db'), cacheBytes: 1 << 20 });
  });
});
