import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { regtestParams } from '../../../../src/params/regtest.js';
import { addressPrefixesOf } from '../../../../src/script/address.js';
import { packWords } from '../../../../src/search/document/analyze.js';
import { parseConstraints } from '../../../../src/search/query/constraints.js';
import type { ClaimDocument } from '../../../../src/search/document/document.js';
import { SqliteIndexWriter } from '../../../../src/search/sqlite/sqliteIndexWriter.js';
import { SqliteReader } from '../../../../src/search/sqlite/sqliteReader.js';
import { removeIndexFile, SqliteWriter } from '../../../../src/search/sqlite/sqliteWriter.js';
import { loadSqlite } from '../../../../src/sqlite/sqliteProvider.js';
import { EnvironmentError } from '../../../../src/util/text/environmentError.js';
import { modelDocuments, Random, randomClaims } from '../../../support/claimSearchModel.js';

const provider = await loadSqlite();
const BASE = { height: 200, hash: 'aa' };
const documents = modelDocuments(randomClaims(new Random(1), 60)).toSorted((a, b) =>
  a.claimId < b.claimId ? -1 : 1,
);
const [first, second] = documents as [ClaimDocument, ClaimDocument];

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnode-search-'));
  path = join(folder, 'search.sqlite');
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (): SqliteWriter => SqliteWriter.open(provider, path, 'chain');

/** An index in which the first two claims have trending scores. */
function build(): SqliteWriter {
  const writer = open();
  writer.startBuild(BASE);
  writer.addDocuments(documents, [], documents.at(-1)!.claimId);
  writer.endDocuments();
  const scores = [first, second].map(({ claimId }, n) => ({
    claimId,
    formerSat: 0n,
    latterSat: BigInt(n + 1) * 100_000_000n,
  }));
  writer.addScores([{ height: 200, scores }]);
  writer.endBuild();
  return writer;
}

function trending(): Map<string, number | null> {
  const database = provider.open(path);
  try {
    const rows = database
      .prepare('SELECT lower(hex(claim_id)) AS id, trending_score AS score FROM claim')
      .all();
    return new Map(rows.map(({ id, score }) => [id as string, score as number | null]));
  } finally {
    database.close();
  }
}

describe('scores', () => {
  it('follow their claims when the rows of these are swapped', () => {
    const writer = build();
    const before = trending();
    expect(before.get(first.claimId)).not.toBeNull();
    const swapped = [
      { ...first, id: second.id },
      { ...second, id: first.id },
    ];
    writer.refresh([], { documents: swapped, hidden: [], gone: [] });
    expect(trending()).toEqual(before);
    // The same with two refreshes, in either order.
    writer.refresh([], { documents: [first], hidden: [], gone: [] });
    expect(trending().has(second.claimId)).toBe(false);
    writer.refresh([], { documents: [second], hidden: [], gone: [] });
    expect(trending()).toEqual(before);
    writer.close();
  });
});

