/** Filters and orders of files, one by one. */
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/daemon/base/clock.js';
import type { FileRow, StoredClaim } from '../../../../src/daemon/content/rows.js';
import {
  filterFiles,
  needsFinished,
  needsReflected,
  sortFiles,
  type FileFilter,
  type FilterFacts,
} from '../../../../src/daemon/files/fileFilters.js';
import { ManagedFile } from '../../../../src/daemon/files/managedFile.js';

const hash = (n: number, length = 96): string => n.toString(16).repeat(length).slice(0, length);

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

function file(n: number, more: Partial<FileRow> = {}, writtenBytes: number | null = null): ManagedFile {
  const row: FileRow = {
    rowid: n,
    streamHash: hash(n + 8),
    sdHash: hash(n),
    key: hash(n, 32),
    streamName: `stream ${n}`,
    suggestedFileName: `suggested ${n}`,
    fileName: null,
    directory: null,
    status: 'stopped',
    isSaved: false,
    contentFee: null,
    addedOn: 1000 + n,
    blobsInStream: n,
    dataBytes: 1000 * n,
    claim: claim(n),
    channelName: null,
    ...more,
  };
  const made = new ManagedFile(row, { clock: systemClock } as never, {} as never);
  made.writtenBytes = writtenBytes;
  return made;
}

const one = file(1, { fileName: 'one.mp4', directory: '/films', status: 'finished', isSaved: true }, 999);
const two = file(2, {
  status: 'running',
  channelName: '@me',
  claim: claim(2, { channelClaimId: hash(10, 40) }),
});
const three = file(3, { claim: null, addedOn: 1001 });
const all = [one, two, three];

const facts: FilterFacts = {
  finished: new Map([
    [one.row.streamHash, 1],
    [two.row.streamHash, 1],
  ]),
  isReflected: (of) => of === one,
  isReflecting: (of) => of === two,
};
const found = (filter: FileFilter, comparison?: string): number[] =>
  filterFiles(all, filter, facts, comparison).map(({ row }) => row.rowid);

describe('a filter', () => {
  it.each<[FileFilter, number[]]>([
    [{}, [1, 2, 3]],
    [{ rowid: 2 }, [2]],
    [{ status: 'running' }, [2]],
    [{ file_name: 'one.mp4' }, [1]],
    [{ file_name: 'suggested 1' }, []],
    [{ file_name: 'suggested 3' }, [3]],
    [{ added_on: 1001 }, [1, 3]],
    [{ download_path: '/films/one.mp4' }, [1]],
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
    [{ channel_name: '@me' }, [2]],
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
    [{ uploading_to_reflector: true }, [2]],
    // It is taken for the sake of older clients.
    [{ full_status: true }, [1, 2, 3]],
    [{ rowid: undefined }, [1, 2, 3]],
  ])('by one field: %j', (filter, rowids) => {
    expect(found(filter)).toEqual(rowids);
    expect(found(filter, 'eq')).toEqual(rowids);
    // An empty text is none, as in lbry-sdk.
    expect(found(filter, '')).toEqual(rowids);
  });

  it('by several fields finds what fits all of them', () => {
    expect(found({ added_on: 1001, completed: true })).toEqual([1]);
    expect(found({ claim_id: [hash(1, 40), hash(2, 40)], status: 'running' })).toEqual([2]);
  });

  it.each<[string, FileFilter, number[]]>([
    ['ne', { rowid: 2 }, [1, 3]],
    ['ne', { claim_name: 'name1' }, [2, 3]],
    ['ne', { claim_name: null }, [1, 2]],
    ['g', { rowid: 2 }, [3]],
    ['ge', { rowid: 2 }, [2, 3]],
    ['l', { rowid: 2 }, [1]],
    ['le', { rowid: 2 }, [1, 2]],
    ['g', { claim_name: 'name1' }, [2]],
    ['le', { stream_name: 'stream 2' }, [1, 2]],
    ['ge', { completed: true }, [1]],
    ['le', { completed: false }, [2, 3]],
    ['g', { blobs_in_stream: 1 }, [2, 3]],
    ['ge', { claim_height: 100 }, [1, 2]],
    // All fields are compared in the same way.
    ['g', { rowid: 1, blobs_in_stream: 2 }, [3]],
    // A single value is compared, a list is always a choice.
    ['ne', { claim_id: hash(1, 40) }, [2, 3]],
    ['ne', { claim_id: [hash(1, 40), hash(2, 40)] }, [1, 2]],
    // What has no value, or one of another type, is neither greater nor less.
    ['ge', { nout: 0 }, [1, 2]],
    ['l', { nout: null }, []],
    ['g', { rowid: 'x' }, []],
  ])('compares by %s: %j', (comparison, filter, rowids) => {
    expect(found(filter, comparison)).toEqual(rowids);
  });

  it('is refused for a field or comparison that there is not', () => {
    for (const name of ['size', 'constructor', 'toString', '__proto__'])
      expect(() => found(JSON.parse(`{${JSON.stringify(name)}: 1}`) as FileFilter)).toThrow(
        `'${name}' is not a valid search operation`,
      );
    for (const name of ['in', 'like', 'EQ', 'valueOf'])
      expect(() => found({}, name)).toThrow(`'${name}' is not a valid comparison`);
    expect(() => sortFiles(all, facts, 'hasOwnProperty')).toThrow('is not a valid field to sort by');
  });

  it('takes no list for fields that have one value only', () => {
    expect(found({ claim_name: ['name1', 'name2'] })).toEqual([]);
  });
});

