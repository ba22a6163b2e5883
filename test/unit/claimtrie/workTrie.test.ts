/** The working trie after any insertions and removals equals a trie that is built from the remaining names. */
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { unpackSlots } from '../../../src/claimtrie/slots.js';
import { TrieBuilder } from '../../../src/claimtrie/trieBuilder.js';
import { EMPTY_ROOT, rootHash, type TrieNode } from '../../../src/claimtrie/trieNode.js';
import { WorkTrie } from '../../../src/claimtrie/workTrie.js';
import { TrieCorruptionError } from '../../../src/claimtrie/corruption.js';
import { AssertionError } from '../../../src/util/assert.js';
import { toHex } from '../../../src/util/bytes.js';
import { randomOf } from '../../support/claimLife.js';

type Records = Map<string, TrieNode>;

const hashOf = (name: string, version: number): Buffer =>
  createHash('sha256').update(`${name}/${version}`).digest();

function describeRecords(records: Records): string[] {
  return [...records]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, { slots, claimsHash }]) => {
      const children = unpackSlots(slots).map(
        ({ edge, hash, leaf }) => `${edge}=${toHex(hash)}${leaf ? ' leaf' : ''}`,
      );
      return `${path}: ${claimsHash ? toHex(claimsHash) : '-'} ${children.join(' ')}`;
    });
}

function build(names: Map<string, number>, allClaims: boolean): { records: Records; root: string } {
  const records: Records = new Map();
  const builder = new TrieBuilder(allClaims, (path, node) => {
    records.set(path, node);
  });
  for (const name of [...names.keys()].sort()) builder.add(name, hashOf(name, names.get(name)!));
  return { root: toHex(builder.finish()), records };
}

/** Loads the paths of `names` from `records`, as a store does. */
function load(trie: WorkTrie, records: Records, names: Iterable<string>): void {
  trie.begin(names);
  for (;;) {
    const wanted = trie.wanted(new Set());
    if (wanted.length === 0) return;
    for (const path of wanted) trie.supply(path, records.get(path) ?? null);
  }
}

function finish(trie: WorkTrie, records: Records, names: Map<string, number>, allClaims: boolean): string {
  for (const node of trie.unhashedNodes()) {
    trie.setClaimsHash(node, hashOf(node.path, names.get(node.path)!));
  }
  for (const node of trie.dirtyNodes()) trie.hashNode(node, allClaims);
  const root = toHex(trie.rootHash(allClaims));
  for (const { path, after } of trie.changes()) {
    if (after) records.set(path, after);
    else records.delete(path);
  }
  return root;
}

/** Random names of few letters, so that some are prefixes of others and some edges are long. */
function nameOf(random: (count: number) => number): string {
  let name = '';
  for (let i = random(6); i > 0; i--) name += ['a', 'b', '\0', '\xff', 'abab'][random(5)]!;
  return name;
}

describe('working trie', () => {
  for (const allClaims of [false, true]) {
    it(`equals the trie built from scratch, ${allClaims ? 'all claims' : 'old form'}`, () => {
      const random = randomOf(allClaims ? 5 : 6);
      const records: Records = new Map();
      const names = new Map<string, number>();
      for (let round = 1; round <= 400; round++) {
        const wanted = Array.from({ length: 1 + random(8) }, () => nameOf(random));
        const trie = new WorkTrie();
        load(trie, records, wanted);
        for (const name of wanted) {
          if (!names.has(name)) trie.insert(name);
          else if (random(3) > 0) {
            trie.remove(name);
            names.delete(name);
            continue;
          } else trie.touch(name);
          names.set(name, round);
        }
        const root = finish(trie, records, names, allClaims);
        const built = build(names, allClaims);
        expect(root).toBe(built.root);
        expect(describeRecords(records)).toEqual(describeRecords(built.records));
        expect(toHex(rootHash(records.get('') ?? null, allClaims))).toBe(root);
      }
      for (const name of names.keys()) {
        const trie = new WorkTrie();
        load(trie, records, [name]);
        trie.remove(name);
        names.delete(name);
        finish(trie, records, names, allClaims);
      }
      expect(records.size).toBe(0);
    });
  }

  it('knows nodes, children and the path to a name', () => {
    const records: Records = new Map();
    const names = new Map(['abc', 'abd', 'abcde'].map((name) => [name, 1]));
    const trie = new WorkTrie();
    load(trie, records, names.keys());
    expect(trie.isNode('')).toBe(false);
    for (const name of names.keys()) trie.insert(name);
    expect(['', 'ab', 'abc', 'abd', 'abcde'].map((name) => trie.isNode(name))).toEqual(Array(5).fill(true));
    expect(['a', 'abcd', 'b', 'abcdef'].map((name) => trie.isNode(name))).toEqual(Array(4).fill(false));
    expect(trie.childPaths('ab')).toEqual(['abc', 'abd']);
    finish(trie, records, names, true);

    const next = new WorkTrie();
    load(next, records, ['abcde', 'abd']);
    expect(next.storedPath('abcde')).toEqual(['', 'ab', 'abc', 'abcde']);
    expect(next.storedPath('abx')).toEqual(['', 'ab']);
    next.remove('abd');
    expect(next.isNode('ab')).toBe(false);
    expect(next.takeRemovedPaths()).toEqual(['abd', 'ab']);
    expect(next.takeRemovedPaths()).toEqual([]);
    expect(next.storedPath('abcde')).toEqual(['', 'ab', 'abc', 'abcde']);
  });

  it('requests the claims of leaves that get children', () => {
    const records: Records = new Map();
    const names = new Map([
      ['ab', 1],
      ['cd', 1],
    ]);
    const trie = new WorkTrie();
    load(trie, records, names.keys());
    for (const name of names.keys()) trie.insert(name);
    finish(trie, records, names, false);
    const next = new WorkTrie();
    const leaves = new Set<string>();
    next.begin(['abc', 'cd', 'x']);
    for (let wanted = next.wanted(leaves); wanted.length > 0; wanted = next.wanted(leaves)) {
      for (const path of wanted) next.supply(path, records.get(path) ?? null);
    }
    expect([...leaves]).toEqual(['ab']);
  });

  it('has root 1 when it is empty', () => {
    const trie = new WorkTrie();
    load(trie, new Map(), ['a']);
    expect(trie.rootHash(true)).toEqual(EMPTY_ROOT);
    expect(toHex(EMPTY_ROOT)).toBe('01' + '00'.repeat(31));
    expect(trie.storedPath('a')).toEqual([]);
  });

  it('refuses invalid operations', () => {
    const trie = new WorkTrie();
    expect(() => trie.isNode('a')).toThrow(AssertionError);
    load(trie, new Map(), ['a']);
    expect(() => trie.remove('a')).toThrow(TrieCorruptionError);
    const builder = new TrieBuilder(true, () => undefined);
    builder.add('b', Buffer.alloc(32));
    expect(() => builder.add('a', Buffer.alloc(32))).toThrow(AssertionError);
  });
});
