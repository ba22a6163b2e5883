/** Compares the index of compact filters with filters that are computed from the blocks, over blocks and reorganisations. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildFilter, FilterElements, filterHash, filterHeader } from '../../../src/index/compactFilter.js';
import { BlockFilters } from '../../../src/index/filterIndex.js';
import { parseBlockBytes } from '../../../src/primitives/block.js';
import { formatOutPoint, isCoinbase, txid } from '../../../src/primitives/transaction.js';
import { prefixEnd } from '../../../src/store/rows/rows.js';
import { toLatin1, type Bytes } from '../../../src/util/bytes.js';
import { ADDRESS_SCRIPT, OPEN_SCRIPT, spend, TestChain } from '../../support/testChain.js';

describe('the filter index', () => {
  let chain: TestChain;
  let filters: BlockFilters;
  beforeAll(async () => {
    chain = await TestChain.open({ filterIndex: true });
    filters = new BlockFilters(chain.opened.store, chain.opened.chain.index.active);
    await chain.mine(110);
  });
  afterAll(() => chain.close());

  /** Compares every row with the blocks, and checks that there are no other rows. */
  async function compare(): Promise<void> {
    const { active } = chain.opened.chain.index;
    const scripts = new Map<string, Bytes>();
    let header: Bytes = Buffer.alloc(32);
    for (let height = 0; height <= active.height; height++) {
      const { raw, hash } = await chain.blockAt(height);
      const elements = new FilterElements();
      for (const tx of parseBlockBytes(raw).transactions) {
        for (const { prevout } of isCoinbase(tx) ? [] : tx.inputs)
          elements.addSpent(scripts.get(toLatin1(formatOutPoint(prevout)))!);
        tx.outputs.forEach(({ script }, index) => {
          elements.addOutput(script);
          scripts.set(toLatin1(formatOutPoint({ hash: txid(tx), index })), script);
        });
      }
      const filter = buildFilter(elements.list, hash);
      header = filterHeader(filterHash(filter), header);
      const id = active.at(height);
      expect(await filters.filter(id, height)).toEqual(filter);
      expect(await filters.headers(id, height, height)).toEqual([{ hash: filterHash(filter), header }]);
    }
    for (const prefix of ['F', 'G']) {
      const rows = await chain.opened.store.getRange({ gte: prefix, lt: prefixEnd(prefix) });
      expect(rows).toHaveLength(active.height + 1);
    }
  }

  it('has the filters of the active chain only', async () => {
    const core = chain.opened.chain;
    const coin = parseBlockBytes((await chain.blockAt(1)).raw).transactions[0]!;
    const made = spend(
      [{ txid: txid(coin), n: 0 }],
      [
        { value: 1000n, script: OPEN_SCRIPT },
        { value: 1000n, script: ADDRESS_SCRIPT },
      ],
    );
    // Spent again within the block.
    chain.pending.push(made, spend([{ txid: txid(made), n: 0 }], [{ value: 500n, script: ADDRESS_SCRIPT }]));
    await chain.mine(2);
    await compare();
    const stale = core.index.active.at(111);
    await core.invalidateBlock(stale);
    expect(await filters.filter(stale, 111)).toBeNull();
    await compare();
    await chain.mine(3, ADDRESS_SCRIPT);
    await compare();
    expect(await filters.headers(stale, 111, 100)).toBeNull();
  });

  it('returns headers in ranges, and at single heights', async () => {
    const { active } = chain.opened.chain.index;
    const row = (await filters.headers(active.at(60), 60, 0))!;
    expect(row).toHaveLength(61);
    expect(await filters.headersAt(active.at(60), 60, [10, 40])).toEqual([row[10]!.header, row[40]!.header]);
    expect(await filters.headersAt(active.at(60), 60, [])).toEqual([]);
  });
});
