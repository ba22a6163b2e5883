/**
 * Searches that would run for minutes, in a real node with a hub. They must not affect other searches. Corruption is tested by
 * `searchCorruption.long.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HubClient, type HubAnswerError } from './support/hubClient.js';
import { ADDRESS, HANG_MS } from './support/node.js';
import { SEARCHES, SearchedNode, WORDS } from './support/searchedNode.js';

/** Number of transactions with long claims. A hostile search reaches its limit with these. */
const TRANSACTIONS = 20;

const searched = new SearchedNode();
beforeAll(() => searched.fill(TRANSACTIONS));
afterAll(() => searched.remove());

describe('searches that would run for minutes', () => {
  it('end at the time limit, while others are answered', async () => {
    expect((await searched.found()).map(({ length }) => length)).toEqual([50, 22, 50, 1]);
    const [hostile, honest] = [await HubClient.open(searched.port), await HubClient.open(searched.port)];
    // Each of these terms matches up to fifty words that the long texts do not contain, so that each is searched in each text.
    const text = Array.from({ length: 256 }, (_, n) => `-${WORDS[n % WORDS.length]}~2`).join(' ');
    let open = 0;
    const refused = Array.from({ length: 8 }, (_, offset) => {
      open++;
      return hostile.refusal('blockchain.claimtrie.search', { text, offset }).finally(() => open--);
    });
    let rounds = 0;
    let answered = 0;
    // On a very busy machine an honest search may reach its time limit too, but no other call fails.
    const searchOnce = async (): Promise<void> => {
      const constraints = { ...SEARCHES[0], not_claim_ids: [String(rounds)] };
      const page = await honest
        .call<string>('blockchain.claimtrie.search', constraints)
        .catch((error: HubAnswerError) => error);
      if (typeof page === 'string') answered++;
      else expect(page.code).toBe(-32000);
    };
    do {
      await searchOnce();
      expect(await honest.call('blockchain.claimtrie.resolve', ['words'])).not.toBe('');
      expect(await honest.call('blockchain.address.get_history', [ADDRESS])).not.toEqual([]);
      if (rounds === 0) await searched.node.rpc('generatetoaddress', [1, ADDRESS]);
      rounds++;
    } while (open > 0);
    for (const refusal of refused)
      expect(await refusal).toEqual({ code: -32000, message: 'query timed out' });
    console.log(`${rounds} rounds of an honest client meanwhile, ${answered} of its searches answered`);
    while (answered === 0) await searchOnce();
    const timeouts = async (): Promise<number> =>
      (await searched.node.rpc<{ search: { timeouts: number } }>('getclaimindexinfo')).search.timeouts;
    await expect.poll(timeouts, { timeout: HANG_MS }).toBeGreaterThanOrEqual(8);
    await Promise.all([hostile.close(), honest.close()]);
  });
});
