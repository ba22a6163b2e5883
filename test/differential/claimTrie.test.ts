/** The addon's trie of a block against `WorkTrie`: the same answers, rows and root over random blocks. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { WorkTrie, type BlockTrie, type NodeChange } from '../../src/claimtrie/workTrie.js';
import type { Bytes } from '../../src/util/bytes.js';
import { NativeTrie } from '../../src/store/claims/nativeTrie.js';
import {
  nodeKey,
  nodeNoteKey,
  nodeNotesPrefix,
  type Generation,
} from '../../src/store/claims/rows/claimKeys.js';
import { noteRowFallback } from '../../src/store/claims/rows/nodeNote.js';
import { formatNodeRow, parseNodeRow } from '../../src/store/claims/rows/nodeRow.js';
import { changesOf } from '../../src/store/rows/rowRecords.js';
import type { RowTables } from '../../src/store/rows/rows.js';
import { Random, addon, native } from './support.js';

const EPOCH = 3;
const LETTERS = ['a', 'b', 'c', '\0', '\xff'];

type Rows = Map<string, Buffer>;

/** How rows reach the addon: by `supply` alone, or from a table with all or some of the rows. */
type Source = 'supplied' | 'overlay' | 'divided';

function randomName(random: Random): string {
  if (random.chance(40)) return 'long'.repeat(random.below(90));
  // The root and the node `w` get so many children that the addon caches their merkle trees.
  if (random.chance(3)) return `${random.chance(2) ? 'w' : ''}${String.fromCharCode(random.below(60))}`;
  return Array.from({ length: random.below(7) }, () => LETTERS[random.below(LETTERS.length)]).join('');
}

function tablesOf(rows: Rows, source: Source): RowTables | null {
  if (source === 'supplied') return null;
  const tables = { overlay: new (addon().Memtable)(), recent: new (addon().RowCache)(1 << 22) };
  let number = 0;
  for (const [key, row] of rows) {
    number++;
    if (source === 'overlay' || number % 3 === 0) tables.overlay.set(key, row);
    else if (number % 3 === 1) tables.recent.set(key, row);
  }
  // The overlay is newer than the cache, and a deletion in it does not count as a row.
  if (source === 'divided') tables.overlay.set(nodeKey('1', 'no such node'), null);
  return tables;
}

/** One block on both tries, over the same rows. */
class TriePair {
  private readonly rows: Rows;
  private readonly generation: Generation;
  private readonly own: WorkTrie;
  private readonly theirs: NativeTrie;
  lateRows = 0;

  constructor(rows: Rows, generation: Generation, source: Source) {
    this.rows = rows;
    this.generation = generation;
    const read = (path: string): Buffer | null => rows.get(nodeKey(generation, path)) ?? null;
    this.own = new WorkTrie((path) => {
      const row = read(path);
      return row && parseNodeRow(row);
    });
    this.theirs = new NativeTrie(addon(), {
      prefix: nodeKey(generation, ''),
      tables: () => tablesOf(rows, source),
      readRow: (path) => {
        this.lateRows++;
        return read(path);
      },
    });
  }

  load(names: readonly string[]): void {
    const { own, theirs, rows, generation } = this;
    const leaves = new Set<string>();
    own.begin(names);
    for (let wanted = own.wanted(leaves); wanted.length > 0; wanted = own.wanted(leaves))
      for (const path of wanted) {
        const row = rows.get(nodeKey(generation, path));
        own.supply(path, row ? parseNodeRow(row) : null);
      }
    for (let wanted = theirs.load(names); wanted.length > 0; wanted = theirs.load())
      for (const path of wanted) theirs.supply(path, rows.get(nodeKey(generation, path)) ?? null);
    expect(theirs.takeLeaves()).toEqual([...leaves]);
  }

  /** Makes the same call of both, and compares the results. */
  same<T>(call: (trie: BlockTrie) => T): T {
    const result = call(this.own);
    expect(call(this.theirs)).toEqual(result);
    return result;
  }

