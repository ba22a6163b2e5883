import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { networkParams } from '../../../../src/params/networks.js';
import { parseBlockView } from '../../../../src/primitives/blockView.js';
import { formatTransaction, txid } from '../../../../src/primitives/transaction.js';
import { addressPrefixes } from '../../../../src/rpc/format/addresses.js';
import { ShownMetadata } from '../../../../src/rpc/format/claimMetadata.js';
import {
  buildClaimPrefix,
  buildSupportPrefix,
  buildUpdatePrefix,
} from '../../../../src/script/claimScript.js';
import type { JsonOut } from '../../../../src/util/json/jsonWrite.js';
import { spend } from '../../../support/testChain.js';
import type { ClaimEvent } from '../../../../src/claimtrie/types.js';
import { claimNotices } from '../../../../src/server/notifications/claimNotice.js';
import { hashFromHex } from '../../../../src/util/bytes.js';
import { parseFixedPoint } from '../../../../src/util/json/json.js';

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

/** The examples of complete messages in the documentation. */
function examples(): string[] {
  const text = readFileSync(new URL('../../../../docs/notifications.md', import.meta.url), 'utf8');
  return [...text.matchAll(/```json\n(.*?)```/gs)]
    .map(([, json]) => json!)
    .filter((json) => json.includes('"blockhash"'));
}

/** The event that an example reports. */
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
  it('has the documented form, for every kind', () => {
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
      const reported = (example.disconnected ? notices.toReversed() : notices)[example.index];
      // Equal except for white space.
      expect(reported).toBe(printed.replace(/\n\s*/g, '').replace(/": /g, '":'));
    }
    const all = ['claim', 'update', 'support', 'activation', 'abandon', 'expiration', 'takeover'];
    expect([...kinds].sort()).toEqual(all.sort());
  });

  it('contains the content of new outputs with -claimmetadata, on request', () => {
    const title = Buffer.from('hello');
    const stream = Buffer.concat([Buffer.from('000a004205', 'hex'), title]);
    const support = Buffer.concat([Buffer.from('000a02', 'hex'), Buffer.from('ok')]);
    const name = Buffer.from('a');
    const scripts = [
      buildClaimPrefix(name, stream),
      buildUpdatePrefix(name, Buffer.alloc(20), Buffer.of(0xff)),
      buildSupportPrefix(name, Buffer.alloc(20), support),
      buildSupportPrefix(name, Buffer.alloc(20)),
    ].map((prefix) => Buffer.concat([prefix, Buffer.of(0x51)]));
    const tx = spend(
      [{ txid: Buffer.alloc(32, 1), n: 0 }],
      scripts.map((script) => ({ value: 1n, script })),
    );
    const raw = Buffer.concat([Buffer.alloc(112), Buffer.of(1), formatTransaction(tx)]);
    const parsed = parseBlockView(raw);
    const types = ['claim', 'update', 'support', 'support', 'abandon'] as const;
    const events = types.map((type, n): ClaimEvent => ({ type, name, amount: 1n, txid: txid(tx), n: n % 4 }));
    const block = { hash: Buffer.alloc(32), height: 1, claimEvents: events, raw, parsed };
    let decoded = 0;
    class Counting extends ShownMetadata {
      override now(...args: Parameters<ShownMetadata['now']>): Record<string, JsonOut> {
        decoded++;
        return super.now(...args);
      }
    }
    const metadata = new Counting(addressPrefixes(networkParams('regtest')));
    const notices = claimNotices(block, true, { block, metadata });
    expect(decoded).toBe(0);
    const reported = notices.map(({ json }) => JSON.parse(json) as { value?: string; metadata?: unknown });
    expect(reported.map(({ value }) => value)).toEqual([
      stream.toString('hex'),
      'ff',
      support.toString('hex'),
      undefined,
      undefined,
    ]);
    expect(reported.map((message) => message.metadata)).toEqual([
      { kind: 'stream', value: { title: 'hello' } },
      { error: expect.stringMatching(/./) as unknown },
      { kind: 'support', value: { emoji: 'ok' } },
      undefined,
      undefined,
    ]);
    expect(decoded).toBe(3);
    expect(claimNotices(block, true).map(({ json }) => json.includes('metadata'))).not.toContain(true);
  });

  it('contains any amount exactly, and no owner for a name that lost it', () => {
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
