/** An address to which a transaction paid, or may have paid, is not given out again, whatever hubs report about it later. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { LedgerStore } from '../../../../src/daemon/ledger/store/ledgerStore.js';
import { loadSqlite } from '../../../../src/sqlite/sqliteProvider.js';
import { FakeChain, FakeHub } from '../../../support/fakeHub.js';
import {
  foreignOutPoint,
  made,
  payTo,
  transactionOf,
  type MadeTransaction,
} from '../../../support/ledgerTransactions.js';
import { testAccount, TestLedgers, type TestAccount, type TestLedger } from '../../../support/testLedger.js';

const ledgers = new TestLedgers();

afterEach(async () => {
  await ledgers.closeAll();
  await FakeHub.stopAll();
});

const account = testAccount('alice');
const address = (chain: number, index: number): string => account.key(chain, index).address;

async function synced(hub: FakeHub, folder?: string): Promise<TestLedger> {
  const opened = await ledgers.open([hub], folder === undefined ? {} : { folder });
  await opened.ledger.add(account);
  await opened.ledger.whenSynced();
  return opened;
}

function payment(amount: bigint, chain = 0, index = 0, to: TestAccount = account): MadeTransaction {
  return made(transactionOf([foreignOutPoint(String(amount))], [payTo(to.key(chain, index), amount)]));
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}

const count = ({ ledger }: TestLedger): Promise<number> =>
  ledger.database.transactionCount({ accountIds: ['alice'] });

/** The unused addresses of a chain of keys. */
async function unused({ ledger }: TestLedger, chain = 0, maxUses = 1): Promise<string[]> {
  const rows = await ledger.database.unusedAddresses('alice', chain, maxUses);
  return rows.map((row) => row.address);
}

async function usedTimes({ ledger }: TestLedger, text: string): Promise<number | undefined> {
  const [row] = await ledger.database.addresses({ accountIds: ['alice'], address: text });
  return row?.usedTimes;
}

