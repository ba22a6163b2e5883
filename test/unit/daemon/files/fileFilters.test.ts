/** Each filter and sort order of files on a database. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ContentStore } from '../../../../src/daemon/content/contentStore.js';
import type { StoredClaim } from '../../../../src/daemon/content/rows.js';
import { searchOf, type FileFilter } from '../../../../src/daemon/files/fileFilters.js';
import { loadSqlite } from '../../../../src/sqlite/sqliteProvider.js';

const hash = (n: number, length = 96): string => n.toString(16).repeat(length).slice(0, length);

const folder = mkdtempSync(join(tmpdir(), 'lbcnet-filters-'));
const films = join(folder, 'films');
mkdirSync(films);
const store = new ContentStore(await loadSqlite(), { dataDir: folder, nowSec: 1 });
afterAll(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

const claim = (n: number, more: Partial<StoredClaim> = {}): StoredClaim => ({
  outpoint: `${hash(n, 64)}:${n}`,
  claimId: hash(n, 40),
  name: `name${n}`,
  amountDewies: 1n,
  height: 100 * n,
  value: '',
  channelClaimId: null,
  address: '',
  ...more,
});

interface More {
  readonly fileName?: string;
  readonly status?: 'running' | 'finished';
  readonly addedOn?: number;
}

/** The file with the number `n`, whose stream has `n` blobs of 1,000 bytes. */
function addFile(n: number, { fileName, status, addedOn = 1000 + n }: More = {}): void {
  const blobs = Array.from({ length: n }, (_, at) => ({
    blobHash: `${n}${at}${hash(12, 94)}`,
    blobNum: at,
    iv: hash(n, 32),
    length: 1000,
  }));
  const end = { blobHash: null, blobNum: n, iv: hash(n, 32), length: 0 };
  const names = { streamName: `stream ${n}`, suggestedFileName: `suggested ${n}` };
  const descriptor = { ...names, key: hash(n, 32), streamHash: hash(n + 8), blobs: [...blobs, end] };
  store.addStream({ descriptor, sdHash: hash(n), sdLengthBytes: 10, addedOn: 1, isMine: false });
  store.addFile({
    streamHash: hash(n + 8),
    place: fileName === undefined ? null : { fileName, directory: films },
    status: status ?? 'stopped',
    isSaved: fileName !== undefined,
    contentFee: null,
    addedOn,
  });
  // The first blob is here.
  if (n < 3)
    store.addBlobs([{ hash: blobs[0]!.blobHash, lengthBytes: 1000, addedOn: 1, isMine: false }], true);
}

addFile(1, { fileName: 'one.mp4', status: 'finished' });
addFile(2, { status: 'running' });
addFile(3, { addedOn: 1001 });
writeFileSync(join(films, 'one.mp4'), Buffer.alloc(999));
const channel = (n: number, name: string) =>
  claim(n, { outpoint: `${hash(n, 64)}:0`, claimId: hash(10, 40), name });
store.saveClaims([
  claim(1),
  claim(2, { channelClaimId: hash(10, 40) }),
  channel(10, '@before'),
  channel(11, '@me'),
]);
store.tieClaim(hash(9), claim(1).outpoint);
store.tieClaim(hash(10), claim(2).outpoint);
store.noteReflected(hash(1), 'reflector', 1);
store.pin('stream', hash(11), 1);
store.pin('channel', hash(10, 40), 1);

const uploading = [hash(2)];
const all = { offset: 0, limit: 100 };
function found(filter: FileFilter, comparison?: string): number[] {
  const search = { ...searchOf({ filter, comparison }), uploading };
  const { files, total } = store.searchFiles(search, all);
  expect(total).toBe(files.length);
  expect(store.searchStreams(search)).toEqual(files.map(({ streamHash }) => streamHash));
  return files.map(({ rowid }) => rowid);
}

