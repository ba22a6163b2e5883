/** Blocks whose rows of the claim index are added together, compared with an index that added each block alone. */
import { describe, expect, it } from 'vitest';
import type { TrieChanges } from '../../../../src/store/claims/claimStore.js';
import type { LoadedBlock } from '../../../../src/chain/blocks/loadedBlock.js';
import { settleContributors } from '../../../../src/chain/connect/connectBlock.js';
import { TrackedIndex, type BlockBatch, type ChainIndex } from '../../../../src/index/chainIndex.js';
import type { ResolvedInputs } from '../../../../src/native/binding.js';
import type { RowStore } from '../../../../src/store/rows/rowStore.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import { ClaimIndexRun, indexRows, LIFE_PARAMS, WITH_INDEX } from '../../../support/claimIndexRun.js';
import { TestChain } from '../../../support/testChain.js';

const FORK = LIFE_PARAMS.claimForks.normalizationForkHeight;

/** Connects the blocks of `source` from `from` on in one run. Returns whether the index was at the tip after each block. */
async function connectTogether(chain: TestChain, source: TestChain, from = 1): Promise<boolean[]> {
  const atTip: boolean[] = [];
  const { chain: opened } = chain.opened;
  const off = opened.events.on('blockConnected', () => {
    atTip.push(chain.services.claimIndex!.isSynced);
  });
  for (let height = from; height <= source.opened.chain.height; height++)
    expect(opened.acceptBlock(await source.blockAt(height), true).error).toBeNull();
  await opened.connectBestChain();
  off();
  expect(opened.height).toBe(source.opened.chain.height);
  return atTip;
}

describe('blocks that are connected in one run', () => {
  it.each([{ proofWindow: 5000 }, { proofWindow: 20 }])('give equal rows, with %o', async (options) => {
    const run = new ClaimIndexRun(7, options);
    await run.open();
    const chain = await TestChain.open({ ...WITH_INDEX, ...options });
    try {
      while (run.height < FORK + 40) await run.mine(4);
      const atTip = await connectTogether(chain, run.chain);
      expect(atTip.filter((is) => !is).length).toBeGreaterThan(150);
      expect(atTip.at(-1)).toBe(true);
      expect(await indexRows(chain)).toEqual(await indexRows(run.chain));
      // The undo rows of blocks of a batch take each block back alone.
      await run.reorganise(15, 4, false);
      await connectTogether(chain, run.chain, run.height - 15);
      expect(await indexRows(chain)).toEqual(await indexRows(run.chain));
    } finally {
      await chain.close();
      await run.close();
    }
  });

  it('continue after a restart', async () => {
    const run = new ClaimIndexRun(8);
    await run.open();
    let chain = await TestChain.open(WITH_INDEX);
    try {
      while (run.height < 150) await run.mine(3);
      await connectTogether(chain, run.chain);
      chain = await chain.reopen(WITH_INDEX);
      expect(chain.services.claimIndex!.isSynced).toBe(true);
      while (run.height < 190) await run.mine(3);
      await connectTogether(chain, run.chain, 151);
      expect(await indexRows(chain)).toEqual(await indexRows(run.chain));
    } finally {
      await chain.close();
      await run.close();
    }
  });
});

