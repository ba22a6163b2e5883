import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { getBlockchainInfo } from '../../../../../src/rpc/methods/blockchain/getBlockchainInfo.js';
import { getChainTips } from '../../../../../src/rpc/methods/blockchain/getChainTips.js';
import { getChainTxStats } from '../../../../../src/rpc/methods/blockchain/getChainTxStats.js';
import { preciousBlock } from '../../../../../src/rpc/methods/blockchain/preciousBlock.js';
import { verifyChain } from '../../../../../src/rpc/methods/blockchain/verifyChain.js';
import { invalidateBlock } from '../../../../../src/rpc/methods/hidden/invalidateBlock.js';
import { reconsiderBlock } from '../../../../../src/rpc/methods/hidden/reconsiderBlock.js';
import { hashToHex } from '../../../../../src/util/bytes.js';
import { ADDRESS_SCRIPT, TestChain } from '../../../../support/testChain.js';

describe('methods about the state of the chain', () => {
  let chain: TestChain;
  let hashes: string[];
  beforeAll(async () => {
    chain = await TestChain.open();
    hashes = (await chain.mine(145)).map(hashToHex);
  });
  afterAll(() => chain.close());

  it('getblockchaininfo returns an overview', async () => {
    const { result } = await chain.call(getBlockchainInfo);
    expect(result).toMatchObject({
      chain: 'regtest',
      blocks: 145,
      headers: 145,
      bestblockhash: hashes[144],
      verificationprogress: 1,
      chainwork: (146 * 2).toString(16).padStart(64, '0'),
      pruned: false,
      softforks: [
        { id: 'bip34', version: 2, reject: { status: false } },
        { id: 'bip66', version: 3, reject: { status: false } },
        { id: 'bip65', version: 4, reject: { status: false } },
      ],
      bip9_softforks: {
        csv: {
          status: 'started',
          bit: 0,
          startTime: 0,
          since: 144,
          statistics: { period: 144, threshold: 108, elapsed: 2, count: 2, possible: true },
        },
        segwit: { status: 'failed', startTime: -1, since: 0 },
      },
      warnings: 'a warning',
    });
    expect((result as { size_on_disk: number }).size_on_disk).toBeGreaterThan(145 * 250);
    expect(result).not.toHaveProperty('pruneheight');
  });

  it('the network has the name of the profile', async () => {
    const name = async (profile: 'lbrycrd' | 'lbcd'): Promise<unknown> =>
      ((await chain.call(getBlockchainInfo, [], chain.context(profile))).result as { chain: string }).chain;
    expect(await name('lbrycrd')).toBe('lbrycrdreg');
    expect(await name('lbcd')).toBe('regtest');
  });

  it('getchaintxstats counts transactions over a window', async () => {
    const { headers, chain: core } = chain.opened.reader;
    const { active } = core.index;
    const seconds = active.medianTimeOf(active.at(145)) - active.medianTimeOf(active.at(135));
    expect((await chain.call(getChainTxStats, [10])).result).toEqual({
      time: headers.timeSec(core.tip),
      txcount: 146,
      window_final_block_hash: hashes[144],
      window_block_count: 10,
      window_tx_count: 10,
      window_interval: seconds,
      txrate: 10 / seconds,
    });
    expect((await chain.call(getChainTxStats, [0, hashes[9]!])).result).toEqual({
      time: headers.timeSec(active.at(10)),
      txcount: 11,
      window_final_block_hash: hashes[9],
      window_block_count: 0,
    });
    expect((await chain.call(getChainTxStats)).result).toMatchObject({ window_block_count: 144 });
  });

  it('getchaintxstats refuses windows that exceed the chain', async () => {
    const message = "Invalid block count: should be between 0 and the block's height - 1";
    for (const count of [-1, 145]) {
      expect(await chain.call(getChainTxStats, [count])).toEqual({ error: { code: -8, message } });
    }
    expect(await chain.call(getChainTxStats, [1, '00'])).toEqual({
      error: { code: -5, message: 'Block not found' },
    });
  });

  it('getchaintips lists the tips of all branches, and preciousblock prefers one', async () => {
    const first = hashes[144]!;
    await chain.call(invalidateBlock, [first]);
    const [second] = (await chain.mine(1, ADDRESS_SCRIPT)).map(hashToHex);
    const branch = { branchlen: 1, branchhash: hashes[143] };
    expect((await chain.call(getChainTips)).result).toEqual([
      { height: 145, hash: first, ...branch, branchhashNext: first, status: 'invalid' },
      { height: 145, hash: second, branchlen: 0, status: 'active' },
    ]);
    expect(await chain.call(reconsiderBlock, [first])).toEqual({ result: null });
    expect(await chain.call(preciousBlock, [second!])).toEqual({ result: null });
    expect((await chain.call(getChainTips)).result).toEqual([
      { height: 145, hash: first, ...branch, branchhashNext: first, status: 'valid-fork' },
      { height: 145, hash: second, branchlen: 0, status: 'active' },
    ]);
    expect(await chain.call(preciousBlock, [first])).toEqual({ result: null });
    expect((await chain.call(getChainTips)).result).toMatchObject([
      { hash: first, status: 'active' },
      { hash: second, status: 'valid-fork' },
    ]);
    expect((await chain.call(getChainTxStats, [1, second!])).error).toEqual({
      code: -8,
      message: 'Block is not in main chain',
    });
  });

  it('unknown blocks give the error -5', async () => {
    for (const method of [invalidateBlock, reconsiderBlock, preciousBlock]) {
      expect(await chain.call(method, ['00'])).toEqual({ error: { code: -5, message: 'Block not found' } });
    }
  });

  it('verifychain checks at every level, and limits values to the range', async () => {
    for (const level of [-1, 0, 1, 2, 3, 4, 9]) {
      expect(await chain.call(verifyChain, [level, 20])).toEqual({ result: true });
    }
    expect(await chain.call(verifyChain, [4, 0])).toEqual({ result: true });
    expect(await chain.call(verifyChain)).toEqual({ result: true });
  });
});
