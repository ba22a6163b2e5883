/** The redo journal returns what was written to it, either completely or not at all. */
import { mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FlushJournal } from '../../../../src/store/leveldb/flushJournal.js';
import { changesOf, RecordWriter, type RowChange } from '../../../../src/store/rows/rowRecords.js';

describe('flush journal', () => {
  let folder: string;
  let path: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'journal-'));
    path = join(folder, 'journal');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const changes: RowChange[] = Array.from({ length: 500 }, (_, i) => [
    i % 2 === 0 ? `key\xff\0${i}` : Buffer.from(`key\xff\0${i}`, 'latin1'),
    i % 7 === 0 ? null : Buffer.alloc(i % 11 === 0 ? 0 : i, i),
  ]);
  const plain = (rows: Iterable<RowChange>): [string, string | null][] =>
    [...rows].map(([key, value]) => [
      typeof key === 'string' ? key : key.toString('latin1'),
      value && Buffer.from(value).toString('latin1'),
    ]);

  async function write(withStage = false, pieceBytes = 4096): Promise<FlushJournal> {
    const journal = new FlushJournal(path);
    await journal.begin(withStage, pieceBytes);
    await journal.append(changes.slice(0, 200));
    await journal.append(changes.slice(200));
    await journal.commit();
    return journal;
  }

  async function read(journal: FlushJournal): Promise<{ rows: [string, string | null][]; pieces: number }> {
    const rows: [string, string | null][] = [];
    let pieces = 0;
    for await (const piece of journal.read()) {
      rows.push(...plain(changesOf(piece)));
      pieces++;
    }
    return { rows, pieces };
  }

  it('reads appended data in pieces of the requested size', async () => {
    const journal = await write();
    const { rows, pieces } = await read(journal);
    expect(rows).toEqual(plain(changes));
    const bytes = changes.reduce((sum, [key, value]) => sum + 8 + key.length + (value?.length ?? 0), 0);
    expect(pieces).toBeLessThanOrEqual(Math.ceil(bytes / 4096));
    expect(pieces).toBeGreaterThan(bytes / 4096 / 1.2);
    expect(await journal.isCommitted()).toBe(true);
    expect(await journal.includesStage()).toBe(false);
    expect(await (await write(true)).includesStage()).toBe(true);
    expect((await read(new FlushJournal(path))).rows).toEqual(plain(changes));
  });

  it('keeps the order of changes and records', async () => {
    const journal = new FlushJournal(path);
    await journal.begin(false, 4096);
    await journal.append(changes.slice(0, 100));
    const records = new RecordWriter();
    for (const [key, value] of changes.slice(100, 300)) records.add(key, value);
    await journal.appendRecords(records.take());
    await journal.append(changes.slice(300));
    await journal.commit();
    expect((await read(journal)).rows).toEqual(plain(changes));
  });

  it('is ignored if its end is missing or a byte is wrong', async () => {
    const journal = await write();
    const whole = readFileSync(path);
    for (const length of [0, 5, 12, 2000, whole.length - 14, whole.length - 1]) {
      writeFileSync(path, whole);
      truncateSync(path, length);
      expect(await journal.isCommitted()).toBe(false);
      await expect(read(journal)).rejects.toThrow('cannot be read');
    }
    for (const at of [0, 3, 100, whole.length - 1]) {
      const wrong = Buffer.from(whole);
      wrong[at]! ^= 1;
      writeFileSync(path, wrong);
      expect(await journal.isCommitted()).toBe(false);
    }
    await journal.remove();
    expect(await journal.isCommitted()).toBe(false);
  });
});