describe('an order', () => {
  const order = (sort?: string, isReversed = false): number[] =>
    sortFiles([two, three, one], facts, sort, isReversed).map(({ row }) => row.rowid);

  it.each<[string, number[]]>([
    ['rowid', [1, 2, 3]],
    ['status', [1, 2, 3]],
    ['file_name', [1, 2, 3]],
    // Those that are equal stay as they were.
    ['added_on', [3, 1, 2]],
    ['download_path', [2, 3, 1]],
    ['claim_name', [3, 1, 2]],
    ['claim_height', [3, 1, 2]],
    ['claim_id', [3, 1, 2]],
    ['outpoint', [3, 1, 2]],
    ['txid', [3, 1, 2]],
    ['nout', [3, 1, 2]],
    ['channel_claim_id', [3, 1, 2]],
    ['channel_name', [3, 1, 2]],
    ['completed', [2, 3, 1]],
    ['sd_hash', [1, 2, 3]],
    ['stream_hash', [1, 2, 3]],
    ['blobs_in_stream', [1, 2, 3]],
    ['blobs_remaining', [1, 2, 3]],
    ['blobs_completed', [3, 2, 1]],
    ['is_fully_reflected', [2, 3, 1]],
    ['uploading_to_reflector', [3, 1, 2]],
    ['full_status', [2, 3, 1]],
  ])('by %s', (sort, rowids) => {
    expect(order(sort)).toEqual(rowids);
    expect(order(sort, true)).toEqual(rowids.toReversed());
  });

  it('is that of the numbers where none is named', () => {
    expect([order(), order(''), order(undefined, true)]).toEqual([
      [1, 2, 3],
      [1, 2, 3],
      [3, 2, 1],
    ]);
  });

  it('leaves the given list alone', () => {
    const given = [two, one];
    sortFiles(given, facts, 'rowid', true);
    expect(given).toEqual([two, one]);
  });
});

it('asks for facts only where a field needs them', () => {
  expect(needsFinished({ blobs_remaining: 0 }, undefined)).toBe(true);
  expect(needsFinished({}, 'blobs_completed')).toBe(true);
  expect(needsFinished({ rowid: 1 }, 'rowid')).toBe(false);
  expect(needsReflected({ is_fully_reflected: true }, undefined)).toBe(true);
  expect(needsReflected({}, 'is_fully_reflected')).toBe(true);
  expect(needsReflected({ rowid: 1 }, 'rowid')).toBe(false);
});
