import { afterEach, describe, expect, it } from 'vitest';
import { FakeChain, FakeHub } from '../../../support/fakeHub.js';
import { TestLedgers } from '../../../support/testLedger.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';

const ledgers = new TestLedgers();
const TIMES = {
  pingMs: 20,
  retryMs: [10, 50],
  distrustMs: 60_000,
  staleMs: 0,
  checkMs: 5,
  patienceMs: 20,
} as const;

afterEach(async () => {
  await ledgers.closeAll();
  await FakeHub.stopAll();
});

/** A ledger that is connected to the first hub, with its log. */
async function following(hubs: readonly FakeHub[], times: object = {}) {
  const lines: string[] = [];
  const keep = (line: string): void => void lines.push(line);
  const log = { ...SILENT_LOGGER, info: keep, warn: keep };
  const { ledger } = await ledgers.open(hubs, { log, times: { ...TIMES, ...times } });
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise((resolve) => setTimeout(resolve, 2));
  };
  await until(() => hubs[0]!.connections > 0 && ledger.height === hubs[0]!.chain.height);
  return { ledger, lines, until };
}

const nameOf = ({ server: { host, port } }: FakeHub): string => `${host}:${port}`;

describe('a hub that no longer advances', () => {
  it('is abandoned for one that does', async () => {
    const stale = new FakeChain();
    stale.mine(4);
    const advancing = stale.branch(4, 0);
    const [first, second] = [await FakeHub.start(stale), await FakeHub.start(advancing)];
    const { ledger, lines, until } = await following([first, second]);
    advancing.mine(2);
    await until(() => ledger.height === 6 && second.connections > 0 && first.connections === 0);
    await until(() => lines.includes(`Connected to the hub ${nameOf(second)}`));
    expect(lines).toContain(
      `The hub ${nameOf(second)} has blocks that the hub ${nameOf(first)} did not report`,
    );
    expect(lines).toContain(`The hub ${nameOf(first)} does not reach the best known chain`);
  });

  it('is kept when it reaches the blocks in time', async () => {
    const chain = new FakeChain();
    chain.mine(4);
    const other = chain.branch(4, 0);
    const [first, second] = [await FakeHub.start(chain), await FakeHub.start(other)];
    const { ledger, lines, until } = await following([first, second], { patienceMs: 600_000 });
    other.mine(2);
    await until(() => lines.some((line) => line.includes('is behind')));
    expect(ledger.height).toBe(6);
    chain.blocks.push(...other.blocks.slice(5));
    chain.mine(1);
    first.tell();
    await until(() => ledger.height === 7);
    expect(lines.join('\n')).not.toContain('does not reach');
    expect(first.connections).toBe(1);
  });

  it('is kept if the other one only claims to have more', async () => {
    const chain = new FakeChain();
    chain.mine(4);
    const [first, liar] = [await FakeHub.start(chain), await FakeHub.start(chain.branch(4, 0))];
    const { ledger, lines, until } = await following([first, liar]);
    liar.answer = (method) =>
      method === 'blockchain.headers.subscribe' ? { hex: '00'.repeat(112), height: 9 } : undefined;
    const asked = liar.asked.length;
    await until(() => liar.asked.length > asked + 2);
    await until(() => liar.connections === 0);
    expect([ledger.height, first.connections]).toEqual([4, 1]);
    expect(lines.join('\n')).not.toContain('did not report');
  });
});
