import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { txidAt } from '../../../../src/primitives/blockView.js';
import type { BlockText } from '../../../../src/interfaces/blockTexts.js';
import { BlockTexts } from '../../../../src/rpc/lookup/blockTexts.js';
import type { Profile } from '../../../../src/rpc/declare/method.js';
import { getBlock } from '../../../../src/rpc/methods/blockchain/getBlock.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import { OPEN_SCRIPT, spend, TestChain } from '../../../support/testChain.js';

const textOf = (chars: number): BlockText => ({ transactions: 'x'.repeat(chars) }) as BlockText;

describe('BlockTexts', () => {
  it('evicts the entry with the oldest request', () => {
    const texts = new BlockTexts(100);
    for (const block of [1, 2]) texts.keep(block, 'transactions', textOf(40));
    expect(texts.find(1, 'transactions')).toBeDefined();
    texts.keep(3, 'transactions', textOf(40));
    expect(texts.find(2, 'transactions')).toBeUndefined();
    expect(texts.find(1, 'transactions')).toBeDefined();
    expect(texts.find(3, 'transactions')).toBeDefined();
    expect(texts.sizeBytes).toBe(80);
  });

  it('does not cache an entry of more than half its size, and no entry twice', () => {
    const texts = new BlockTexts(100);
    texts.keep(1, 'transactions', textOf(51));
    expect(texts.find(1, 'transactions')).toBeUndefined();
    texts.keep(2, 'transactions', textOf(50));
    texts.keep(2, 'transactions', textOf(50));
    expect(texts.sizeBytes).toBe(50);
  });
});

describe('getblock of a cached block', () => {
  let chain: TestChain;
  const texts = new BlockTexts(1 << 20);
  beforeAll(async () => {
    chain = await TestChain.open();
    await chain.mine(101);
    const coinbase = txidAt((await chain.blockAt(1)).parsed, 0);
    chain.pending.push(spend([{ txid: coinbase, n: 0 }], [{ value: 50_000_000n, script: OPEN_SCRIPT }]));
    await chain.mine(1);
  });
  afterAll(() => chain.close());

  const ask = async (
    height: number,
    kept: BlockTexts | null,
    profile: Profile = 'documented',
    verbosity = 2,
  ) => {
    Object.assign(chain.services, { blockTexts: kept });
    const hash = hashToHex((await chain.blockAt(height)).hash);
    const { result } = await chain.call(getBlock, [hash, verbosity], { ...chain.context(), profile });
    return result as Record<string, unknown>;
  };

  it('returns the same answer as without the cache, with current confirmations', async () => {
    const plain = await ask(102, null);
    expect(await ask(102, texts)).toEqual(plain);
    const kept = texts.find(chain.opened.chain.index.active.at(102), 'transactions');
    expect(JSON.parse(kept!.transactions)).toEqual(plain['tx']);
    expect(await ask(102, texts)).toEqual(plain);
    await chain.mine(1);
    const later = await ask(102, texts);
    expect(later).toEqual(await ask(102, null));
    expect(later['confirmations']).toBe(2);
    expect(later['nextblockhash']).toBeDefined();
  });

  it('caches transaction ids in every profile', async () => {
    for (const profile of ['documented', 'lbcd'] as const) {
      const mine = new BlockTexts(1 << 20);
      const plain = await ask(102, null, profile, 1);
      expect(await ask(102, mine, profile, 1)).toEqual(plain);
      const kept = mine.find(chain.opened.chain.index.active.at(102), 'ids');
      expect(JSON.parse(kept!.transactions)).toEqual(plain['tx']);
      expect(await ask(102, mine, profile, 1)).toEqual(plain);
      expect((await ask(102, mine, profile))['tx']).not.toEqual(plain['tx']);
      expect(await ask(102, mine, profile, 0)).toEqual(await ask(102, null, profile, 0));
    }
  });

  it('is not cached if transactions show their confirmations', async () => {
    const mine = new BlockTexts(1 << 20);
    await ask(101, mine, 'lbcd');
    expect(mine.sizeBytes).toBe(0);
  });
});
