import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { regtestParams } from '../../../../../src/params/regtest.js';
import { getBlock } from '../../../../../src/rpc/methods/blockchain/getBlock.js';
import { getBlockchainInfo } from '../../../../../src/rpc/methods/blockchain/getBlockchainInfo.js';
import { pruneBlockchain } from '../../../../../src/rpc/methods/blockchain/pruneBlockchain.js';
import { hashToHex } from '../../../../../src/util/bytes.js';
import { START_TIME_SEC, TestChain } from '../../../../support/testChain.js';

describe('pruneblockchain', () => {
  let chain: TestChain;
  beforeAll(async () => {
    chain = await TestChain.open({ prune: true, params: { ...regtestParams, pruneAfterHeight: 300 } });
    await chain.mine(290);
    // The next block begins another file, as if the first were full.
    chain.opened.chain.deps.files['current' as never] = 1 as never;
  });
  afterAll(() => chain.close());

  it('is refused by a node that does not prune', async () => {
    const context = { ...chain.context(), services: { ...chain.services, pruner: null } };
    expect(await chain.call(pruneBlockchain, [1], context)).toEqual({
      error: { code: -1, message: 'Cannot prune blocks because node is not in prune mode.' },
    });
  });

  it('refuses a chain that is too short', async () => {
    expect(await chain.call(pruneBlockchain, [1])).toEqual({
      error: { code: -1, message: 'Blockchain is too short for pruning.' },
    });
    await chain.mine(310);
    expect(await chain.call(pruneBlockchain, [601])).toEqual({
      error: { code: -8, message: 'Blockchain is shorter than the attempted prune height.' },
    });
    expect(await chain.call(pruneBlockchain, [-1])).toEqual({
      error: { code: -8, message: 'Negative block height.' },
    });
    expect(await chain.call(pruneBlockchain, [2_000_000_000])).toEqual({
      error: { code: -8, message: 'Could not find block with at least the specified timestamp.' },
    });
  });

  it('deletes whole files, and returns the height of the last pruned block', async () => {
    // The first file ends with block 290.
    expect(await chain.call(pruneBlockchain, [289])).toEqual({ result: -1 });
    expect(await chain.call(pruneBlockchain, [START_TIME_SEC + 7200])).toEqual({ result: -1 });
    expect(await chain.call(pruneBlockchain, [295], chain.context('lbrycrd'))).toEqual({ result: 295 });
    expect(await chain.call(pruneBlockchain, [300])).toEqual({ result: 290 });
    expect((await chain.call(getBlockchainInfo)).result).toMatchObject({
      pruned: true,
      pruneheight: 291,
      automatic_pruning: false,
    });
    const { headers, chain: core } = chain.opened.reader;
    const hash = (height: number): string => hashToHex(headers.hash(core.index.active.at(height)));
    expect(await chain.call(getBlock, [hash(290)])).toEqual({
      error: { code: -1, message: 'Block not available (pruned data)' },
    });
    expect(await chain.call(getBlock, [hash(291)])).toHaveProperty('result');
  });
});