describe('a filter', () => {
  it.each<[FileFilter, number[]]>([
    [{}, [1, 2, 3]],
    [{ rowid: 2 }, [2]],
    [{ status: 'running' }, [2]],
    [{ file_name: 'one.mp4' }, [1]],
    [{ file_name: 'suggested 1' }, []],
    [{ file_name: 'suggested 3' }, [3]],
    [{ added_on: 1001 }, [1, 3]],
    [{ download_path: join(films, 'one.mp4') }, [1]],
    [{ download_path: null }, [2, 3]],
    [{ claim_name: 'name1' }, [1]],
    [{ claim_height: 200 }, [2]],
    [{ claim_id: hash(2, 40) }, [2]],
    [{ claim_id: [hash(2, 40)] }, [2]],
    [{ claim_id: [hash(1, 40), hash(2, 40), hash(7, 40)] }, [1, 2]],
    [{ outpoint: `${hash(1, 64)}:1` }, [1]],
    [{ outpoint: [`${hash(1, 64)}:1`, `${hash(2, 64)}:2`] }, [1, 2]],
    [{ txid: hash(2, 64) }, [2]],
    [{ nout: 1 }, [1]],
    [{ nout: null }, [3]],
    [{ channel_claim_id: hash(10, 40) }, [2]],
    [{ channel_claim_id: [hash(10, 40), hash(11, 40)] }, [2]],
    [{ channel_claim_id: null }, [1, 3]],
    // The name of the channel's latest known claim.
    [{ channel_name: '@me' }, [2]],
    [{ channel_name: '@before' }, []],
    [{ channel_name: null }, [1, 3]],
    [{ completed: true }, [1]],
    [{ completed: false }, [2, 3]],
    [{ sd_hash: hash(3) }, [3]],
    [{ stream_hash: hash(9) }, [1]],
    [{ stream_name: 'stream 2' }, [2]],
    [{ blobs_in_stream: 3 }, [3]],
    [{ blobs_completed: 1 }, [1, 2]],
    [{ blobs_remaining: 0 }, [1]],
    [{ blobs_remaining: 3 }, [3]],
    [{ is_fully_reflected: true }, [1]],
    [{ is_fully_reflected: false }, [2, 3]],
    [{ is_pinned: true }, [2, 3]],
    [{ is_pinned: false }, [1]],
    [{ uploading_to_reflector: true }, [2]],
    [{ uploading_to_reflector: false }, [1, 3]],
    // Older clients pass this parameter, so it is accepted and ignored.
    [{ full_status: true }, [1, 2, 3]],
    [{ rowid: undefined }, [1, 2, 3]],
    // A value of another type matches no file.
    [{ rowid: '2' }, []],
    [{ completed: 1 }, []],
    [{ claim_name: 1 }, []],
    [{ claim_name: "' or 1 --" }, []],
  ])('by one field: %j', (filter, rowids) => {
    expect(found(filter)).toEqual(rowids);
    expect(found(filter, 'eq')).toEqual(rowids);
    // An empty text counts as not given, as in lbry-sdk.
    expect(found(filter, '')).toEqual(rowids);
  });

  it('by several fields finds files that match all of them', () => {
    expect(found({ added_on: 1001, completed: true })).toEqual([1]);
    expect(found({ claim_id: [hash(1, 40), hash(2, 40)], status: 'running' })).toEqual([2]);
    expect(found({ is_pinned: true, uploading_to_reflector: true, claim_height: 200 })).toEqual([2]);
  });

  it.each<[string, FileFilter, number[]]>([
    ['ne', { rowid: 2 }, [1, 3]],
    ['ne', { claim_name: 'name1' }, [2, 3]],
    ['ne', { claim_name: null }, [1, 2]],
    ['ne', { rowid: 'x' }, [1, 2, 3]],
    ['g', { rowid: 2 }, [3]],
    ['ge', { rowid: 2 }, [2, 3]],
    ['l', { rowid: 2 }, [1]],
    ['le', { rowid: 2 }, [1, 2]],
    ['g', { claim_name: 'name1' }, [2]],
    ['le', { stream_name: 'stream 2' }, [1, 2]],
    ['ge', { completed: true }, [1]],
    ['le', { completed: false }, [2, 3]],
    ['g', { uploading_to_reflector: false }, [2]],
    ['g', { blobs_in_stream: 1 }, [2, 3]],
    ['ge', { claim_height: 100 }, [1, 2]],
    // All fields are compared in the same way.
    ['g', { rowid: 1, blobs_in_stream: 2 }, [3]],
    // With a single value, the comparison applies. A list always selects equal values.
    ['ne', { claim_id: hash(1, 40) }, [2, 3]],
    ['ne', { claim_id: [hash(1, 40), hash(2, 40)] }, [1, 2]],
    // A missing value, or one of another type, is neither greater nor less.
    ['ge', { nout: 0 }, [1, 2]],
    ['l', { nout: null }, []],
    ['g', { rowid: 'x' }, []],
  ])('compares by %s: %j', (comparison, filter, rowids) => {
    expect(found(filter, comparison)).toEqual(rowids);
  });

  it('is refused for a field or comparison that does not exist', () => {
    for (const name of ['size', 'constructor', 'toString', '__proto__'])
      expect(() => found(JSON.parse(`{${JSON.stringify(name)}: 1}`) as FileFilter)).toThrow(
        `'${name}' is not a valid search operation`,
      );
    for (const name of ['in', 'like', 'EQ', 'valueOf'])
      expect(() => found({}, name)).toThrow(`'${name}' is not a valid comparison`);
    expect(() => searchOf({ filter: {}, sort: 'hasOwnProperty' })).toThrow('is not a valid field to sort by');
  });

  it('accepts no list for fields with a single value', () => {
    expect(found({ claim_name: ['name1', 'name2'] })).toEqual([]);
  });
});

