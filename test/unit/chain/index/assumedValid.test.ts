import { expect, it } from 'vitest';
import { ActiveChain } from '../../../../src/chain/index/activeChain.js';
import { AssumedValid } from '../../../../src/chain/index/assumedValid.js';
import { HeaderChain } from '../../../../src/chain/index/headerChain.js';
import { ASSUME_VALID_DEPTH_SEC } from '../../../../src/params/network.js';
import { NO_HEADER } from '../../../../src/store/files/headerTable.js';
import { TestHeaders } from '../headers.js';

const SPACING_SEC = 1800;
/** Number of headers with the work of two weeks. In `TestHeaders`, each header adds half of the work of its target. */
const BURYING = (2 * 14 * 24 * 3600) / SPACING_SEC;

/** A main branch that is two weeks longer than its first blocks, and a fork below the assumed-valid block. */
function makeTree() {
  const tree = new TestHeaders();
  const main = tree.chain(NO_HEADER, BURYING + 51);
  const fork = tree.chain(main[10]!, 20);
  const active = new ActiveChain(tree.table);
  active.reset(main[0]!);
  const index = { headers: tree.table, active, bestHeader: main.at(-1)! };
  const assumeValid = Buffer.from(tree.table.hash(main[60]!));
  const make = (
    options: { minimumChainWork?: bigint; assumeValid?: Buffer | null; assumeValidDepthSec?: number } = {},
  ) => {
    const network = { assumeValidDepthSec: ASSUME_VALID_DEPTH_SEC, targetSpacingSec: SPACING_SEC };
    const all = { minimumChainWork: 0n, assumeValid, ...network, ...options };
    return new AssumedValid(all, index, new HeaderChain(index));
  };
  return { tree, main, fork, index, make };
}

it('includes ancestors of the assumed valid block that are deep enough', () => {
  const { main, fork, make } = makeTree();
  const assumed = make();
  expect([1, 30, 49].map((height) => assumed.holdsFor(main[height]!))).toEqual([true, true, true]);
  // A block that is less than two weeks below the best header, one above the assumed-valid block, and one on another branch.
  expect(assumed.holdsFor(main[50]!)).toBe(false);
  expect(assumed.holdsFor(main[61]!)).toBe(false);
  expect(assumed.holdsFor(fork[0]!)).toBe(false);
});

it('includes blocks that are as deep as the network demands', () => {
  const { main, make } = makeTree();
  const assumed = make({ assumeValidDepthSec: ASSUME_VALID_DEPTH_SEC + SPACING_SEC });
  expect([46, 47, 48, 49].map((height) => assumed.holdsFor(main[height]!))).toEqual([
    true,
    true,
    false,
    false,
  ]);
  const shallow = make({ assumeValidDepthSec: 0 });
  expect([50, 60, 61].map((height) => shallow.holdsFor(main[height]!))).toEqual([true, true, false]);
});

it('includes nothing without such a block, without its header, or with too little work', () => {
  const { tree, main, index, make } = makeTree();
  expect(make({ assumeValid: null }).holdsFor(main[1]!)).toBe(false);
  expect(make({ assumeValid: Buffer.alloc(32, 1) }).holdsFor(main[1]!)).toBe(false);
  const work = tree.table.work(index.bestHeader);
  expect(make({ minimumChainWork: work }).holdsFor(main[1]!)).toBe(true);
  expect(make({ minimumChainWork: work + 1n }).holdsFor(main[1]!)).toBe(false);
  index.bestHeader = NO_HEADER;
  expect(make().holdsFor(main[1]!)).toBe(false);
});

it('includes nothing if the best header is on another branch', () => {
  const { tree, main, fork, index, make } = makeTree();
  const assumed = make();
  index.bestHeader = tree.chain(fork.at(-1)!, BURYING + 51).at(-1)!;
  expect(assumed.holdsFor(main[30]!)).toBe(false);
  expect(assumed.holdsFor(main[10]!)).toBe(true);
});

it('reads no headers between the queried block and the best one, once these are known', () => {
  const { tree, main, index, make } = makeTree();
  const assumed = make();
  expect(assumed.holdsFor(main[1]!)).toBe(true);
  let read = 0;
  const { table } = tree;
  const prev = table.prev.bind(table);
  table.prev = (id) => {
    read++;
    return prev(id);
  };
  for (let height = 1; height < 50; height++) expect(assumed.holdsFor(main[height]!)).toBe(true);
  expect(read).toBe(0);
  index.bestHeader = tree.chain(index.bestHeader, 3).at(-1)!;
  read = 0;
  expect(assumed.holdsFor(main[49]!)).toBe(true);
  expect(read).toBeLessThan(10);
});