describe('an address', () => {
  it('stays used when a reorganisation drops its payment, also after a restart, until that returns', async () => {
    const chain = new FakeChain();
    chain.mine(4);
    const paid = payment(7n);
    chain.mempool.push(paid);
    chain.mine();
    const hub = await FakeHub.start(chain);
    const opened = await synced(hub);
    expect(await usedTimes(opened, address(0, 0))).toBe(1);
    const branch = chain.branch(3, 1);
    branch.mempool.length = 0;
    branch.mine(3);
    hub.chain = branch;
    hub.tell();
    await until(async () => (await count(opened)) === 0);
    // The returned number counts only transactions of the chain.
    expect(await usedTimes(opened, address(0, 0))).toBe(0);
    expect(await unused(opened)).not.toContain(address(0, 0));
    await ledgers.close(opened.ledger);
    const again = await synced(hub, opened.folder);
    expect(await unused(again)).not.toContain(address(0, 0));
    expect(await unused(again)).toContain(address(0, 1));
    // Someone sends it again.
    branch.mempool.push(paid);
    hub.tell();
    await until(async () => (await count(again)) === 1);
    expect(await usedTimes(again, address(0, 0))).toBe(1);
    // It is one use, not two.
    expect(await unused(again, 0, 2)).toContain(address(0, 0));
    expect(await unused(again, 0, 1)).not.toContain(address(0, 0));
  });

  it('stays used when the next hub does not know its payment', async () => {
    const [one, other] = [new FakeChain(), new FakeChain()];
    one.mempool.push(payment(7n));
    const first = await FakeHub.start(one);
    const second = await FakeHub.start(other);
    const opened = await synced(first);
    await ledgers.close(opened.ledger);
    const again = await synced(second, opened.folder);
    expect(await count(again)).toBe(0);
    expect(await unused(again)).not.toContain(address(0, 0));
  });

  it('with all following addresses used gets further addresses', async () => {
    const chain = new FakeChain();
    chain.mempool.push(...[0, 1].map((index) => payment(BigInt(index + 1), 1, index)));
    const hub = await FakeHub.start(chain);
    const opened = await synced(hub);
    chain.mempool.length = 0;
    hub.tell();
    await until(async () => (await count(opened)) === 0);
    await opened.ledger.ensureGap(account);
    expect(await unused(opened, 1)).toEqual([address(1, 2), address(1, 3)]);
  });

  describe('that a transaction of our own pays', () => {
    async function withCoin(): Promise<{ hub: FakeHub; chain: FakeChain; opened: TestLedger }> {
      const chain = new FakeChain();
      chain.mempool.push(payment(100n));
      chain.mine();
      const hub = await FakeHub.start(chain);
      return { hub, chain, opened: await synced(hub) };
    }
    const spend = () =>
      transactionOf(
        [{ hash: payment(100n).txid, index: 0 }],
        [payTo(account.key(1, 0), 60n), payTo(testAccount('bob').key(0, 0), 30n)],
      );

    it('is used, once, when a hub has accepted it', async () => {
      const { opened } = await withCoin();
      await opened.ledger.broadcast(spend());
      await opened.ledger.whenSynced();
      expect(await usedTimes(opened, address(1, 0))).toBe(1);
      expect(await unused(opened, 1, 2)).toContain(address(1, 0));
      expect(await unused(opened, 1)).not.toContain(address(1, 0));
    });

    it('is unused again when hubs refuse it', async () => {
      const { hub, opened } = await withCoin();
      hub.answer = (method) => {
        if (method === 'blockchain.transaction.broadcast') throw new Error('refused');
        return undefined;
      };
      await expect(opened.ledger.broadcast(spend())).rejects.toThrow('refused');
      expect(await unused(opened, 1)).toContain(address(1, 0));
    });

    it('stays used when a hub disconnects without an answer, and may have accepted it', async () => {
      const { hub, chain, opened } = await withCoin();
      hub.answer = (method) => {
        if (method === 'blockchain.transaction.broadcast') hub.drop();
        return undefined;
      };
      await expect(opened.ledger.broadcast(spend())).rejects.toThrow();
      chain.mempool.length = 0;
      hub.answer = () => undefined;
      expect(await unused(opened, 1)).not.toContain(address(1, 0));
      expect(await usedTimes(opened, address(1, 0))).toBe(0);
    });

    it('stays used when the daemon is killed before the answer', async () => {
      const { hub, opened } = await withCoin();
      let isAsked = false;
      hub.answer = (method) => {
        isAsked ||= method === 'blockchain.transaction.broadcast';
        return undefined;
      };
      void opened.ledger.broadcast(spend()).catch(() => undefined);
      await until(() => Promise.resolve(isAsked));
      // Reads the content of the file at the time of the query.
      const seen = new LedgerStore(await loadSqlite(), {
        path: join(opened.folder, 'ledger.sqlite'),
        ledgerId: 'lbc_regtest',
      });
      expect(seen.unusedAddresses('alice', 1, 1).map((row) => row.address)).not.toContain(address(1, 0));
      seen.close();
    });
  });

  it('remembers the use by a limited number of dropped transactions', async () => {
    const path = join(mkdtempSync(join(tmpdir(), 'ledger-')), 'ledger.sqlite');
    const store = new LedgerStore(await loadSqlite(), { path, ledgerId: 'lbc_regtest' });
    const { publicKey, chainCode } = account.key(0, 0);
    store.addKeys('alice', 0, [{ index: 0, address: address(0, 0), publicKey, chainCode, depth: 2 }]);
    const update = (txids: Uint8Array) =>
      store.saveHistories([{ address: address(0, 0), status: 'some', txids }], [], []);
    for (let round = 0; round < 3; round++) {
      const lies = Array.from({ length: 500 }, (_, n) => payment(BigInt(1000 * round + n + 1)));
      store.saveTransactions(lies.map((tx) => ({ ...tx, height: 0, position: -1, isVerified: false })));
      update(Buffer.concat(lies.map(({ txid }) => txid)));
      update(Buffer.alloc(0));
    }
    expect(store.unusedAddresses('alice', 0, 1001)).toHaveLength(1);
    expect(store.unusedAddresses('alice', 0, 1000)).toHaveLength(0);
    store.close();
  });
});