describe('an order', () => {
  const order = (sort?: string, isReversed = false): number[] =>
    store
      .searchFiles({ ...searchOf({ filter: {}, sort, isReversed }), uploading }, all)
      .files.map(({ rowid }) => rowid);

  it.each<[string, number[]]>([
    ['rowid', [1, 2, 3]],
    ['status', [1, 2, 3]],
    ['file_name', [1, 2, 3]],
    // Files with equal values are sorted by their numbers.
    ['added_on', [1, 3, 2]],
    ['download_path', [2, 3, 1]],
    ['claim_name', [3, 1, 2]],
    ['claim_height', [3, 1, 2]],
    ['claim_id', [3, 1, 2]],
    ['outpoint', [3, 1, 2]],
    ['txid', [3, 1, 2]],
    ['nout', [3, 1, 2]],
    ['channel_claim_id', [1, 3, 2]],
    ['channel_name', [1, 3, 2]],
    ['completed', [2, 3, 1]],
    ['sd_hash', [1, 2, 3]],
    ['stream_hash', [1, 2, 3]],
    ['stream_name', [1, 2, 3]],
    ['blobs_in_stream', [1, 2, 3]],
    ['blobs_remaining', [1, 2, 3]],
    ['blobs_completed', [3, 1, 2]],
    ['is_fully_reflected', [2, 3, 1]],
    ['is_pinned', [1, 2, 3]],
    ['uploading_to_reflector', [1, 3, 2]],
    ['full_status', [1, 2, 3]],
  ])('by %s', (sort, rowids) => {
    expect(order(sort)).toEqual(rowids);
    expect(order(sort, true)).toEqual(rowids.toReversed());
  });

  it('is that of the row numbers by default', () => {
    expect([order(), order(''), order(undefined, true)]).toEqual([
      [1, 2, 3],
      [1, 2, 3],
      [3, 2, 1],
    ]);
  });
});

describe('a part of the files', () => {
  const part = (filter: FileFilter, offset: number, limit: number) => {
    const { files, total } = store.searchFiles({ ...searchOf({ filter }), uploading }, { offset, limit });
    return [files.map(({ rowid }) => rowid), total];
  };

  it('has the number of all matching files', () => {
    expect(part({}, 0, 2)).toEqual([[1, 2], 3]);
    expect(part({}, 2, 2)).toEqual([[3], 3]);
    expect(part({}, 9, 2)).toEqual([[], 3]);
    expect(part({ is_pinned: true }, 0, 1)).toEqual([[2], 2]);
    expect(part({ is_pinned: true }, 1, 1)).toEqual([[3], 2]);
    expect(part({ is_pinned: true }, 5, 1)).toEqual([[], 2]);
  });
});
