import { expect, it } from 'vitest';
import { Reorganisation } from '../../../src/chain/reorganisation.js';
import { TestChain } from '../../support/testChain.js';

it('is over once, however many blocks it takes back', async () => {
  const reorganisation = new Reorganisation();
  reorganisation.end();
  expect(reorganisation.over).toBeNull();
  reorganisation.begin();
  const { over } = reorganisation;
  reorganisation.begin();
  expect(reorganisation.over).toBe(over);
  reorganisation.end();
  await over;
  expect(reorganisation.over).toBeNull();
});

it('lasts from the first block that is taken back until the mempool has looked at all of them', async () => {
  const test = await TestChain.open();
  const { chain } = test.opened;
  const { reorganisation } = chain;
  const told: string[] = [];
  const tell = (what: string): void => void told.push(`${what} ${reorganisation.over !== null}`);
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
  expect(told).toEqual([
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

it('is over when the chain fails in the midst of it', async () => {
  const test = await TestChain.open();
  const { chain } = test.opened;
  await test.mine(2);
  chain.afterStep.push(() => Promise.reject(new Error('no')));
  const failing = chain.invalidateBlock(chain.index.active.at(1)).catch(String);
  expect(await failing).toContain('no');
  expect(chain.reorganisation.over).toBeNull();
  await test.close();
});
