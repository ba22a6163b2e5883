import { existsSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { packWords } from '../../../src/search/analyze.js';
import { parseConstraints } from '../../../src/search/constraints.js';
import type { ClaimDocument } from '../../../src/search/document.js';
import { SqliteReader } from '../../../src/search/sqliteReader.js';
import { removeIndexFile, SqliteWriter } from '../../../src/search/sqliteWriter.js';
import { loadSqlite } from '../../../src/sqlite/sqliteProvider.js';
import { modelDocuments, Random, randomClaims } from '../../support/claimSearchModel.js';

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

/** An index with scores for the first two claims. */
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
  it('stay with their claims when these change places', () => {
    const writer = build();
    const before = trending();
    expect(before.get(first.claimId)).not.toBeNull();
    const swapped = [
      { ...first, id: second.id },
      { ...second, id: first.id },
    ];
    writer.refresh([], { documents: swapped, hidden: [], gone: [] });
    expect(trending()).toEqual(before);
    // One after the other too, in either order.
    writer.refresh([], { documents: [first], hidden: [], gone: [] });
    expect(trending().has(second.claimId)).toBe(false);
    writer.refresh([], { documents: [second], hidden: [], gone: [] });
    expect(trending()).toEqual(before);
    writer.close();
  });
});

describe('a file', () => {
  /** Changes the file, and tells what is found in its place. */
  function damaged(damage: () => void): { documents: number; wasDamaged: boolean } {
    build().closeSealed();
    damage();
    const writer = open();
    const { wasDamaged } = writer;
    const { documents: count } = writer.state();
    writer.close();
    return { documents: count, wasDamaged };
  }
  const ANEW = { documents: 0, wasDamaged: true };

  it('that is as it was stays', () => {
    expect(damaged(() => undefined)).toEqual({ documents: documents.length, wasDamaged: false });
    expect(existsSync(`${path}-seal`)).toBe(false);
  });

  it('in which a single byte is another is deleted, wherever it lies', () => {
    build().closeSealed();
    const whole = readFileSync(path);
    const seal = readFileSync(`${path}-seal`);
    for (let n = 0; n < 20; n++) {
      const bytes = Buffer.from(whole);
      bytes[Math.floor((n * whole.length) / 20)]! ^= 1;
      writeFileSync(path, bytes);
      writeFileSync(`${path}-seal`, seal);
      const writer = open();
      expect(writer.wasDamaged).toBe(true);
      expect(writer.state().documents).toBe(0);
      writer.close();
    }
  });

  it('that is cut off, filled with something else or empty is deleted', () => {
    expect(damaged(() => truncateSync(path, 10_000))).toEqual(ANEW);
    expect(damaged(() => writeFileSync(path, Buffer.alloc(50_000, 'garbage')))).toEqual(ANEW);
    expect(damaged(() => truncateSync(path, 0))).toEqual(ANEW);
    expect(damaged(() => writeFileSync(`${path}-seal`, 'nonsense'))).toEqual(ANEW);
  });

  it('that is gone is made', () => {
    expect(damaged(() => rmSync(path))).toMatchObject({ documents: 0 });
    expect(damaged(() => removeIndexFile(path))).toMatchObject({ documents: 0 });
  });

  it('without a seal is damaged when SQLite says so', () => {
    build().close();
    writeFileSync(path, Buffer.alloc(50_000, 'garbage'));
    const writer = open();
    expect(writer.wasDamaged).toBe(true);
    writer.close();
  });
});

describe('constraints', () => {
  it('with more values than a statement takes are refused in words', () => {
    build().close();
    const reader = new SqliteReader(provider, path, { blocking: [], filtering: [] });
    const texts = Array.from({ length: 2048 }, (_, n) => String(n));
    const many = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, texts]));
    const few = ['height', 'amount', 'tx_num', 'nout', 'title', 'author', 'description', 'media_types'];
    // As many again that do not stand in the statement twice.
    const query = parseConstraints({ ...many(few), release_time: '<100', order_by: 'release_time' });
    expect(reader.search(query, 60_000).rows).toEqual([]);
    const more = ['timestamp', 'duration', 'effective_amount', 'support_amount', 'creation_height', 'name'];
    const rest = ['activation_height', 'expiration_height', 'fee_amount', 'tx_position', 'public_key_id'];
    const all = parseConstraints({ ...many([...few, ...more, ...rest]), release_time: '<100' });
    expect(() => reader.search(all, 60_000)).toThrow('The constraints have too many values.');
    reader.close();
  });
});

describe('a beginning of words', () => {
  it('finds the same whether few words begin so or very many', () => {
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
