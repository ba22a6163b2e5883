/** A search of mempool claims includes the claims that arrived before it, whatever other searches do. */
import { expect, it } from 'vitest';
import { ClaimIndexQueries } from '../../../src/index/claims/claimIndexQueries.js';
import { WaitingFeed } from '../../../src/index/waiting/waitingFeed.js';
import { regtestParams } from '../../../src/params/regtest.js';
import { txid, type Transaction } from '../../../src/primitives/transaction.js';
import { addressPrefixesOf } from '../../../src/script/address.js';
import { buildClaimPrefix, buildUpdatePrefix, claimIdOf } from '../../../src/script/claimScript.js';
import { Censor } from '../../../src/search/hits/censor.js';
import { parseConstraints } from '../../../src/search/query/constraints.js';
import { findUrls } from '../../../src/search/query/urlConditions.js';
import { WaitingSearch } from '../../../src/search/waiting/waitingSearch.js';
import { concatBytes } from '../../../src/util/bytes.js';
import { REGTEST_RULES } from '../../support/claimChain.js';
import { OPEN_SCRIPT } from '../../support/testChain.js';
import { coinsOf, spendCoins } from '../mempool/support.js';

/** A value of lbrynet 0.20: a stream without metadata. */
const VALUE = Buffer.from('000a00', 'hex');

/** A search over an index without claims. Each read of the index waits for the test. */
function world() {
  const gates: ((isValid: boolean) => void)[] = [];
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
    snapshot: () =>
      new Promise((resolve, reject) =>
        gates.push((isRead) => (isRead ? resolve(() => true) : reject(new Error('no read')))),
      ),
    status: () => ({ synced: true, height: 1 }),
    values: async () => [],
    sizeOnDisk: async () => 0,
    exclusively: (task) => task(),
  });
  const feed = new WaitingFeed(regtestParams, Infinity);
  const search = new WaitingSearch({
    waiting: feed.claims,
    index,
    tip: () => ({ height: -1, tip: -1, disconnects }),
    timesOf: async () => [],
    censor: async () => new Censor({ blocking: [], filtering: [] }, []),
    prefixes: addressPrefixesOf(regtestParams),
  });
  let coins = 0;
  let disconnects = -1;
  return {
    /** Returns a transaction that creates a claim. */
    claim(name: string): Transaction {
      const script = concatBytes(buildClaimPrefix(Buffer.from(name), VALUE), OPEN_SCRIPT);
      return spendCoins([{ txid: Buffer.alloc(32, ++coins), n: 0, value: 10n ** 8n }], 1000n, { script });
    },
    accept(tx: Transaction): void {
      feed.add({ txid: txid(tx), entryTimeSec: ++coins }, tx, [OPEN_SCRIPT], [10n ** 8n]);
    },
    add(name: string): Transaction {
      const tx = this.claim(name);
      this.accept(tx);
      return tx;
    },
    update(former: Transaction, name: string): void {
      const prefix = buildUpdatePrefix(Buffer.from(name), claimIdOf(txid(former), 0), VALUE);
      const [coin] = coinsOf(former);
      const tx = spendCoins([coin!], 1000n, { script: concatBytes(prefix, OPEN_SCRIPT) });
      feed.add({ txid: txid(tx), entryTimeSec: ++coins }, tx, [former.outputs[0]!.script], [coin!.value]);
    },
    /** The block at the tip is disconnected: all documents become outdated. */
    disconnect(): void {
      disconnects++;
    },
    async find(name: string): Promise<number> {
      const query = await findUrls(parseConstraints({ name }), index);
      return (await search.find(query!)).length;
    },
    /** Resolves when a read of the index waits. Returns a function that lets the read succeed or fail. */
    async nextRead(): Promise<(isRead?: boolean) => void> {
      while (gates.length === 0) await new Promise(setImmediate);
      const gate = gates.shift()!;
      return (isRead = true) => gate(isRead);
    },
    /** Lets the reads of the index succeed, the newest first, until a search has its result. */
    async readsUntil<Result>(found: Promise<Result>): Promise<Result> {
      let isFound = false;
      const noted = found.finally(() => (isFound = true));
      for (let turn = 0; !isFound; turn++) {
        // After these iterations of the event loop, all reads have started that can start.
        for (let wait = 0; wait < 20; wait++) await new Promise(setImmediate);
        gates.pop()?.(true);
      }
      return noted;
    },
  };
}

it('two searches that wait for the documents of others find a claim that arrived meanwhile', async () => {
  const its = world();
  const { find, nextRead } = its;
  its.add('first');
  const first = find('first');
  const readFirst = await nextRead();
  its.add('second');
  const both = [find('second'), find('second')];
  readFirst();
  expect(await first).toBe(1);
  const readSecond = await nextRead();
  readSecond();
  expect(await Promise.all(both)).toEqual([1, 1]);
});

it('a document that is built again after a disconnected block does not replace a newer one', async () => {
  const its = world();
  const { update, disconnect, find, readsUntil } = its;
  const former = its.add('name');
  expect(await readsUntil(find('name'))).toBe(1);
  disconnect();
  // This search does not wait for the document, which is built again in the background.
  expect(await find('name')).toBe(1);
  update(former, 'name');
  expect(await readsUntil(find('name'))).toBe(1);
  // The reads of the background end.
  await readsUntil(new Promise((resolve) => setTimeout(resolve)));
  expect(await find('name')).toBe(1);
});

it('documents that could not be built again after a block are built at the next search', async () => {
  const its = world();
  const { disconnect, find, nextRead, readsUntil } = its;
  its.add('name');
  expect(await readsUntil(find('name'))).toBe(1);
  disconnect();
  expect(await find('name')).toBe(1);
  const read = await nextRead();
  read(false);
  await new Promise(setImmediate);
  expect(await find('name')).toBe(1);
  const again = await nextRead();
  again();
});

it('an update is found when the output that it spends arrives after it', async () => {
  const { claim, accept, update, find, readsUntil } = world();
  const former = claim('name');
  update(former, 'name');
  // The state after a block is disconnected and before its transactions return to the mempool: the claim is in neither.
  expect(await readsUntil(find('name'))).toBe(0);
  accept(former);
  expect(await readsUntil(find('name'))).toBe(1);
});
