/** A search of mempool claims includes the claims that arrived before it, whatever other searches do. */
import { expect, it } from 'vitest';
import { ClaimIndexQueries } from '../../../src/index/claims/claimIndexQueries.js';
import { WaitingFeed } from '../../../src/index/waiting/waitingFeed.js';
import { regtestParams } from '../../../src/params/regtest.js';
import { txid } from '../../../src/primitives/transaction.js';
import { addressPrefixesOf } from '../../../src/script/address.js';
import { buildClaimPrefix } from '../../../src/script/claimScript.js';
import { Censor } from '../../../src/search/hits/censor.js';
import { parseConstraints } from '../../../src/search/query/constraints.js';
import { findUrls } from '../../../src/search/query/urlConditions.js';
import { WaitingSearch } from '../../../src/search/waiting/waitingSearch.js';
import { concatBytes } from '../../../src/util/bytes.js';
import { REGTEST_RULES } from '../../support/claimChain.js';
import { OPEN_SCRIPT } from '../../support/testChain.js';
import { spendCoins } from '../mempool/support.js';

/** A value of lbrynet 0.20: a stream without metadata. */
const VALUE = Buffer.from('000a00', 'hex');

/** A search over an index without claims. Each read of the index waits for the test. */
function world() {
  const gates: (() => void)[] = [];
  const rows = {
    get: async () => undefined,
    getMany: async (keys: readonly string[]) => keys.map(() => undefined),
    getRange: async () => [],
    range: async function* (): AsyncGenerator<never> {},
  };
  const index = new ClaimIndexQueries({
    rows,
    rules: REGTEST_RULES,
    active: { height: 1, tip: 1, disconnects: 0 },
    snapshot: () => new Promise((resolve) => gates.push(() => resolve(() => true))),
    status: () => ({ synced: true, height: 1 }),
    values: async () => [],
    sizeOnDisk: async () => 0,
    exclusively: (task) => task(),
  });
  const feed = new WaitingFeed(regtestParams, Infinity);
  const search = new WaitingSearch({
    waiting: feed.claims,
    index,
    tip: () => ({ height: -1, tip: -1, disconnects: -1 }),
    timesOf: async () => [],
    censor: async () => new Censor({ blocking: [], filtering: [] }, []),
    prefixes: addressPrefixesOf(regtestParams),
  });
  let coins = 0;
  return {
    add(name: string): void {
      const script = concatBytes(buildClaimPrefix(Buffer.from(name), VALUE), OPEN_SCRIPT);
      const coin = { txid: Buffer.alloc(32, ++coins), n: 0, value: 10n ** 8n };
      const tx = spendCoins([coin], 1000n, { script });
      feed.add({ txid: txid(tx), entryTimeSec: coins }, tx, [OPEN_SCRIPT], [coin.value]);
    },
    async find(name: string): Promise<number> {
      const query = await findUrls(parseConstraints({ name }), index);
      return (await search.find(query!)).length;
    },
    /** Resolves when a read of the index waits. Returns what lets it continue. */
    async nextRead(): Promise<() => void> {
      while (gates.length === 0) await new Promise(setImmediate);
      return gates.shift()!;
    },
  };
}

it('two searches that wait for the documents of others find a claim that arrived meanwhile', async () => {
  const { add, find, nextRead } = world();
  add('first');
  const first = find('first');
  const readFirst = await nextRead();
  add('second');
  const both = [find('second'), find('second')];
  readFirst();
  expect(await first).toBe(1);
  const readSecond = await nextRead();
  readSecond();
  expect(await Promise.all(both)).toEqual([1, 1]);
});
