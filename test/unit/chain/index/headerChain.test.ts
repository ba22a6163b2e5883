import { describe, expect, it } from 'vitest';
import { ActiveChain } from '../../../../src/chain/index/activeChain.js';
import { HeaderChain } from '../../../../src/chain/index/headerChain.js';
import { NO_HEADER } from '../../../../src/store/files/headerTable.js';
import { TestHeaders } from '../headers.js';

/** A main branch of 100 headers, whose first 40 are active, and a fork of 20 headers at height 30. */
function makeTree() {
  const tree = new TestHeaders();
  const main = tree.chain(NO_HEADER, 101);
  const fork = tree.chain(main[30]!, 20);
  const active = new ActiveChain(tree.table);
  active.reset(main[40]!);
  const index = { headers: tree.table, active, bestHeader: main[100]! };
  return { tree, main, fork, index, chain: new HeaderChain(index) };
}

describe('HeaderChain', () => {
  it('finds ancestors on every branch, independent of the best one', () => {
    const { main, fork, index, chain } = makeTree();
    for (const best of [main[100]!, fork[19]!, main[100]!, main[10]!]) {
      index.bestHeader = best;
      expect(chain.ancestorOf(main[100]!, 55)).toBe(main[55]);
      expect(chain.ancestorOf(main[100]!, 100)).toBe(main[100]);
      expect(chain.ancestorOf(fork[19]!, 31)).toBe(fork[0]);
      expect(chain.ancestorOf(fork[19]!, 30)).toBe(main[30]);
      expect(chain.ancestorOf(fork[19]!, 51)).toBe(NO_HEADER);
      expect(chain.isAncestor(main[30]!, fork[19]!)).toBe(true);
      expect(chain.isAncestor(main[31]!, fork[19]!)).toBe(false);
    }
  });

  it('follows the best header as it grows', () => {
    const { tree, main, index, chain } = makeTree();
    expect(chain.ancestorOf(main[100]!, 1)).toBe(main[1]);
    const more = tree.chain(main[100]!, 5);
    index.bestHeader = more[4]!;
    expect(chain.ancestorOf(more[4]!, 103)).toBe(more[2]);
    expect(chain.ancestorOf(more[4]!, 99)).toBe(main[99]);
  });

  it('finds the last common block of two branches', () => {
    const { main, fork, chain } = makeTree();
    expect(chain.lastCommon(main[100]!, fork[19]!)).toBe(main[30]);
    expect(chain.lastCommon(fork[3]!, main[100]!)).toBe(main[30]);
    expect(chain.lastCommon(main[7]!, fork[19]!)).toBe(main[7]);
    expect(chain.lastCommon(fork[5]!, fork[5]!)).toBe(fork[5]);
  });

  it('creates locators whose steps double after the first twelve', () => {
    const { tree, main, fork, chain } = makeTree();
    const heights = (id: number): number[] =>
      chain.locator(id).map((hash) => tree.table.height(tree.table.find(hash)));
    expect(heights(main[100]!)).toEqual([
      100, 99, 98, 97, 96, 95, 94, 93, 92, 91, 90, 89, 87, 83, 75, 59, 27, 0,
    ]);
    expect(heights(main[3]!)).toEqual([3, 2, 1, 0]);
    expect(heights(main[0]!)).toEqual([0]);
    expect(chain.locator(fork[1]!)[0]).toEqual(Buffer.from(tree.table.hash(fork[1]!)));
    expect(chain.locator(NO_HEADER)).toEqual([]);
  });

  it('finds the last active block of a locator', () => {
    const { tree, main, fork, chain } = makeTree();
    const hash = (id: number): Buffer => Buffer.from(tree.table.hash(id));
    expect(chain.findFork([hash(main[20]!)])).toBe(main[20]);
    // The entry is ahead of the active chain on the same branch, so the owner of the locator knows the whole active chain.
    expect(chain.findFork([hash(main[80]!), hash(main[20]!)])).toBe(main[40]);
    // The entry is on another branch, so the next entry of the locator decides.
    expect(chain.findFork([hash(fork[15]!), hash(main[20]!)])).toBe(main[20]);
    expect(chain.findFork([Buffer.alloc(32, 9), hash(main[7]!)])).toBe(main[7]);
    expect(chain.findFork([Buffer.alloc(32, 9)])).toBe(main[0]);
    expect(chain.findFork([])).toBe(main[0]);
  });
});
