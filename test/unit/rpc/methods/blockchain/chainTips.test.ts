/** `getchaintips` over trees of headers, compared with the definition. */
import { expect, it } from 'vitest';
import { ActiveChain } from '../../../../../src/chain/index/activeChain.js';
import { getChainTips } from '../../../../../src/rpc/methods/blockchain/getChainTips.js';
import type { RpcContext } from '../../../../../src/rpc/declare/method.js';
import { NO_HEADER } from '../../../../../src/store/files/headerTable.js';
import { hashToHex } from '../../../../../src/util/bytes.js';
import { randomOf } from '../../../../support/claimLife.js';
import { TestHeaders } from '../../../chain/headers.js';

interface Tip {
  readonly height: number;
  readonly hash: string;
  readonly branchlen: number;
  readonly branchhash?: string;
  readonly branchhashNext?: string;
}

/** The answer of the method for a tree whose active chain ends at a block. */
async function tipsOf({ table }: TestHeaders, tip: number): Promise<Tip[]> {
  const active = new ActiveChain(table);
  active.reset(tip);
  const chain = { headers: table, chain: { tip, index: { active, headers: table } } };
  const ctx = { services: { chain } } as unknown as RpcContext;
  return (await getChainTips.run(ctx, {}, [])) as unknown as Tip[];
}

it('chain tips match their definition over random trees', async () => {
  const random = randomOf(5);
  for (let round = 0; round < 30; round++) {
    const tree = new TestHeaders();
    const { table } = tree;
    tree.add(NO_HEADER);
    const count = 2 + random(60);
    for (let n = 1; n < count; n++) tree.add(random(Math.min(n, 1 + random(60))));
    const tip = random(count);
    const active = new Set<number>();
    for (let id = tip; id !== NO_HEADER; id = table.prev(id)) active.add(id);
    const parents = new Set(Array.from({ length: count }, (_, id) => table.prev(id)));
    const ends = Array.from({ length: count }, (_, id) => id).filter(
      (id) => id !== tip && !active.has(id) && !parents.has(id),
    );
    const expected = [tip, ...ends].map((id) => {
      const branch: number[] = [];
      for (let at = id; !active.has(at); at = table.prev(at)) branch.push(at);
      const lowest = branch.at(-1);
      return {
        height: table.height(id),
        hash: hashToHex(table.hash(id)),
        branchlen: branch.length,
        branchhash: lowest === undefined ? undefined : hashToHex(table.hash(table.prev(lowest))),
        branchhashNext: lowest === undefined ? undefined : hashToHex(table.hash(lowest)),
      };
    });
    const found = await tipsOf(tree, tip);
    const byHash = (a: Pick<Tip, 'hash'>, b: Pick<Tip, 'hash'>) => (a.hash < b.hash ? -1 : 1);
    expect(
      found
        .map(({ height, hash, branchlen, branchhash, branchhashNext }) => ({
          height,
          hash,
          branchlen,
          branchhash,
          branchhashNext,
        }))
        .toSorted(byHash),
    ).toEqual(expected.toSorted(byHash));
    expect(found.map(({ height }) => height)).toEqual(
      found.map(({ height }) => height).toSorted((a, b) => b - a),
    );
  }
});

it('a long branch is read once, whatever the number of its side branches', async () => {
  const tree = new TestHeaders();
  const [genesis] = tree.chain(NO_HEADER, 1);
  const long = tree.chain(genesis!, 3000);
  for (let n = 0; n < 3000; n += 3) tree.add(long[n]!);
  const { table } = tree;
  const prev = table.prev.bind(table);
  let read = 0;
  table.prev = (id) => {
    read++;
    return prev(id);
  };
  expect(await tipsOf(tree, genesis!)).toHaveLength(1002);
  expect(read).toBeLessThan(10 * table.count);
});