describe('a file', () => {
  /** Changes the file. Returns the number of documents and the corruption that are then found. */
  function found(change: () => void): { documents: number; corruption: string | null } {
    removeIndexFile(path);
    build().close();
    change();
    const writer = open();
    const { corruption } = writer;
    const { documents: count } = writer.state();
    writer.close();
    return { documents: count, corruption };
  }
  const rebuilt = (corruption: string) => ({ documents: 0, corruption });

  it('that is valid is kept', () => {
    expect(found(() => undefined)).toEqual({ documents: documents.length, corruption: null });
  });

  it('that is truncated, overwritten or empty is deleted', () => {
    const lost = (page: number) => rebuilt(`its page ${page} does not match its checksum`);
    expect(found(() => truncateSync(path, 10_000))).toEqual(lost(2));
    expect(found(() => writeFileSync(path, Buffer.alloc(50_000, 'garbage')))).toEqual(lost(1));
    expect(found(() => truncateSync(path, 0))).toEqual(lost(1));
  });

  it('without checksums, or with corrupt ones, is deleted', () => {
    expect(found(() => rmSync(`${path}-sums`))).toEqual(rebuilt('it has no checksums'));
    expect(found(() => truncateSync(`${path}-sums`, 4100))).toEqual(rebuilt('its checksums are corrupt'));
    expect(found(() => truncateSync(`${path}-sums`, 0))).toEqual(rebuilt('its checksums are corrupt'));
    expect(found(() => writeFileSync(`${path}-sums`, 'nonsense'))).toEqual(
      rebuilt('its checksums are corrupt'),
    );
  });

  it('that is missing is created', () => {
    expect(found(() => rmSync(path))).toEqual({ documents: 0, corruption: null });
    expect(found(() => removeIndexFile(path))).toEqual({ documents: 0, corruption: null });
  });

  it('of another chain is rebuilt', () => {
    build().close();
    const writer = SqliteWriter.open(provider, path, 'other');
    expect([writer.corruption, writer.state().documents]).toEqual([null, 0]);
    writer.close();
  });

  it('is not checked to its end during a close', () => {
    build().close();
    const closing = new Int32Array(new SharedArrayBuffer(4));
    closing[0] = 1;
    expect(() => SqliteWriter.open(provider, path, 'chain', closing)).toThrow('The search index is closed');
    expect(found(() => undefined)).toEqual({ documents: documents.length, corruption: null });
  });
});

describe('constraints', () => {
  it('with more values than a statement may have are refused with a message', () => {
    build().close();
    const reader = new SqliteReader(provider, path, { blocking: [], filtering: [] });
    const texts = Array.from({ length: 2048 }, (_, n) => String(n));
    const many = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, texts]));
    const few = ['height', 'amount', 'tx_num', 'nout', 'title', 'author', 'description', 'media_types'];
    // Each value occurs once in the statement. Twice would exceed SQLite's maximum number of values.
    const query = parseConstraints({ ...many(few), release_time: '<100', order_by: 'release_time' });
    expect(reader.search(query, 60_000).rows).toEqual([]);
    const more = ['timestamp', 'duration', 'effective_amount', 'support_amount', 'creation_height', 'name'];
    const rest = ['activation_height', 'expiration_height', 'fee_amount', 'tx_position', 'public_key_id'];
    const all = parseConstraints({ ...many([...few, ...more, ...rest]), release_time: '<100' });
    expect(() => reader.search(all, 60_000)).toThrow('The constraints have too many values.');
    reader.close();
  });
});

describe('a word prefix', () => {
  it('finds the same with few matching words and with very many', () => {
    const words = Array.from({ length: 1500 }, (_, n) => `zq${n.toString(36)}`).join(' ');
    const many = { ...first, words: packWords([['n'], [], [words], [], []]) };
    const writer = open();
    writer.startBuild(BASE);
    writer.addDocuments([many, ...documents.slice(1)], [], documents.at(-1)!.claimId);
    writer.endDocuments();
    writer.endBuild();
    writer.close();
    const reader = new SqliteReader(provider, path, { blocking: [], filtering: [] });
    const find = (text: string) => reader.search(parseConstraints({ text }), 60_000).rows;
    for (const text of ['zq*', 'zq11*', 'zq* + zq5', 'zq* zq1*', 'zqzqzq* zq*', 'zq* -bitcoin'])
      expect(find(text), text).toEqual([first.claimId]);
    expect(find('zq* -zq5')).toEqual([]);
    expect(() => reader.search(parseConstraints({ text: 'zq* zq1*' }), -1)).toThrow('query timed out');
    reader.close();
  });
});

describe('an obstacle in place of a file', () => {
  it.each(['', '-wal', '-journal', '-sums'])('is reported by name: claimsearch.sqlite%s', (suffix) => {
    build().close();
    rmSync(path + suffix, { force: true });
    mkdirSync(path + suffix);
    const openIndex = () =>
      new SqliteIndexWriter(provider, { path, chain: 'chain', prefixes: addressPrefixesOf(regtestParams) });
    expect(openIndex).toThrow(EnvironmentError);
    expect(openIndex).toThrow(
      `${path + suffix}: it is a folder where a file should be (EISDIR). Move it away`,
    );
    rmSync(path + suffix, { recursive: true });
    openIndex();
  });
});
