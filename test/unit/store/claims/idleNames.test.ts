/** Names that have a row but no claims: they are always found, and other names are not searched. */
import { describe, expect, it } from 'vitest';
import { CLAIM_PREFIX, idleNamesKey, nameKey } from '../../../../src/store/claims/rows/claimKeys.js';
import type { ClaimRules } from '../../../../src/store/claims/claimStore.js';
import { IdleNames } from '../../../../src/store/claims/idleNames.js';
import { readLog } from '../../../../src/store/claims/rows/logRow.js';
import { HandChain } from '../../../support/claimBlocks.js';
import { MemoryRows, type MemoryTransaction } from '../../../support/memoryRows.js';

const RULES: ClaimRules = {
  originalExpiration: 500,
  extendedExpiration: 1000,
  extendedExpirationForkHeight: 1,
  normalizationForkHeight: 1,
  takeoverWorkaroundMin: -1,
  takeoverWorkaroundMax: -1,
  allClaimsForkHeight: 2,
  supportDelay: 100,
};

/** Rows that record which names are searched. */
class WatchedRows extends MemoryRows {
  readonly sought: string[] = [];

  override begin(): MemoryTransaction {
    const transaction = super.begin();
    const getMany = transaction.getMany.bind(transaction);
    transaction.getMany = (keys) => {
      for (const key of keys) if (key.startsWith(CLAIM_PREFIX.name)) this.sought.push(key.slice(1));
      return getMany(keys);
    };
    return transaction;
  }
}

class WatchedChain extends HandChain {
  override readonly rows = new WatchedRows();

  async sought(): Promise<string[]> {
    this.rows.sought.length = 0;
    await this.mine();
    return [...new Set(this.rows.sought)].sort();
  }
}

describe('names without claims', () => {
  it('are looked up if rows of them remain, and not if none can', async () => {
    const chain = new WatchedChain(RULES, 10);
    const first = chain.claim('first', 10);
    chain.claim('second', 10);
    expect(await chain.sought()).toEqual([]);
    chain.claim('third', 10);
    chain.claim('first', 20);
    expect(await chain.sought()).toEqual(['first']);
    // If a name is inserted below a leaf, a node is built from the claims of the leaf.
    chain.claim('firstborn', 5);
    expect(await chain.sought()).toEqual(['first']);
    const supported = chain.claim('supported', 5);
    await chain.mine();
    const support = chain.support(supported, 7);
    chain.spend(supported);
    await chain.mine();
    // Its support is left.
    expect(await chain.rows.get(nameKey('supported'))).toBeDefined();
    chain.spend(support);
    chain.claim('another', 5);
    expect(await chain.sought()).toEqual(['supported']);
    chain.update(first, 30);
    expect(await chain.sought()).toEqual(['first']);
  });

  it('are known to later readers of the rows, even after their block is disconnected', async () => {
    const chain = new HandChain(RULES, 10);
    const claim = chain.claim('name', 10);
    await chain.mine();
    chain.support(claim, 3);
    chain.spend(claim);
    await chain.mine();
    const read = async (): Promise<boolean> => {
      const idle = new IdleNames();
      await idle.load(chain.rows);
      return idle.mayHold('name');
    };
    expect(await read()).toBe(true);
    await chain.disconnect();
    expect(await read()).toBe(true);
  });

  it('do not change the log of a block, even with false positives', async () => {
    const logOf = async (isFull: boolean) => {
      const chain = new HandChain(RULES, 10);
      const filled = chain.rows.begin();
      for (let row = 0; isFull && row < 2 ** 13; row++)
        filled.put(idleNamesKey(row), Buffer.alloc(256, 0xff));
      filled.commit();
      chain.claim('known', 10);
      const second = chain.claim('known', 5);
      await chain.mine();
      // Both are delayed, because they do not belong to the owner of the name.
      chain.support(second, 3);
      chain.support(second, 3, Buffer.from('unknown'));
      await chain.mine();
      return readLog(chain.rows, chain.height);
    };
    const log = await logOf(false);
    expect(log.map((event) => 'ref' in event && event.ref.name)).toEqual(['known', 'unknown']);
    expect(await logOf(true)).toEqual(log);
  });

  it('take one bit each, in complete rows', async () => {
    const rows = new MemoryRows();
    const idle = new IdleNames();
    await idle.load(rows);
    const names = Array.from({ length: 3000 }, (_, i) => `name number ${i}`);
    // Names that were added in an aborted transaction remain in memory, and are written with the next write of their row.
    for (const name of names.slice(0, 1500)) idle.add(rows.begin(), name);
    const kept = rows.begin();
    for (const name of names.slice(1500)) idle.add(kept, name);
    kept.commit();
    for (const name of names) expect(idle.mayHold(name)).toBe(true);
    const later = new IdleNames();
    await later.load(rows);
    for (const name of names.slice(1500)) expect(later.mayHold(name)).toBe(true);
    const others = Array.from({ length: 20_000 }, (_, i) => `other name ${i}`);
    expect(others.filter((name) => idle.mayHold(name)).length).toBeLessThan(40);
    for (const [, row] of rows.dump()) expect(row.length).toBe(256);
  });
});