describe('a batch', () => {
  const ids = Array.from({ length: 6 }, (_, n) => Buffer.alloc(32, n + 1));
  const blockOf = (n: number): LoadedBlock =>
    ({
      hash: ids[n],
      header: { prevHash: n === 0 ? Buffer.alloc(32) : ids[n - 1] },
    }) as unknown as LoadedBlock;

  /** An index that only notes which blocks were added together. */
  class NotingIndex implements ChainIndex {
    readonly name = 'noting';
    readonly version = 1;
    readonly prefixes = [];
    readonly added: number[][] = [];
    connect(_rows: object, _block: LoadedBlock, height: number): void {
      this.added.push([height]);
    }
    disconnect(_rows: object, _block: LoadedBlock, height: number): void {
      this.added.push([-height]);
    }
    startBatch(): BlockBatch {
      const heights: number[] = [];
      return {
        get isFull() {
          return heights.length >= 3;
        },
        add: async (_rows: object, _block: LoadedBlock, height: number) => void heights.push(height),
        drop: () => void heights.pop(),
        finish: async () => void this.added.push(heights),
      };
    }
  }

  const rows = { put: () => undefined, discard: () => undefined, commit: () => undefined };
  const store = { begin: () => rows, commit: () => undefined } as unknown as RowStore;

  async function connect(tracked: TrackedIndex, n: number, ahead: number): Promise<void> {
    const [resolved, claims] = [{} as ResolvedInputs, {} as TrieChanges];
    await tracked.connect(rows as never, blockOf(n), n, resolved, claims, ahead);
  }

  it('starts only if many blocks follow, and ends when it is full or no block follows', async () => {
    const index = new NotingIndex();
    const tracked = new TrackedIndex(index);
    await connect(tracked, 0, 15);
    expect([index.added, tracked.isWaiting]).toEqual([[[0]], false]);
    await connect(tracked, 1, 16);
    await connect(tracked, 2, 15);
    expect([index.added, tracked.isWaiting]).toEqual([[[0]], true]);
    expect(hashToHex(tracked.lastBlock!)).toBe(hashToHex(ids[0]!));
    await connect(tracked, 3, 14);
    expect([index.added, tracked.isWaiting]).toEqual([[[0], [1, 2, 3]], false]);
    expect(hashToHex(tracked.lastBlock!)).toBe(hashToHex(ids[3]!));
    await connect(tracked, 4, 16);
    await connect(tracked, 5, 0);
    expect(index.added).toEqual([[0], [1, 2, 3], [4, 5]]);
  });

  it('needs no changes of the claim trie while the index is behind', async () => {
    const index = Object.assign(new NotingIndex(), { usesClaims: true });
    const tracked = new TrackedIndex(index);
    expect(tracked.usesClaims).toBe(true);
    await connect(tracked, 2, 0);
    expect([index.added, tracked.usesClaims]).toEqual([[], false]);
    await connect(tracked, 0, 0);
    expect([index.added, tracked.usesClaims]).toEqual([[[0]], true]);
  });

  it('is not readable during the run', async () => {
    const tracked = new TrackedIndex(new NotingIndex());
    tracked.synced = true;
    expect(tracked.isReadable).toBe(true);
    for (let n = 0; n < 3; n++) {
      await connect(tracked, n, 20 - n);
      expect([n, tracked.isReadable]).toEqual([n, false]);
    }
    expect(tracked.isWaiting).toBe(false);
    tracked.endRun();
    expect(tracked.isReadable).toBe(true);
    await connect(tracked, 3, 20);
    await connect(tracked, 4, 0);
    expect(tracked.isReadable).toBe(true);
  });

  it('is added by a flush or after the last block, also if the next block is invalid', async () => {
    const index = new NotingIndex();
    const tracked = new TrackedIndex(index);
    await connect(tracked, 0, 20);
    await connect(tracked, 1, 19);
    await settleContributors({ store, contributors: [tracked] });
    expect([index.added, tracked.isWaiting]).toEqual([[[0, 1]], false]);
    await settleContributors({ store, contributors: [tracked] });
    await connect(tracked, 2, 0);
    expect(index.added).toEqual([[0, 1], [2]]);
  });

  it('loses blocks that are disconnected, and the index then disconnects earlier ones', async () => {
    const index = new NotingIndex();
    const tracked = new TrackedIndex(index);
    await connect(tracked, 0, 0);
    await connect(tracked, 1, 20);
    await connect(tracked, 2, 19);
    const disconnect = (n: number): Promise<void> =>
      tracked.disconnect(rows as never, blockOf(n), n, Buffer.alloc(0));
    await disconnect(2);
    expect(tracked.isWaiting).toBe(true);
    await disconnect(1);
    expect(tracked.isWaiting).toBe(false);
    await connect(tracked, 1, 0);
    await disconnect(1);
    expect(index.added).toEqual([[0], [1], [-1]]);
    expect(hashToHex(tracked.lastBlock!)).toBe(hashToHex(ids[0]!));
  });
});