  finish(hashes: ReadonlyMap<string, Bytes>, height: number): void {
    const { own, theirs, rows, generation } = this;
    const hashOf = (name: string): Bytes => hashes.get(name)!;
    const allClaims = generation === '1';
    if (this.same(({ dirtyCount }) => dirtyCount) === 0) {
      theirs.release();
      return;
    }
    const order: string[] = [];
    theirs.hashClaims((name) => {
      order.push(name);
      return hashOf(name);
    });
    expect(order).toEqual(own.unhashedNodes().map(({ path }) => path));
    for (const node of own.unhashedNodes()) own.setClaimsHash(node, hashOf(node.path));
    for (const node of own.dirtyNodes()) own.hashNode(node, allClaims);
    const written = theirs.finish(allClaims, height, nodeNotesPrefix(EPOCH, generation));
    expect(written.root).toEqual(own.rootHash(allClaims));
    const found = new Map(
      Array.from(changesOf(written.records), ([key, row]) => [key.toString('latin1'), row]),
    );
    expect(found).toEqual(this.expectedRows(own.changes(), height));
    expect(written.hasNotes).toBe([...found.keys()].some((key) => key.startsWith('v')));
    for (const [key, row] of found)
      if (row === null) rows.delete(key);
      else rows.set(key, Buffer.from(row));
  }

  private expectedRows(changes: readonly NodeChange[], height: number): Map<string, Buffer | null> {
    const expected = new Map<string, Buffer | null>();
    for (const change of changes) {
      const { path, after } = change;
      expected.set(nodeKey(this.generation, path), after && formatNodeRow(after));
      const note = noteRowFallback(change, height);
      if (note) expected.set(nodeNoteKey(EPOCH, this.generation, path, height), note);
    }
    return expected;
  }
}

/** Inserts, removes and touches names at random, and queries others. `known` has the names with claims. */
function changeNames(
  both: TriePair,
  random: Random,
  known: Map<string, Bytes>,
  names: readonly string[],
): void {
  const hash = (): Bytes => createHash('sha256').update(random.bytes(8)).digest();
  for (const name of names) {
    const isThere = known.has(name);
    both.same((trie) => trie.knowsNode(name));
    if (random.chance(4)) both.same((trie) => trie.isNode(name));
    if (random.chance(4)) both.same((trie) => trie.childPaths(name));
    if (random.chance(4)) both.same((trie) => trie.storedPath(name));
    if (!isThere || random.chance(3)) {
      both.same((trie) => (isThere ? trie.touch(name) : trie.insert(name)));
      known.set(name, hash());
    } else if (random.chance(2)) {
      both.same((trie) => trie.remove(name));
      known.delete(name);
    }
    if (random.chance(8)) both.same((trie) => trie.takeRemovedPaths());
  }
}

describe.skipIf(!native)('trie of the addon against WorkTrie', () => {
  for (const generation of ['0', '1'] as const)
    for (const source of ['supplied', 'overlay', 'divided'] as const)
      it(`gives the same results in generation ${generation} with rows ${source}`, () => {
        for (let seed = 1; seed <= 12; seed++) {
          const random = new Random(seed);
          const rows: Rows = new Map();
          const known = new Map<string, Bytes>();
          for (let height = 1; height <= 25; height++) {
            const both = new TriePair(rows, generation, source);
            for (let round = 0; round <= random.below(3); round++) {
              const names = Array.from({ length: random.below(12) }, () => randomName(random));
              // Some names are used without being loaded.
              both.load([...new Set(names)].filter(() => !random.chance(5)));
              changeNames(both, random, known, names);
            }
            both.finish(known, height);
          }
          expect(known.size).toBeGreaterThan(10);
        }
      });

  it('refuses malformed rows, names without a node, and hashes of another size', () => {
    const trie = new (addon().ClaimTrie)();
    trie.reset('t1');
    expect(trie.load(['ab'])).toEqual(['']);
    expect(trie.supply('', Buffer.from([]))).toBe(false);
    expect(trie.supply('', Buffer.from([0, 4, 97]))).toBe(false);
    expect(trie.supply('', Buffer.from([1, 2]))).toBe(false);
    expect(trie.supply('', null)).toBe(true);
    expect(trie.load()).toEqual([]);
    expect(trie.remove('ab')).toBe(false);
    expect(trie.touch('ab')).toBe(false);
    expect(trie.insert('ab')).toBe(true);
    expect(() => trie.setHashes(Buffer.alloc(31))).toThrow('32 bytes');
  });

  it('reads a malformed row in memory as one that must be supplied', () => {
    const overlay = new (addon().Memtable)();
    overlay.set('t1', Buffer.from([0, 4, 97]));
    const trie = new (addon().ClaimTrie)();
    trie.reset('t1', overlay);
    expect(trie.load(['ab'])).toEqual(['']);
  });
});
