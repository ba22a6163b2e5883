/** Pages of hits. The limit of claims per channel applies to all pages together. */
import { describe, expect, it } from 'vitest';
import { cutPage, type Hit } from '../../../../src/search/hits/hits.js';
import { parseConstraints } from '../../../../src/search/query/constraints.js';
import { MAX_HITS } from '../../../../src/search/hits/pages.js';

function hit(claimId: string, signerId: string | null, more: Partial<Hit> = {}): Hit {
  return {
    claimId,
    channelId: signerId,
    signerId,
    repostedId: null,
    creationHeight: 1,
    transaction: claimId,
    ...more,
  };
}

function pageOf(hits: readonly Hit[], constraints: object): string[] {
  return cutPage(hits, parseConstraints({ ...constraints })).page.map(({ claimId }) => claimId);
}

describe('the limit of claims of a channel', () => {
  const hits = [
    hit('a1', 'a'),
    hit('a2', 'a'),
    hit('n1', null),
    hit('b1', 'b'),
    hit('a3', 'a'),
    hit('b2', 'b'),
  ];

  it('continues with the count of the previous pages', () => {
    const limited = { limit: 2, limit_claims_per_channel: 1 };
    expect(pageOf(hits, limited)).toEqual(['a1', 'n1']);
    expect(pageOf(hits, { ...limited, offset: 2 })).toEqual(['b1']);
    expect(pageOf(hits, { ...limited, offset: 4 })).toEqual([]);
    expect(cutPage(hits, parseConstraints(limited)).total).toBe(3);
  });

  it('shows the same claims for any length of pages', () => {
    for (const perChannel of [1, 2, 3]) {
      const whole = pageOf(hits, { limit: 100, limit_claims_per_channel: perChannel });
      for (let limit = 1; limit <= 7; limit++) {
        const pages: string[] = [];
        for (let offset = 0; offset < hits.length; offset += limit)
          pages.push(...pageOf(hits, { limit, offset, limit_claims_per_channel: perChannel }));
        expect(pages).toEqual(whole);
      }
    }
  });

  it('does not count claims that name a channel and do not belong to it', () => {
    const forged = hit('f', null, { channelId: 'a' });
    expect(pageOf([forged, ...hits], { limit_claims_per_channel: 1 })).toEqual(['f', 'a1', 'n1', 'b1']);
  });

  it('includes other channels after a busy one, and shows no more than any search', () => {
    const busy = Array.from({ length: 5000 }, (_, n) => hit(`busy${n}`, 'busy'));
    const others = Array.from({ length: 3000 }, (_, n) => hit(`other${n}`, `c${n}`));
    const query = parseConstraints({ limit: 3, limit_claims_per_channel: 2 });
    const { page, total } = cutPage([...busy, ...others], query);
    expect(page.map(({ claimId }) => claimId)).toEqual(['busy0', 'busy1', 'other0']);
    expect(total).toBe(MAX_HITS);
  });
});
