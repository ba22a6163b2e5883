import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { txidAt } from '../../../../../src/primitives/blockView.js';
import { getBlockStats } from '../../../../../src/rpc/methods/blockchain/getBlockStats.js';
import { hashToHex } from '../../../../../src/util/bytes.js';
import { OPEN_SCRIPT, spend, TestChain } from '../../../../support/testChain.js';

/** Size of an output with a script of this length, as the reference counts it. */
const coinBytes = (scriptLength: number): number => 8 + 1 + scriptLength + 41;

describe('getblockstats', () => {
  let chain: TestChain;
  beforeAll(async () => {
    chain = await TestChain.open();
    await chain.mine(104);
    // Fees of 100, 400 and 1,000 satoshis on transactions of 61, 61 and 71 bytes.
    const outputs: [number, bigint[]][] = [
      [1, [99_999_900n]],
      [2, [99_999_600n]],
      [3, [50_000_000n, 49_999_000n]],
    ];
    for (const [height, values] of outputs) {
      const coinbase = txidAt((await chain.blockAt(height)).parsed, 0);
      chain.pending.push(
        spend(
          [{ txid: coinbase, n: 0 }],
          values.map((value) => ({ value, script: OPEN_SCRIPT })),
        ),
      );
    }
    await chain.mine(1);
  });
  afterAll(() => chain.close());

  it('returns every statistic', async () => {
    const block = await chain.blockAt(105);
    const { active } = chain.opened.chain.index;
    const sizes = [61, 61, 71];
    expect((await chain.call(getBlockStats, [105])).result).toEqual({
      avgfee: 500,
      avgfeerate: Math.trunc(1500 / 193),
      avgtxsize: Math.trunc(193 / 3),
      blockhash: hashToHex(block.hash),
      feerate_percentiles: [1, 1, 6, 14, 14],
      height: 105,
      ins: 3,
      maxfee: 1000,
      maxfeerate: Math.trunc(1000 / 71),
      maxtxsize: 71,
      medianfee: 400,
      mediantime: active.medianTimeOf(active.at(105)),
      mediantxsize: 61,
      minfee: 100,
      minfeerate: Math.trunc(100 / 61),
      mintxsize: 61,
      outs: 6,
      subsidy: 100_000_000,
      swtotal_size: 0,
      swtotal_weight: 0,
      swtxs: 0,
      time: block.header.timeSec,
      total_out: 99_999_900 + 99_999_600 + 99_999_000,
      total_size: sizes.reduce((a, b) => a + b),
      total_weight: 4 * sizes.reduce((a, b) => a + b),
      totalfee: 1500,
      txs: 4,
      utxo_increase: 3,
      // Six new outputs, one of them with the commitment's 38 bytes; three spent.
      utxo_size_inc: 5 * coinBytes(1) + coinBytes(38) - 3 * coinBytes(1),
    });
  });

  it('returns zeros for a block with only a coinbase', async () => {
    const { result } = await chain.call(getBlockStats, [50]);
    expect(result).toMatchObject({
      avgfee: 0,
      minfee: 0,
      mintxsize: 0,
      medianfee: 0,
      txs: 1,
      outs: 2,
      feerate_percentiles: [0, 0, 0, 0, 0],
      utxo_size_inc: coinBytes(1) + coinBytes(38),
    });
  });

  it('returns the requested statistics, sorted and without repetition', async () => {
    const selected = ['txs', 'height', 'txs', 'avgfee'];
    const { result } = await chain.call(getBlockStats, [105, selected]);
    expect(Object.entries(result as object)).toEqual([
      ['avgfee', 500],
      ['height', 105],
      ['txs', 4],
    ]);
    const hash = hashToHex((await chain.blockAt(105)).hash);
    expect((await chain.call(getBlockStats, [hash, selected])).result).toEqual(result);
  });

  it('refuses unknown blocks and statistics', async () => {
    const cases: [Parameters<TestChain['call']>[1], number, string][] = [
      [[-1], -8, 'Target block height -1 is negative'],
      [[106], -8, 'Target block height 106 after current tip 105'],
      [['x'], -5, 'Block not found'],
      [[105, ['avgfee', 'nothing']], -8, 'Invalid selected statistic nothing'],
      [[105, [1]], -1, 'JSON value is not a string as expected'],
      [[105, 'avgfee'], -1, 'JSON value is not an array as expected'],
    ];
    for (const [params, code, message] of cases) {
      expect(await chain.call(getBlockStats, params)).toEqual({ error: { code, message } });
    }
  });

  it('names the network in the error about a block of a side branch', async () => {
    const { chain: core } = chain.opened;
    const tip = core.tip;
    const hash = hashToHex(core.index.headers.hash(tip));
    await core.invalidateBlock(tip);
    const answer = await chain.call(getBlockStats, [hash], chain.context('lbrycrd'));
    await core.reconsiderBlock(tip);
    expect(answer.error).toEqual({ code: -8, message: 'Block is not in chain lbrycrdreg' });
  });

  it('needs the transaction index for fees only in the lbrycrd profile', async () => {
    const services = { ...chain.services, txIndex: null };
    const context = { ...chain.context('lbrycrd'), services };
    expect(await chain.call(getBlockStats, [105], context)).toEqual({
      error: { code: -8, message: 'One or more of the selected stats requires -txindex enabled' },
    });
    expect(await chain.call(getBlockStats, [105, ['txs']], context)).toEqual({ result: { txs: 4 } });
    expect(await chain.call(getBlockStats, [105, ['avgfee']], { ...chain.context(), services })).toEqual({
      result: { avgfee: 500 },
    });
  });
});
