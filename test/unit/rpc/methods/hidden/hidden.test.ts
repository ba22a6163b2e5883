import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mainParams } from '../../../../../src/params/main.js';
import { getInfo } from '../../../../../src/rpc/methods/hidden/getInfo.js';
import { setMockTime } from '../../../../../src/rpc/methods/hidden/setMockTime.js';
import { syncWithValidationInterfaceQueue } from '../../../../../src/rpc/methods/hidden/syncWithValidationInterfaceQueue.js';
import { waitForBlock } from '../../../../../src/rpc/methods/hidden/waitForBlock.js';
import { waitForBlockHeight } from '../../../../../src/rpc/methods/hidden/waitForBlockHeight.js';
import { waitForNewBlock } from '../../../../../src/rpc/methods/hidden/waitForNewBlock.js';
import { getIndexInfo } from '../../../../../src/rpc/methods/util/getIndexInfo.js';
import { hashToHex } from '../../../../../src/util/bytes.js';
import { TestChain } from '../../../../support/testChain.js';

describe('hidden methods', () => {
  let chain: TestChain;
  beforeAll(async () => {
    chain = await TestChain.open();
    await chain.mine(2);
  });
  afterAll(() => chain.close());

  const tip = (): unknown => {
    const { headers, chain: core } = chain.opened.reader;
    return { hash: hashToHex(headers.hash(core.tip)), height: core.height };
  };

  it('wait for another tip', async () => {
    const waiting = chain.call(waitForNewBlock);
    const [hash] = await chain.mine(1);
    expect(await waiting).toEqual({ result: { hash: hashToHex(hash!), height: 3 } });
  });

  it('wait for a height, or for a block', async () => {
    expect(await chain.call(waitForBlockHeight, [2])).toEqual({ result: tip() });
    const forHeight = chain.call(waitForBlockHeight, [5]);
    let done = false;
    void forHeight.then(() => (done = true));
    await chain.mine(1);
    expect(done).toBe(false);
    await chain.mine(1);
    expect(await forHeight).toEqual({ result: tip() });
    const { hash } = tip() as { hash: string };
    expect(await chain.call(waitForBlock, [hash])).toEqual({ result: tip() });
  });

  it('return the tip at the timeout, or when the client disconnects', async () => {
    expect(await chain.call(waitForNewBlock, [5])).toEqual({ result: tip() });
    expect(await chain.call(waitForBlock, ['00', 5])).toEqual({ result: tip() });
    expect(await chain.call(waitForBlockHeight, [99, -1])).toEqual({ result: tip() });
    const gone = new AbortController();
    const waiting = chain.call(waitForNewBlock, [], chain.context('documented', gone.signal));
    gone.abort();
    expect(await waiting).toEqual({ result: tip() });
    expect(await chain.call(waitForNewBlock, [], chain.context('documented', gone.signal))).toEqual({
      result: tip(),
    });
  });

  it('wait for the work in the chain queue', async () => {
    let release = (): void => undefined;
    const busy = chain.opened.chain.exclusively(() => new Promise<void>((resolve) => (release = resolve)));
    let done = false;
    const waiting = chain.call(syncWithValidationInterfaceQueue).then((answer) => {
      done = true;
      return answer;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).toBe(false);
    release();
    await busy;
    expect(await waiting).toEqual({ result: null });
  });

  it('set the clock on regtest', async () => {
    expect(await chain.call(setMockTime, [1_700_000_000])).toEqual({ result: null });
    expect(chain.timeSec).toBe(1_700_000_000);
    const services = { ...chain.services, params: mainParams };
    expect(await chain.call(setMockTime, [1], { ...chain.context(), services })).toEqual({
      error: { code: -1, message: 'setmocktime for regression testing (-regtest mode) only' },
    });
    expect(await chain.call(setMockTime, ['x'])).toEqual({
      error: { code: -3, message: 'Expected type number, got string' },
    });
  });

  it('return an overview for pools', async () => {
    expect((await chain.call(getInfo)).result).toMatchObject({
      version: 10_000,
      protocolversion: 70_015,
      blocks: chain.opened.chain.height,
      timeoffset: -1,
      connections: 3,
      proxy: '',
      testnet: false,
      relayfee: 0.00001,
      errors: 'a warning',
    });
  });

  it('list the enabled indexes', async () => {
    const txindex = { synced: true, best_block_height: chain.opened.chain.height };
    expect(await chain.call(getIndexInfo)).toEqual({ result: { txindex } });
    expect(await chain.call(getIndexInfo, ['txindex'])).toEqual({ result: { txindex } });
    expect(await chain.call(getIndexInfo, ['other'])).toEqual({ result: {} });
    const services = { ...chain.services, indexes: () => [] };
    expect(await chain.call(getIndexInfo, [], { ...chain.context(), services })).toEqual({ result: {} });
  });
});
