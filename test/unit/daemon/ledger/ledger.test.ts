import { afterEach, describe, expect, it } from 'vitest';
import type { OpenLedger } from '../../../../src/daemon/ledger/openLedger.js';
import { TXO_TYPE } from '../../../../src/daemon/ledger/txoQuery.js';
import { headerHash } from '../../../../src/primitives/header.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import { FakeChain, FakeHub, SILENCE } from '../../../support/fakeHub.js';
import {
  claimTo,
  foreignOutPoint,
  made,
  payTo,
  testKey,
  transactionOf,
  type MadeTransaction,
} from '../../../support/ledgerTransactions.js';
import { testAccount, TestLedgers, type TestAccount } from '../../../support/testLedger.js';

const ledgers = new TestLedgers();
const hubs: FakeHub[] = [];

async function startHub(chain: FakeChain): Promise<FakeHub> {
  const hub = await FakeHub.start(chain);
  hubs.push(hub);
  return hub;
}

afterEach(async () => {
  await ledgers.closeAll();
  for (const hub of hubs.splice(0)) await hub.stop();
});

const total = async (ledger: OpenLedger, account: TestAccount): Promise<bigint> =>
  (await ledger.database.balance([account.accountId])).total;

/** Resolves when the condition is true. Polls it. */
async function until(ledger: OpenLedger, condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
  await ledger.whenSynced();
}

function pay(chain: FakeChain, account: TestAccount, index: number, amount: bigint): MadeTransaction {
  const tx = made(
    transactionOf(
      [foreignOutPoint(`${index} ${amount} ${chain.height}`)],
      [payTo(account.key(0, index), amount)],
    ),
  );
  chain.mempool.push(tx);
  return tx;
}

async function synced(hub: FakeHub, account: TestAccount): Promise<OpenLedger> {
  const { ledger } = await ledgers.open([hub]);
  await ledger.add(account);
  await ledger.whenSynced();
  return ledger;
}

