/** Reports of a hub at unfavourable times: no transaction stays in the wallet that is in neither the chain nor the mempool. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { LedgerStore } from '../../../../src/daemon/ledger/store/ledgerStore.js';
import { storeInThread, type LedgerStorePort } from '../../../../src/daemon/ledger/store/openStore.js';
import { loadSqlite } from '../../../../src/sqlite/sqliteProvider.js';
import { hashToHex } from '../../../../src/util/bytes.js';
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
const ADDRESS = account.key(0, 0).address;

async function synced(
  hub: FakeHub,
  change: (store: LedgerStorePort) => Partial<LedgerStorePort> = () => ({}),
  times = {},
): Promise<TestLedger> {
  const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  const path = join(folder, 'ledger.sqlite');
  const store = storeInThread(new LedgerStore(await loadSqlite(), { path, ledgerId: 'lbc_regtest' }));
  const opened = await ledgers.open([hub], {
    folder,
    store: { ...store, ...change(store) },
    times: { pingMs: 20, retryMs: [10, 50], ...times },
  });
  await opened.ledger.add(account);
  await opened.ledger.whenSynced();
  return opened;
}

function payment(amount: bigint, to: TestAccount = account): MadeTransaction {
  return made(transactionOf([foreignOutPoint(String(amount))], [payTo(to.key(0, 0), amount)]));
}

const total = async ({ ledger }: TestLedger): Promise<bigint> =>
  (await ledger.database.balance(['alice'])).total;

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}

/** A promise, and the function that resolves it. */
function gate(): { readonly opened: Promise<void>; open(): void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

describe('the ledger', () => {
  it('does not wait for a hub at the best tip because of a late older tip', async () => {
    const chain = new FakeChain();
    chain.mempool.push(payment(100n));
    chain.mine(5);
    const hub = await FakeHub.start(chain);
    const opened = await synced(hub);
    const branch = chain.branch(3, 1);
    branch.mine(3);
    hub.chain = branch;
    // A notification that was sent during the request and arrives before the answer.
    hub.answer = (method) => {
      if (method !== 'blockchain.headers.subscribe') return undefined;
      hub.answer = () => undefined;
      hub.say(method, [{ hex: branch.blocks[4]!.header.toString('hex'), height: 4 }]);
      return undefined;
    };
    hub.say('blockchain.headers.subscribe', [{ hex: branch.blocks[3]!.header.toString('hex'), height: 3 }]);
    await until(() => opened.ledger.height === 6);
    for (let n = 0; n < 5; n++) await opened.ledger.hub.call('server.ping', []);
    branch.mempool.push(payment(7n));
    hub.say('blockchain.address.subscribe', [ADDRESS, branch.status(ADDRESS)]);
    await until(async () => (await total(opened)) === 107n);
    branch.mempool.length = 0;
    hub.say('blockchain.address.subscribe', [ADDRESS, branch.status(ADDRESS)]);
    await until(async () => (await total(opened)) === 100n);
  });

  it('drops transactions of a rejected history that the hub does not report any more', async () => {
    const chain = new FakeChain();
    chain.mempool.push(payment(100n));
    chain.mine();
    const hub = await FakeHub.start(chain);
    const opened = await synced(hub);
    const lost = payment(7n);
    chain.mempool.push(lost);
    hub.answer = (method) => {
      if (method !== 'blockchain.address.get_history') return undefined;
      // The next answer is correct, and the transaction is missing.
      hub.answer = (again) => {
        if (again === method) chain.mempool.length = 0;
        return undefined;
      };
      return [{ tx_hash: hashToHex(lost.txid), height: 0 }];
    };
    hub.say('blockchain.address.subscribe', [ADDRESS, chain.status(ADDRESS)]);
    await until(() => hub.asked.filter((method) => method.endsWith('get_history')).length >= 3);
    await opened.ledger.whenSynced();
    hub.say('blockchain.address.subscribe', [ADDRESS, chain.status(ADDRESS)]);
    await until(async () => (await total(opened)) === 100n);
    expect(await opened.ledger.database.transactionCount({ accountIds: ['alice'] })).toBe(1);
    expect(opened.warnings.filter((text) => text.includes('sent invalid data'))).toEqual([]);
  });

  it('drops its own transaction that a hub accepts and never shows', async () => {
    const chain = new FakeChain();
    const coin = payment(100n);
    chain.mempool.push(coin);
    chain.mine();
    const hub = await FakeHub.start(chain);
    const opened = await synced(hub, undefined, { keptMs: 30 });
    const spend = transactionOf([{ hash: coin.txid, index: 0 }], [payTo(account.key(1, 0), 60n)]);
    hub.answer = (method) =>
      method === 'blockchain.transaction.broadcast' ? hashToHex(made(spend).txid) : undefined;
    await opened.ledger.broadcast(spend);
    expect(await total(opened)).toBe(60n);
    await until(async () => (await total(opened)) === 100n);
  });

  it('drops its own transaction that arrived and vanished before it was saved', async () => {
    const chain = new FakeChain();
    const coin = payment(100n);
    chain.mempool.push(coin);
    chain.mine();
    const hub = await FakeHub.start(chain);
    const { opened: mayBeSaved, open } = gate();
    let isSaving = false;
    const opened = await synced(hub, (store) => ({
      saveBroadcast: async (transaction) => {
        isSaving = true;
        await mayBeSaved;
        return store.saveBroadcast(transaction);
      },
    }));
    const spend = transactionOf([{ hash: coin.txid, index: 0 }], [payTo(account.key(1, 0), 60n)]);
    const sent = opened.ledger.broadcast(spend);
    await until(async () => isSaving && (await total(opened)) === 60n);
    chain.mempool.length = 0;
    hub.tell();
    await until(async () => (await total(opened)) === 100n);
    open();
    await sent;
    await until(async () => (await total(opened)) === 100n);
  });

  it('rejects proofs by blocks of an abandoned branch', async () => {
    const chain = new FakeChain();
    chain.mine(4);
    const lost = payment(7n);
    chain.mempool.push(lost);
    chain.mine();
    const hub = await FakeHub.start(chain);
    const unreported = (method: string, params: readonly unknown[]): unknown =>
      method === 'blockchain.address.subscribe' ? params.map(() => null) : undefined;
    hub.answer = unreported;
    const { opened: mayGiveWay, open } = gate();
    let isGivingWay = false;
    const opened = await synced(hub, (store) => ({
      rewind: async (height) => {
        const addresses = await store.rewind(height);
        isGivingWay = height === 3;
        if (isGivingWay) await mayGiveWay;
        return addresses;
      },
    }));
    const branch = chain.branch(3, 1);
    branch.mempool.length = 0;
    branch.mine(3);
    hub.chain = branch;
    hub.tell();
    await until(() => isGivingWay);
    // Answers from before the hub switched to the other branch.
    hub.answer = (method, params) => {
      if (method === 'blockchain.address.get_history') return chain.history(params[0] as string);
      if (method === 'blockchain.transaction.get_batch')
        return Object.fromEntries((params as string[]).map((id) => [id, chain.pair(id)]));
      return unreported(method, params);
    };
    hub.say('blockchain.address.subscribe', [ADDRESS, chain.status(ADDRESS)]);
    for (let n = 0; n < 10; n++) await opened.ledger.hub.call('server.ping', []);
    hub.answer = () => undefined;
    open();
    await until(() => opened.ledger.height === 6);
    hub.say('blockchain.address.subscribe', [ADDRESS, branch.status(ADDRESS)]);
    await opened.ledger.whenSynced();
    await until(async () => (await total(opened)) === 0n);
    expect(opened.warnings.filter((text) => text.includes('sent invalid data'))).toEqual([]);
  });

  it('drops at its start transactions saved before their history', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
    const store = new LedgerStore(await loadSqlite(), {
      path: join(folder, 'ledger.sqlite'),
      ledgerId: 'lbc_regtest',
    });
    const { publicKey, chainCode, address } = account.key(0, 0);
    store.addKeys('alice', 0, [{ index: 0, address, publicKey, chainCode, depth: 2 }]);
    const { txid, raw } = payment(7n);
    store.saveTransactions([{ txid, raw, height: 0, position: -1, isVerified: false }]);
    store.close();
    const hub = await FakeHub.start(new FakeChain());
    const opened = await ledgers.open([hub], { folder });
    expect(await total(opened)).toBe(0n);
  });
});
