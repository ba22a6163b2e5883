import { expect, it } from 'vitest';
import { loadBlock, type LoadedBlock } from '../../../src/chain/blocks/loadedBlock.js';
import { Reorganisation } from '../../../src/chain/reorganisation.js';
import { grind } from '../../../src/mining/grind.js';
import { decodeCompact } from '../../../src/primitives/compactTarget.js';
import { formatHeader, type BlockHeader } from '../../../src/primitives/header.js';
import { ADDRESS_SCRIPT, TestChain } from '../../support/testChain.js';

it('ends once, after any number of blocks', async () => {
  const reorganisation = new Reorganisation();
  reorganisation.end();
  expect(reorganisation.over).toBeNull();
  expect([reorganisation.isWhole, reorganisation.count]).toEqual([true, 0]);
  reorganisation.begin();
  expect([reorganisation.isWhole, reorganisation.count]).toEqual([false, 1]);
  const { over } = reorganisation;
  reorganisation.begin();
  expect(reorganisation.over).toBe(over);
  reorganisation.end();
  await over;
  expect(reorganisation.over).toBeNull();
  expect([reorganisation.isWhole, reorganisation.count]).toEqual([true, 1]);
});

/** The block with another header, mined. */
async function mined(block: LoadedBlock, change: Partial<BlockHeader>): Promise<LoadedBlock> {
  const header = { ...block.header, ...change };
  const { target } = decodeCompact(header.bits);
  header.nonce = await grind(formatHeader(header), target, 1_000_000, new AbortController().signal);
  const bytes = formatHeader(header);
  return loadBlock(Buffer.concat([bytes, block.raw.subarray(bytes.length)]));
}

it('lasts until a branch with an invalid block is left again', async () => {
  const test = await TestChain.open();
  const rival = await TestChain.open();
  const { chain } = test.opened;
  await test.mine(3);
  await rival.mine(2, ADDRESS_SCRIPT);
  const branch = [await rival.blockAt(1), await rival.blockAt(2)];
  const wrong = await mined(await rival.makeBlock(), { claimRoot: Buffer.alloc(32, 7) });
  await rival.mine(1, ADDRESS_SCRIPT);
  const above = await mined(await rival.makeBlock(), { prevHash: wrong.hash });
  await rival.close();
  const { tip } = chain;
  const reported: string[] = [];
  const tell = (what: string): void => void reported.push(`${what} ${chain.reorganisation.isWhole}`);
  chain.events.on('blockDisconnected', ({ height }) => tell(`gone ${height}`));
  chain.events.on('blockConnected', ({ height }) => tell(`there ${height}`));
  chain.events.on('tipChanged', ({ height }) => tell(`tip ${height}`));
  chain.afterStep.push(async () => tell('looked at'));
  for (const block of [...branch, wrong]) expect((await chain.processBlock(block, true)).error).toBeNull();
  expect(reported).toEqual([]);
  await chain.processBlock(above, true);
  expect(chain.tip).toBe(tip);
  expect(chain.reorganisation.isWhole).toBe(true);
  expect(reported).toEqual([
    ...['gone 3', 'gone 2', 'gone 1', 'there 1', 'there 2', 'looked at'].map((what) => `${what} false`),
    ...['gone 2', 'gone 1', 'there 1', 'there 2', 'there 3', 'looked at'].map((what) => `${what} false`),
  ]);
  await test.close();
});

it('lasts until a branch is left again because its best block is invalid', async () => {
  const test = await TestChain.open();
  const rival = await TestChain.open();
  const { chain } = test.opened;
  await test.mine(2);
  await rival.mine(2, ADDRESS_SCRIPT);
  const branch = [await rival.blockAt(1), await rival.blockAt(2)];
  const wrong = await mined(await rival.makeBlock(), { claimRoot: Buffer.alloc(32, 7) });
  await rival.close();
  const { tip } = chain;
  const reported: string[] = [];
  const tell = (what: string): void => void reported.push(`${what} ${chain.reorganisation.isWhole}`);
  chain.events.on('blockDisconnected', ({ height }) => tell(`gone ${height}`));
  chain.events.on('blockConnected', ({ height }) => tell(`there ${height}`));
  chain.events.on('tipChanged', ({ height }) => tell(`tip ${height}`));
  for (const block of branch) expect((await chain.processBlock(block, true)).error).toBeNull();
  await chain.processBlock(wrong, true);
  expect(chain.tip).toBe(tip);
  const once = ['gone 2', 'gone 1', 'there 1', 'there 2'].map((what) => `${what} false`);
  expect(reported).toEqual([...once, ...once]);
  expect([chain.reorganisation.isWhole, chain.reorganisation.count]).toEqual([true, 1]);
  await test.close();
});

it('lasts from the first disconnected block until the mempool has processed all of them', async () => {
  const test = await TestChain.open();
  const { chain } = test.opened;
  const { reorganisation } = chain;
  const reported: string[] = [];
  const tell = (what: string): void => void reported.push(`${what} ${reorganisation.over !== null}`);
  await test.mine(3);
  chain.events.on('blockDisconnected', ({ height }) => tell(`gone ${height}`));
  chain.events.on('blockConnected', ({ height }) => tell(`there ${height}`));
  chain.events.on('tipChanged', ({ height }) => tell(`tip ${height}`));
  chain.afterStep.push(async () => {
    await new Promise((resolve) => setImmediate(resolve));
    tell('looked at');
  });
  const second = chain.index.active.at(2);
  await chain.invalidateBlock(second);
  tell('answered');
  await chain.reconsiderBlock(second);
  tell('answered');
  expect(reported).toEqual([
    'gone 3 true',
    'gone 2 true',
    'looked at true',
    'tip 1 false',
    'answered false',
    'there 2 false',
    'looked at false',
    'tip 2 false',
    'there 3 false',
    'looked at false',
    'tip 3 false',
    'answered false',
  ]);
  await test.close();
});

it('ends if the chain fails during it', async () => {
  const test = await TestChain.open();
  const { chain } = test.opened;
  await test.mine(2);
  chain.afterStep.push(() => Promise.reject(new Error('no')));
  const failing = chain.invalidateBlock(chain.index.active.at(1)).catch(String);
  expect(await failing).toContain('no');
  expect(chain.reorganisation.over).toBeNull();
  expect(chain.reorganisation.isWhole).toBe(false);
  await test.close();
});
