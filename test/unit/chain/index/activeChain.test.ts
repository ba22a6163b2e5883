import { describe, expect, it } from 'vitest';
import { ActiveChain } from '../../../../src/chain/index/activeChain.js';
import { NO_HEADER } from '../../../../src/store/files/headerTable.js';
import { Random } from '../../../differential/support.js';
import { TestHeaders } from '../headers.js';

/** Blocks 0 to 9, and a branch of four blocks on block 5. */
function forked(): { headers: TestHeaders; chain: ActiveChain; main: number[]; branch: number[] } {
  const headers = new TestHeaders();
  const main = headers.chain(NO_HEADER, 10);
  const branch = headers.chain(main[5]!, 4);
  const chain = new ActiveChain(headers.table);
  for (const id of main) chain.push(id);
  return { headers, chain, main, branch };
}

describe('ActiveChain', () => {
  it('is empty before genesis', () => {
    const chain = new ActiveChain(new TestHeaders().table);
    expect(chain.height).toBe(-1);
    expect(chain.tip).toBe(NO_HEADER);
    expect(chain.at(0)).toBe(NO_HEADER);
    expect(chain.contains(NO_HEADER)).toBe(false);
    expect(chain.findFork(NO_HEADER)).toBe(NO_HEADER);
    expect(chain.ancestorOf(NO_HEADER, 0)).toBe(NO_HEADER);
    chain.reset(NO_HEADER);
    expect(chain.height).toBe(-1);
  });

  it('knows its blocks by height and their successors', () => {
    const { chain, main, branch } = forked();
    expect(chain.height).toBe(9);
    expect(chain.tip).toBe(main[9]);
    expect(chain.at(4)).toBe(main[4]);
    expect(chain.at(-1)).toBe(NO_HEADER);
    expect(chain.at(10)).toBe(NO_HEADER);
    expect(chain.contains(main[9]!)).toBe(true);
    expect(chain.contains(branch[0]!)).toBe(false);
    expect(chain.next(main[8]!)).toBe(main[9]);
    expect(chain.next(main[9]!)).toBe(NO_HEADER);
    expect(chain.next(branch[0]!)).toBe(NO_HEADER);
  });

  it('does not contain removed blocks above the tip', () => {
    const { chain, main } = forked();
    chain.pop();
    expect(chain.tip).toBe(main[8]);
    expect(chain.contains(main[9]!)).toBe(false);
    expect(chain.next(main[8]!)).toBe(NO_HEADER);
  });

  it('finds the fork and the ancestors of a branch', () => {
    const { chain, main, branch } = forked();
    expect(chain.findFork(branch[3]!)).toBe(main[5]);
    expect(chain.findFork(main[7]!)).toBe(main[7]);
    expect(chain.ancestorOf(branch[3]!, 9)).toBe(branch[3]);
    expect(chain.ancestorOf(branch[3]!, 7)).toBe(branch[1]);
    expect(chain.ancestorOf(branch[3]!, 6)).toBe(branch[0]);
    expect(chain.ancestorOf(branch[3]!, 5)).toBe(main[5]);
    expect(chain.ancestorOf(branch[3]!, 0)).toBe(main[0]);
    expect(chain.ancestorOf(branch[3]!, 10)).toBe(NO_HEADER);
    expect(chain.ancestorOf(branch[3]!, -1)).toBe(NO_HEADER);
    expect(chain.ancestorOf(main[9]!, 3)).toBe(main[3]);
  });

  it('switches to another branch by a reset, and grows beyond its initial capacity', () => {
    const { headers, chain, main, branch } = forked();
    chain.reset(branch[3]!);
    expect(chain.height).toBe(9);
    expect(chain.at(6)).toBe(branch[0]);
    expect(chain.at(5)).toBe(main[5]);
    const more = headers.chain(branch[3]!, 3000);
    for (const id of more) chain.push(id);
    expect(chain.height).toBe(3009);
    expect(chain.at(3009)).toBe(more[2999]);
    expect(chain.findFork(main[9]!)).toBe(main[5]);
    chain.reset(more[2999]!);
    expect(chain.at(1500)).toBe(more[1490]);
  });

  it('answers for a header tree', () => {
    const headers = new TestHeaders();
    const times = [50, 10, 40, 20, 30, 60, 70, 80, 90, 100, 110, 5];
    const chain = new ActiveChain(headers.table);
    let id: number = NO_HEADER;
    for (const timeSec of times) chain.push((id = headers.add(id, { timeSec })));
    expect(chain.heightOf(id)).toBe(11);
    expect(chain.timeOf(id)).toBe(5);
    expect(chain.bitsOf(id)).toBe(0x207fffff);
    expect(chain.versionOf(id)).toBe(0x20000000);
    expect(chain.parentOf(chain.at(0))).toBe(NO_HEADER);
    // The median time of the last eleven blocks, including the block itself.
    expect(chain.medianTimeOf(id)).toBe([...times.slice(1)].sort((a, b) => a - b)[5]);
    expect(chain.medianTimeOf(chain.at(1))).toBe(50);
  });

  it('agrees with a walk over parents on random trees', () => {
    const random = new Random(400);
    const headers = new TestHeaders();
    const ids = [headers.add(NO_HEADER)];
    for (let i = 0; i < 400; i++)
      ids.push(headers.add(random.chance(3) ? random.pick(ids) : ids[ids.length - 1]!));
    const chain = new ActiveChain(headers.table);
    const pathTo = (id: number): number[] => {
      const path: number[] = [];
      for (let at = id; at !== NO_HEADER; at = headers.table.prev(at)) path.unshift(at);
      return path;
    };
    for (let round = 0; round < 30; round++) {
      const active = pathTo(random.pick(ids));
      chain.reset(active[active.length - 1]!);
      for (const id of ids) {
        const path = pathTo(id);
        expect(chain.contains(id)).toBe(active.includes(id));
        expect(chain.findFork(id)).toBe(path.filter((at) => active.includes(at)).pop());
        const height = random.below(path.length);
        expect(chain.ancestorOf(id, height)).toBe(path[height]);
      }
    }
  });
});
