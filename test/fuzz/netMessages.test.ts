import { expect, it } from 'vitest';
import { MESSAGES } from '../../src/net/messages/table.js';
import { fuzz } from './support/campaign.js';
import { netMessagesTarget, type Tally } from './targets/netMessages.js';

it('reads any stream of messages, or refuses it', async () => {
  const tally: Tally = new Map();
  const { outcomes } = await fuzz(netMessagesTarget(tally), 1_500);
  for (const outcome of ['whole', 'damaged', 'magic', 'oversize'])
    expect(outcomes.get(outcome), outcome).toBeGreaterThan(5);
  for (const command of Object.keys(MESSAGES)) {
    expect(tally.get(`${command} read`), command).toBeGreaterThan(20);
  }
  for (const command of [
    'addr',
    'inv',
    'cmpctblock',
    'blocktxn',
    'version',
    'reject',
    'headers',
    'merkleblock',
  ]) {
    expect(tally.get(`${command} refused`), command).toBeGreaterThan(5);
  }
});
