import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ClaimEvent } from '../../../../src/claimtrie/types.js';
import { claimNotices } from '../../../../src/server/notifications/claimNotice.js';
import { hashFromHex } from '../../../../src/util/bytes.js';
import { parseFixedPoint } from '../../../../src/util/json.js';

interface Example {
  event: ClaimEvent['type'];
  disconnected: boolean;
  blockhash: string;
  height: number;
  events: number;
  index: number;
  name: string;
  namehex?: string;
  normalized_name?: string;
  claimId: string;
  formerClaimId?: string;
  txid: string;
  n: number;
  isSupport?: boolean;
  validAtHeight?: number;
  active?: boolean;
  spentBy?: string;
}

/** The examples of the documentation that are whole messages, as they are printed. */
function examples(): string[] {
  const text = readFileSync(new URL('../../../../docs/notifications.md', import.meta.url), 'utf8');
  return [...text.matchAll(/```json\n(.*?)```/gs)]
    .map(([, json]) => json!)
    .filter((json) => json.includes('"blockhash"'));
}

/** The event that an example tells of. */
function eventOf(example: Example, amount: string): ClaimEvent {
  const { event: type, name, namehex, normalized_name: filed = name } = example;
  const isOutput = type !== 'takeover';
  return {
    type,
    name: namehex === undefined ? Buffer.from(filed) : Buffer.from(namehex, 'hex'),
    ...(isOutput ? { rawName: namehex === undefined ? Buffer.from(name) : Buffer.from(namehex, 'hex') } : {}),
    claimId: hashFromHex(example.claimId),
    txid: hashFromHex(example.txid),
    n: example.n,
    amount: parseFixedPoint(amount, 8)!,
    ...(isOutput ? { isSupport: example.isSupport ?? type === 'support' } : {}),
    ...(example.validAtHeight === undefined ? {} : { validAtHeight: example.validAtHeight }),
    ...(example.active === undefined ? {} : { isActive: example.active }),
    ...(example.spentBy === undefined ? {} : { spentBy: hashFromHex(example.spentBy) }),
    ...(example.formerClaimId === undefined ? {} : { formerClaimId: hashFromHex(example.formerClaimId) }),
  };
}

describe('the message about a claim', () => {
  it('is as documented, of every kind', () => {
    const kinds = new Set<string>();
    for (const printed of examples()) {
      const example = JSON.parse(printed) as Example;
      const event = eventOf(example, /"amount": ([0-9.]+)/.exec(printed)![1]!);
      kinds.add(event.type);
      const block = {
        hash: hashFromHex(example.blockhash),
        height: example.height,
        claimEvents: Array.from({ length: example.events }, () => event),
      };
      const notices = claimNotices(block, !example.disconnected).map(({ json }) => json);
      const told = (example.disconnected ? notices.toReversed() : notices)[example.index];
      // To the letter, spaces aside.
      expect(told).toBe(printed.replace(/\n\s*/g, '').replace(/": /g, '":'));
    }
    const all = ['claim', 'update', 'support', 'activation', 'abandon', 'expiration', 'takeover'];
    expect([...kinds].sort()).toEqual(all.sort());
  });

  it('shows any amount exactly, and a name that lost its owner without one', () => {
    const block = { hash: Buffer.alloc(32), height: 1 };
    const amount = 2n ** 63n - 1n;
    const huge: ClaimEvent = { type: 'claim', name: Buffer.from('a'), amount };
    const lost: ClaimEvent = { type: 'takeover', name: Buffer.alloc(0), formerClaimId: Buffer.alloc(20, 1) };
    const [first, second] = claimNotices({ ...block, claimEvents: [huge, lost] }, true);
    expect(first!.json).toContain('"amount":92233720368.54775807');
    expect(JSON.parse(second!.json)).toEqual({
      event: 'takeover',
      disconnected: false,
      blockhash: '00'.repeat(32),
      height: 1,
      events: 2,
      index: 1,
      name: '',
      formerClaimId: '01'.repeat(20),
    });
  });
});
