import { describe, expect, it } from 'vitest';
import type { BloomFilter } from '../../../../src/net/bloom/bloomFilter.js';
import { MAX_BLOOM_FILTER_SIZE, MAX_HASH_FUNCTIONS } from '../../../../src/net/bloom/bloomFilter.js';
import { MAX_FILTER_ITEM_SIZE } from '../../../../src/net/messages/filters/filteradd.js';
import { BloomFilters } from '../../../../src/net/relay/bloomFilters.js';
import { parseTxView } from '../../../../src/primitives/blockView.js';
import { formatTransaction } from '../../../../src/primitives/transaction.js';
import { PartHost } from '../../../support/fakePeer.js';
import { numberedTx } from './support.js';

const EMPTY = { data: Buffer.alloc(8), hashFunctions: 3, tweak: 1, flags: 0 };

function make(servesFilters = true): { filters: BloomFilters; host: PartHost } {
  const filters = new BloomFilters({ servesFilters });
  return { filters, host: new PartHost([filters]) };
}

describe('filters of peers', () => {
  it('are set, extended and removed, and turn relaying on', async () => {
    const { filters, host } = make();
    const peer = host.connect({ relay: false });
    expect(filters.filterOf(peer)).toBeNull();
    expect(host.describe(peer)).toEqual({ relaysTransactions: false });
    await host.deliver(peer, 'filterload', EMPTY);
    expect(host.describe(peer)).toEqual({ relaysTransactions: true });
    const item = Buffer.from('an item');
    expect(filters.filterOf(peer)!.contains(item)).toBe(false);
    await host.deliver(peer, 'filteradd', { data: item });
    expect(filters.filterOf(peer)!.contains(item)).toBe(true);
    await host.deliver(peer, 'filterclear', null);
    expect(filters.filterOf(peer)).toBeNull();
    expect(filters.relaysTo(peer)).toBe(true);
    expect(peer.score).toBe(0);
    peer.disconnect('done');
    expect(filters.relaysTo(peer)).toBe(false);
  });

  it('are not needed: without one a filtered block is the whole one', async () => {
    const { filters, host } = make();
    const peer = host.connect();
    const bytes = formatTransaction(numberedTx(1));
    const matches = (filter: BloomFilter): boolean =>
      filter.isRelevantAndUpdate(bytes, parseTxView(bytes), 0);
    expect(matches(filters.blockFilterOf(peer))).toBe(true);
    await host.deliver(peer, 'filteradd', { data: Buffer.from('no filter is there to take it') });
    expect(peer.score).toBe(0);
    expect(matches(filters.blockFilterOf(peer))).toBe(true);
    await host.deliver(peer, 'filterload', EMPTY);
    expect(matches(filters.blockFilterOf(peer))).toBe(false);
  });

  it('cost a ban if the filter, or an added element, is too large', async () => {
    const { filters, host } = make();
    const large = host.connect();
    const data = Buffer.alloc(MAX_BLOOM_FILTER_SIZE + 1);
    await host.deliver(large, 'filterload', { ...EMPTY, data });
    expect(large.punishments).toEqual(['100 too-large bloom filter']);
    const slow = host.connect();
    await host.deliver(slow, 'filterload', { ...EMPTY, hashFunctions: MAX_HASH_FUNCTIONS + 1 });
    expect(slow.score).toBe(100);
    expect(filters.filterOf(slow)).toBeNull();
    const long = host.connect();
    await host.deliver(long, 'filteradd', { data: Buffer.alloc(MAX_FILTER_ITEM_SIZE) });
    expect(long.score).toBe(0);
    await host.deliver(long, 'filteradd', { data: Buffer.alloc(MAX_FILTER_ITEM_SIZE + 1) });
    expect(long.punishments).toEqual(['100 bad filteradd message']);
  });

  it('are not served unless offered: newer peers are punished, others are disconnected', async () => {
    const { filters, host } = make(false);
    for (const command of ['filterload', 'filteradd'] as const) {
      const payload = command === 'filterload' ? EMPTY : { data: Buffer.of(1) };
      const modern = host.connect({ isWhitelisted: true, protocolVersion: 70_011 });
      await host.deliver(modern, command, payload as typeof EMPTY);
      expect(modern.score).toBe(100);
      expect(filters.filterOf(modern)).toBeNull();
      const old = host.connect({ protocolVersion: 70_010 });
      await host.deliver(old, command, payload as typeof EMPTY);
      expect([old.score, old.isGone]).toEqual([0, true]);
    }
    const clearing = host.connect({ relay: false });
    await host.deliver(clearing, 'filterclear', null);
    expect([clearing.score, clearing.isGone, filters.relaysTo(clearing)]).toEqual([0, false, true]);
  });
});