describe('OpenLedger', () => {
  it('finds the payments of an account, over its gaps', async () => {
    const chain = new FakeChain();
    const account = testAccount('alice');
    for (const index of [0, 4, 9, 13, 30]) {
      pay(chain, account, index, 100n);
      chain.mine();
    }
    pay(chain, account, 2, 7n);
    const ledger = await synced(await startHub(chain), account);
    expect(ledger.height).toBe(5);
    // Index 30 is more than the gap of five after index 13, so its address is not watched.
    expect(await total(ledger, account)).toBe(407n);
    expect((await ledger.database.balance(['alice'], 5)).total).toBe(400n);
    expect(await ledger.database.addressCount({ accountIds: ['alice'], chain: 0 })).toBe(19);
    expect(await ledger.database.addressCount({ accountIds: ['alice'], chain: 1 })).toBe(2);
    expect(ledger.isSynced('alice')).toBe(true);
    const rows = await ledger.database.transactions({ accountIds: ['alice'] }, {}, ['alice']);
    expect(rows.map(({ height, isVerified }) => [height, isVerified])).toEqual([
      [0, false],
      [4, true],
      [3, true],
      [2, true],
      [1, true],
    ]);
    expect(ledger.status()).toMatchObject({
      blocks: 5,
      blocks_behind: 0,
      headers_synchronization_progress: 100,
    });
  });

  it('reports the progress of headers and histories', async () => {
    const chain = new FakeChain();
    const account = testAccount('alice');
    pay(chain, account, 0, 100n);
    chain.mine(4999);
    const hub = await startHub(chain);
    hub.answer = (method, [first]) =>
      method === 'blockchain.block.headers' && Number(first) > 4000 ? SILENCE : undefined;
    const { ledger } = await ledgers.open([hub]);
    expect(ledger.status()).not.toHaveProperty('headers_synchronization_progress');
    await ledger.add(account);
    while (ledger.height < 4000) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(ledger.status()).toMatchObject({
      connected: `${hub.server.host}:${hub.server.port}`,
      headers_synchronization_progress: 80,
      blocks: 4000,
      blocks_behind: 999,
    });
    expect(ledger.status()).not.toHaveProperty('addresses');
    await ledgers.close(ledger);

    hub.answer = (method) => (method === 'blockchain.transaction.get_batch' ? SILENCE : undefined);
    const { ledger: second } = await ledgers.open([hub]);
    const added = second.add(account);
    while (second.syncState.addressesLeft !== 1) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(second.status()).toMatchObject({
      headers_synchronization_progress: 100,
      history_synchronization_progress: 85,
      addresses: 7,
      addresses_behind: 1,
      transactions_fetched: 0,
    });
    expect(second.isSynced('alice')).toBe(false);
    await ledgers.close(second);
    await added;
  });

  it('follows payments, blocks and its own transactions', async () => {
    const chain = new FakeChain();
    const hub = await startHub(chain);
    const account = testAccount('alice');
    const ledger = await synced(hub, account);
    const heights: number[] = [];
    ledger.on('transaction', ({ height }) => heights.push(height));
    const coin = pay(chain, account, 0, 1000n);
    hub.tell();
    await until(ledger, async () => (await total(ledger, account)) === 1000n);
    chain.mine();
    hub.tell();
    await until(ledger, () => heights.length === 2);
    expect(heights).toEqual([0, 1]);

    await ledger.database.reserve([{ txid: coin.txid, nout: 0 }]);
    const spend = transactionOf(
      [{ hash: coin.txid, index: 0 }],
      [claimTo(account.key(0, 1), 300n, '@me', 'channel'), payTo(account.key(1, 0), 600n)],
    );
    await ledger.broadcast(spend);
    expect(await ledger.database.balance(['alice'])).toMatchObject({ total: 900n, claims: 300n });
    expect(await ledger.taken(made(spend).txid, 10_000)).toBe(true);
    expect(account.channelKeys).toContainEqual(testKey('channel').publicKey);
    await ledger.whenSynced();
    expect(await ledger.database.txoCount({ accountIds: ['alice'], types: [TXO_TYPE.channel] })).toBe(1);
    expect((await ledger.database.unusedAddresses('alice', 1, 1)).map(({ index }) => index)).toEqual([1, 2]);
    expect(await ledger.taken(foreignOutPoint('nothing').hash, 5)).toBe(false);
    const refused = (): Promise<void> => ledger.broadcast(transactionOf([foreignOutPoint('x')], []));
    const refusal = 'the transaction was rejected by network rules.\n\n';
    await expect(refused()).rejects.toMatchObject({
      name: 'RPCError',
      message: `${refusal}bad-txns-vout-empty (code 16)`,
    });
    hub.refusal = 'too-long-mempool-chain, too many unconfirmed ancestors [limit: 25] (code 64)';
    await expect(refused()).rejects.toMatchObject({
      message: `${refusal}${hub.refusal}\nWait for the next block, and try again.`,
    });
  });

  it('requests only changes when it starts again', async () => {
    const chain = new FakeChain();
    const hub = await startHub(chain);
    const account = testAccount('alice');
    for (const index of [0, 1, 2]) pay(chain, account, index, 100n);
    chain.mine();
    const first = await ledgers.open([hub]);
    await first.ledger.add(account);
    await first.ledger.whenSynced();
    await ledgers.close(first.ledger);
    pay(chain, account, 3, 50n);
    chain.mine();
    hub.asked.length = 0;
    const { ledger } = await ledgers.open([hub], { folder: first.folder });
    await ledger.add(account);
    await ledger.whenSynced();
    expect(await total(ledger, account)).toBe(350n);
    expect(hub.asked.filter((method) => method === 'blockchain.address.get_history').length).toBe(1);
  });

  it('switches to a branch with more work, and drops the transactions of the old one', async () => {
    const chain = new FakeChain();
    const hub = await startHub(chain);
    const account = testAccount('alice');
    pay(chain, account, 0, 100n);
    chain.mine(3);
    const lost = pay(chain, account, 1, 20n);
    const moved = pay(chain, account, 2, 3n);
    chain.mine(2);
    const { ledger, folder } = await ledgers.open([hub]);
    await ledger.add(account);
    await ledger.whenSynced();
    expect(await total(ledger, account)).toBe(123n);
    const forks: number[] = [];
    ledger.on('reorganisation', (height) => forks.push(height));
    // From here on, the confirmed row of the database is cached.
    expect(await ledger.transaction(lost.txid)).toMatchObject({ height: 4, isVerified: true });

    const branch = chain.branch(3, 1);
    branch.mempool.splice(branch.mempool.indexOf(lost), 1);
    branch.mine(2);
    hub.chain = branch;
    hub.tell();
    branch.mine(1);
    hub.tell();
    await until(ledger, () => ledger.height === 6);
    await until(ledger, async () => (await total(ledger, account)) === 103n);
    expect(forks).toEqual([3]);
    const [row] = await ledger.database.txos({ accountIds: ['alice'], txids: [moved.txid] });
    expect(row).toMatchObject({ height: 4, isVerified: true });
    expect(await ledger.transaction(lost.txid)).toBe(null);

    await ledgers.close(ledger);
    const again = await ledgers.open([hub], { folder });
    await again.ledger.add(account);
    await again.ledger.whenSynced();
    expect(again.ledger.height).toBe(6);
    expect(await total(again.ledger, account)).toBe(103n);
  });

  it('keeps its chain while a hub shows one with less work, and waits', async () => {
    const chain = new FakeChain();
    const account = testAccount('alice');
    pay(chain, account, 0, 100n);
    chain.mine(5);
    const hub = await startHub(chain);
    const ledger = await synced(hub, account);
    const branch = chain.branch(0, 2);
    branch.mempool.length = 0;
    branch.mine(3);
    hub.chain = branch;
    hub.tell();
    expect(await ledger.hub.call('server.ping', [])).toBe(null);
    expect(ledger.height).toBe(5);
    expect(await total(ledger, account)).toBe(100n);
    branch.mine(3);
    hub.tell();
    await until(ledger, async () => ledger.height === 6 && (await total(ledger, account)) === 0n);
  });

  it('switches to the branch of its hub if that has as much work', async () => {
    const chain = new FakeChain();
    const account = testAccount('alice');
    chain.mine(2);
    pay(chain, account, 0, 100n);
    chain.mine();
    const hub = await startHub(chain);
    const { ledger, folder } = await ledgers.open([hub]);
    await ledger.add(account);
    await ledger.whenSynced();
    await ledgers.close(ledger);
    const branch = chain.branch(2, 3);
    branch.mempool.length = 0;
    branch.mine();
    hub.chain = branch;
    const again = await ledgers.open([hub], { folder });
    await again.ledger.add(account);
    await again.ledger.whenSynced();
    expect(again.ledger.headers.hashAt(3)).toEqual(headerHash(branch.blocks[3]!.header));
    expect(await total(again.ledger, account)).toBe(0n);
  });

  it('continues with the next hub if one disconnects', async () => {
    const chain = new FakeChain();
    const account = testAccount('alice');
    const first = await startHub(chain);
    const second = await startHub(chain);
    const { ledger } = await ledgers.open([first, second]);
    await ledger.add(account);
    await until(ledger, () => first.connections + second.connections === 1);
    const used = first.connections === 1 ? first : second;
    const other = used === first ? second : first;
    hubs.splice(hubs.indexOf(used), 1);
    await used.stop();
    pay(chain, account, 0, 100n);
    await until(ledger, async () => (await total(ledger, account)) === 100n);
    expect(other.connections).toBe(1);
    expect(await ledger.hub.call('server.ping', [])).toBe(null);
  });

  it('adds an account later, counts it, and removes it', async () => {
    const chain = new FakeChain();
    const hub = await startHub(chain);
    const [alice, bob] = [testAccount('alice'), testAccount('bob')];
    pay(chain, alice, 0, 1n);
    pay(chain, bob, 0, 2n);
    const ledger = await synced(hub, alice);
    await ledger.add(bob);
    await ledger.add(bob);
    expect(await total(ledger, bob)).toBe(2n);
    expect(ledger.isSynced('bob')).toBe(true);
    ledger.remove('bob');
    expect(ledger.isSynced('bob')).toBe(true);
    ledger.remove('bob');
    expect(ledger.isSynced('bob')).toBe(false);
    await ledger.whenSynced();
  });

  it('notifies each wallet that has an account of its channels', async () => {
    const chain = new FakeChain();
    const hub = await startHub(chain);
    const [first, second] = [testAccount('alice'), testAccount('alice')];
    const ledger = await synced(hub, first);
    await ledger.add(second);
    const claim = claimTo(first.key(0, 0), 300n, '@me', 'channel');
    chain.mempool.push(made(transactionOf([foreignOutPoint('1')], [claim])));
    hub.tell();
    await until(ledger, async () => (await total(ledger, first)) === 300n);
    const { publicKey } = testKey('channel');
    expect([first.channelKeys, second.channelKeys]).toEqual([[publicKey], [publicKey]]);
  });

  it('returns transactions of other wallets, with a verified position', async () => {
    const chain = new FakeChain();
    const hub = await startHub(chain);
    const ledger = await synced(hub, testAccount('alice'));
    const others = [1, 2, 3].map((n) =>
      made(transactionOf([foreignOutPoint(`o${n}`)], [payTo(testKey('other'), BigInt(n))])),
    );
    chain.mempool.push(others[0]!, others[1]!);
    chain.mine();
    chain.mempool.push(others[2]!);
    // The header is fetched for the next call that needs it.
    const found = await ledger.transactions([...others.map(({ txid }) => txid), foreignOutPoint('no').hash]);
    expect(
      others.map(({ txid }) => found.get(hashToHex(txid))).map((one) => [one?.height, one?.isVerified]),
    ).toEqual([
      [1, true],
      [1, true],
      [0, false],
    ]);
    expect(found.size).toBe(3);
    hub.asked.length = 0;
    await ledger.transactions([others[0]!.txid]);
    expect(hub.asked).toEqual([]);
  });

  it('requests proofs of unproven transactions in the database, and keeps those that no hub knows', async () => {
    const chain = new FakeChain();
    const alice = testAccount('alice');
    const ledger = await synced(await startHub(chain), alice);
    const own = [1n, 2n].map((amount) =>
      made(transactionOf([foreignOutPoint(`own ${amount}`)], [payTo(alice.key(0, 0), amount)])),
    );
    for (const { tx } of own) await ledger.broadcast(tx);
    await until(ledger, async () => (await total(ledger, alice)) === 3n);
    // The hub does not notify its clients of this block.
    chain.mempool.pop();
    chain.mine();
    const found = await ledger.transactions(own.map(({ txid }) => txid));
    const places = own.map(({ txid }) => found.get(hashToHex(txid)));
    expect(places.map((one) => [one?.height, one?.isVerified])).toEqual([
      [1, true],
      [0, false],
    ]);
  });
});
