import { expect, it } from 'vitest';
import { BlockIndex } from '../../../../src/chain/index/blockIndex.js';
import { Route } from '../../../../src/chain/index/route.js';
import { regtestParams } from '../../../../src/params/regtest.js';
import { NO_HEADER, STATUS } from '../../../../src/store/files/headerTable.js';
import { TestHeaders } from '../headers.js';

/** An index with blocks that all have their data. None of them is connected. */
function makeIndex() {
  const tree = new TestHeaders();
  const options = { params: regtestParams, checkpoints: false, adjustedTimeSec: () => 2_000_000_000 };
  const index = new BlockIndex(tree.table, options);
  const add = (parent: number, count: number): number[] => {
    const ids = tree.chain(parent, count);
    for (const id of ids) index.receiveData(id, 1, tree.table.dataPosition(id));
    return ids;
  };
  return { index, add };
}

/** Connects the next block on the way to the best block. */
function step(index: BlockIndex, route: Route): number {
  const { active, candidates } = index;
  const fork = route.leadTo(index.findMostWorkChain());
  while (active.tip !== fork) active.pop();
  active.push(route.next());
  candidates.prune(active.tip);
  return active.tip;
}

it('leads over the fork to the end, block by block', () => {
  const { index, add } = makeIndex();
  const main = add(NO_HEADER, 10);
  const rival = add(main[4]!, 8);
  index.active.reset(main.at(-1)!);
  const route = new Route(index);
  expect(route.leadTo(rival.at(-1)!)).toBe(main[4]);
  expect([1, 2, 3].map(() => route.next())).toEqual(rival.slice(0, 3));
  expect(route.leadTo(main[9]!)).toBe(main[9]);
  expect(route.next()).toBe(NO_HEADER);
});

it('is computed again if a block was skipped, the chain was rewound, or the end changes', () => {
  const { index, add } = makeIndex();
  const main = add(NO_HEADER, 6);
  const rival = add(main[1]!, 9);
  const route = new Route(index);
  expect(route.leadTo(main[5]!)).toBe(NO_HEADER);
  for (let i = 0; i < 3; i++) index.active.push(route.next());
  // Not connected.
  expect(route.next()).toBe(main[3]);
  expect(route.leadTo(main[5]!)).toBe(main[2]);
  expect(route.next()).toBe(main[3]);
  index.active.pop();
  expect(route.leadTo(main[5]!)).toBe(main[1]);
  expect(route.next()).toBe(main[2]);
  expect(route.leadTo(rival[8]!)).toBe(main[1]);
  expect(route.next()).toBe(rival[0]);
});

it('reaches a distant block in steps of several blocks', () => {
  const { index, add } = makeIndex();
  const count = 3000;
  const ids = add(NO_HEADER, count);
  const route = new Route(index);
  expect(step(index, route)).toBe(ids[0]);
  const { headers } = index;
  let read = 0;
  const [prev, compareWork] = [headers.prev.bind(headers), headers.compareWork.bind(headers)];
  headers.prev = (id) => (read++, prev(id));
  headers.compareWork = (a, b) => (read++, compareWork(a, b));
  for (let at = 1; at < count; at++) expect(step(index, route)).toBe(ids[at]);
  expect(read).toBeLessThan(count * 150);
  expect(ids.filter((id) => index.candidates.has(id))).toEqual([ids.at(-1)]);
});

it('excludes a branch that has lost data since', () => {
  const { index, add } = makeIndex();
  const main = add(NO_HEADER, 5);
  const rival = add(main[1]!, 6);
  index.active.reset(main[4]!);
  expect(index.findMostWorkChain()).toBe(rival[5]);
  index.forgetData(rival[2]!);
  expect(index.headers.hasStatus(rival[2]!, STATUS.haveData)).toBe(false);
  expect(index.findMostWorkChain()).toBe(main[4]);
});
