import { expect, it } from 'vitest';
import { Random } from '../differential/support.js';
import { fuzz } from './support/campaign.js';
import { memoryOf } from '../support/memory.js';
import { netMessagesTarget, type Tally } from './targets/netMessages.js';

it('reads any stream of messages, or refuses it', async () => {
  const tally: Tally = new Map();
  const { outcomes } = await fuzz(netMessagesTarget(tally), 100_000);
  const messages = [...tally.values()].reduce((sum, count) => sum + count, 0);
  console.log(`${messages} messages: ${[...tally].map(([what, count]) => `${count} ${what}`).join(', ')}`);
  expect(messages).toBeGreaterThan(200_000);
  expect(outcomes.get('whole')).toBeGreaterThan(0);
});

it('keeps nothing of what it read', async () => {
  const target = netMessagesTarget(new Map());
  const work = (from: number) => () => {
    for (let seed = from; seed < from + 10_000; seed++) void target.check(target.make(new Random(seed)));
  };
  await memoryOf(work(0));
  const use = await memoryOf(work(10_000));
  console.log(`10,000 streams: kept ${use.keptBytes} bytes, peak ${Math.round(use.peakBytes / 2 ** 20)} MiB`);
  expect(use.keptBytes).toBeLessThan(4 << 20);
  expect(use.peakBytes).toBeLessThan(256 << 20);
});
