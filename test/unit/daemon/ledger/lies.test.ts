import { readFileSync, writeFileSync } from 'node:fs';
import { deflateRawSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import type { OpenLedger } from '../../../../src/daemon/ledger/openLedger.js';
import { headerHash } from '../../../../src/primitives/header.js';
import { hashToHex } from '../../../../src/util/bytes.js';
import { FakeChain, FakeHub, RawAnswer, SILENCE, type Answerer } from '../../../support/fakeHub.js';
import { foreignOutPoint, made, payTo, testKey, transactionOf } from '../../../support/ledgerTransactions.js';
import { testAccount, TestLedgers, type TestAccount } from '../../../support/testLedger.js';

const ledgers = new TestLedgers();

afterEach(async () => {
  await ledgers.closeAll();
  await FakeHub.stopAll();
});

const total = async (ledger: OpenLedger, account: TestAccount): Promise<bigint> =>
  (await ledger.database.balance([account.accountId])).total;

/** A chain with one payment in its second last block. */
function paidChain(account: TestAccount) {
  const chain = new FakeChain();
  chain.mine(2);
  const tx = made(transactionOf([foreignOutPoint('1')], [payTo(account.key(0, 0), 100n)]));
  const other = made(transactionOf([foreignOutPoint('2')], [payTo(account.key(0, 1), 1_000_000n)]));
  chain.mempool.push(tx, made(transactionOf([foreignOutPoint('3')], [payTo(testKey('x'), 1n)])));
  chain.mine(2);
  return { chain, id: hashToHex(tx.txid), other };
}

const only =
  (wanted: string, answer: unknown): ((chain: FakeChain) => Answerer) =>
  () =>
  (method) =>
    method === wanted ? answer : undefined;

type Lie = (chain: FakeChain, id: string, other: { raw: Buffer }) => Answerer;

const BATCH = 'blockchain.transaction.get_batch';

const withPair =
  (change: (pair: readonly [string | null, object], other: { raw: Buffer }) => unknown): Lie =>
  (chain, id, other) =>
  (method) =>
    method === BATCH ? { [id]: change(chain.pair(id), other) } : undefined;

/** An unconfirmed payment of this amount to the account. */
const madeUp =
  (amount: bigint): Lie =>
  () => {
    const paid = payTo(testAccount('alice').key(0, 0), amount);
    const { txid, raw } = made(transactionOf([foreignOutPoint('4')], [paid]));
    const id = hashToHex(txid);
    return (method) => {
      if (method === 'blockchain.address.get_history') return [{ tx_hash: id, height: 0 }];
      return method === BATCH ? { [id]: [raw.toString('hex'), { block_height: -1 }] } : undefined;
    };
  };

const LIES: Readonly<Record<string, Lie>> = {
  'serves another chain': only('server.features', { genesis_hash: '00'.repeat(32) }),
  'sent invalid features': only('server.features', 7),
  'sent an invalid header': only('blockchain.headers.subscribe', { hex: 'abc', height: 4 }),
  'sent no headers': only('blockchain.block.headers', []),
  'sent invalid headers': only('blockchain.block.headers', { base64: 'AAAA' }),
  'does not follow its predecessor': (chain) => (method, params) => {
    if (method !== 'blockchain.block.headers') return undefined;
    const bad = chain.branch(2, 9);
    bad.mine(2);
    bad.blocks[2] = { ...bad.blocks[2]!, header: Buffer.alloc(112, 3) };
    const [start, count] = params as [number, number];
    const headers = bad.blocks.slice(start, start + count).map(({ header }) => header);
    return { base64: deflateRawSync(Buffer.concat(headers)).toString('base64') };
  },
  'did not answer for each address': only('blockchain.address.subscribe', [null]),
  'invalid status': () => (method, params) =>
    method === 'blockchain.address.subscribe' ? params.map(() => 'status') : undefined,
  'sent an invalid history': only('blockchain.address.get_history', [{ tx_hash: 'abc', height: 1 }]),
  'invalid history of': (_chain, id) => (method) =>
    method === 'blockchain.address.get_history'
      ? [
          { tx_hash: id, height: 3 },
          { tx_hash: id, height: 3 },
        ]
      : undefined,
  'sent no transactions': only(BATCH, null),
  'sent another transaction than': withPair(([, proof], { raw }) => [raw.toString('hex'), proof]),
  'another transaction': withPair(([raw, proof]) => [`${raw!}00`, proof]),
  'wrong merkle branch': withPair(([raw, proof]) => [raw, { ...proof, merkle: ['11'.repeat(32)] }]),
  'sent a wrong merkle branch': withPair(([raw, proof]) => [raw, { ...proof, pos: 5 }]),
  'sent an invalid merkle branch': withPair(([raw, proof]) => [raw, { ...proof, merkle: 'abc' }]),
  'did not send the position of a transaction': withPair(([raw]) => [raw, {}]),
  'is in block 999, which it does not have': withPair(([raw, proof]) => [
    raw,
    { ...proof, block_height: 999 },
  ]),
  'which it does not have': withPair(([, proof]) => [null, proof]),
  'pays more than the maximum supply': madeUp(1n << 62n),
  'sent an invalid transaction': madeUp(-1n),
  'sent invalid JSON': (_chain) => (method) =>
    method === 'blockchain.address.get_history' ? new RawAnswer('{"id": 1, nonsense}\n') : undefined,
  'sent an answer of more than 1 MiB': (_chain) => (method) =>
    method === 'blockchain.address.get_history' ? new RawAnswer(Buffer.alloc(2 << 20, 0x20)) : undefined,
};

describe('a hub that lies', () => {
  it.each(Object.entries(LIES))('is not believed when it %s', async (words, lie) => {
    const account = testAccount('alice');
    const { chain, id, other } = paidChain(account);
    const [liar, honest] = [await FakeHub.start(chain), await FakeHub.start(chain)];
    liar.answer = lie(chain, id, other);
    const { ledger, warnings } = await ledgers.open([liar, honest], { limits: { maxLineBytes: 1 << 20 } });
    await ledger.add(account);
    await ledger.whenSynced();
    expect(await total(ledger, account)).toBe(100n);
    expect(await ledger.database.transactionCount({ accountIds: null })).toBe(1);
    expect(hashToHex(ledger.headers.hashAt(ledger.height)!)).toBe(
      hashToHex(headerHash(chain.blocks.at(-1)!.header)),
    );
    expect(warnings.join('\n')).toContain(words);
    expect(warnings.join('\n')).toContain(`The hub 127.0.0.1:${liar.server.port} `);
    expect([liar.connections, honest.connections]).toEqual([0, 1]);
  });

  it('is disconnected when it is silent', async () => {
    const account = testAccount('alice');
    const { chain } = paidChain(account);
    const [silent, honest] = [await FakeHub.start(chain), await FakeHub.start(chain)];
    silent.answer = (method) => (method === 'blockchain.address.get_history' ? SILENCE : undefined);
    const { ledger } = await ledgers.open([silent, honest], { limits: { callTimeoutMs: 500 } });
    await ledger.add(account);
    await ledger.whenSynced();
    expect(await total(ledger, account)).toBe(100n);
    expect(honest.connections).toBe(1);
  });

  it.each<[string, (chain: FakeChain) => FakeChain['history'], (id: string) => string]>([
    [
      'omits a proven transaction',
      () => () => [],
      (id) => `omits the transaction ${id} of block 3 from the history`,
    ],
    [
      'reports a proven transaction as unconfirmed',
      (chain) => (address) => chain.history(address).map((entry) => ({ ...entry, height: 0 })),
      (id) => `announces the transaction ${id} of block 3 at height 0 in the history`,
    ],
  ])('is disconnected when it %s', async (_what, historyOf, words) => {
    const account = testAccount('alice');
    const { chain, id } = paidChain(account);
    const [liar, honest] = [await FakeHub.start(chain), await FakeHub.start(chain)];
    const { ledger, warnings } = await ledgers.open([liar, honest]);
    await ledger.add(account);
    await ledger.whenSynced();
    expect([liar.connections, honest.connections]).toEqual([1, 0]);
    const branch = chain.branch(chain.height, 0);
    branch.history = historyOf(chain);
    const pair = chain.pair(id);
    // The lying hub returns no merkle proof for this transaction.
    liar.answer = (method) => (method === BATCH ? { [id]: [pair[0], { block_height: -1 }] } : undefined);
    liar.chain = branch;
    liar.tell();
    await ledger.hub.call('server.ping', []);
    while (honest.connections === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await ledger.whenSynced();
    expect(warnings.join('\n')).toContain(words(id));
    expect(await total(ledger, account)).toBe(100n);
    // From now on, this hub is the last choice.
    honest.drop();
    while (honest.connections === 1) await new Promise((resolve) => setTimeout(resolve, 5));
    await ledger.hub.call('server.ping', []);
    expect([liar.connections, honest.connections]).toEqual([0, 1]);
  });

  it('is used again if no other hub is available, and its correct answers are accepted', async () => {
    const account = testAccount('alice');
    const { chain, id } = paidChain(account);
    const hub = await FakeHub.start(chain);
    let lies = 2;
    hub.answer = (method) => {
      if (method !== BATCH || lies-- <= 0) return undefined;
      return { [id]: ['00', {}] };
    };
    const { ledger, warnings } = await ledgers.open([hub]);
    await ledger.add(account);
    await ledger.whenSynced();
    expect(warnings.length).toBe(2);
    expect(await total(ledger, account)).toBe(100n);
  });

  it('about its height counts until it has no more headers to show', async () => {
    const account = testAccount('alice');
    const { chain } = paidChain(account);
    chain.mine(2100);
    const hub = await FakeHub.start(chain);
    const hex = chain.blocks.at(-1)!.header.toString('hex');
    hub.answer = (method) =>
      method === 'blockchain.headers.subscribe' ? { hex, height: 9_000_000 } : undefined;
    const { ledger } = await ledgers.open([hub]);
    const reported: unknown[] = [];
    ledger.on('headers', () => reported.push(ledger.status()));
    await ledger.add(account);
    await ledger.whenSynced();
    expect(reported[0]).toMatchObject({
      blocks: 2000,
      blocks_behind: 8_998_000,
      headers_synchronization_progress: 0,
    });
    expect(ledger.status()).toMatchObject({
      blocks: 2104,
      blocks_behind: 0,
      headers_synchronization_progress: 100,
    });
    expect(await total(ledger, account)).toBe(100n);
  });

  it('is not blamed for corrupt local headers', async () => {
    const account = testAccount('alice');
    const { chain } = paidChain(account);
    // So many blocks follow that the header of the payment's block is not in memory.
    chain.mine(600);
    const hub = await FakeHub.start(chain);
    const { ledger, warnings } = await ledgers.open([hub]);
    while (ledger.height < chain.height) await new Promise((resolve) => setTimeout(resolve, 5));
    await ledger.hub.call('server.ping', []);
    const { path } = ledger.headers;
    const file = readFileSync(path);
    // Corrupts the merkle root of the payment's block.
    const whole = Buffer.from(file);
    file[3 * 112 + 40]! ^= 4;
    writeFileSync(path, file);
    await ledger.add(account);
    await ledger.whenSynced();
    expect(await total(ledger, account)).toBe(100n);
    expect(warnings.join('\n')).toContain(`The block headers in ${path} are corrupt from height 3 on.`);
    expect(warnings.join('\n')).not.toContain('sent invalid data');
    expect(hub.connections).toBe(1);
    expect(readFileSync(path)).toEqual(whole);
  });

  it('answers questions about other transactions without an effect', async () => {
    const chain = new FakeChain();
    const [liar, honest] = [await FakeHub.start(chain), await FakeHub.start(chain)];
    liar.answer = (method) => (method === 'blockchain.claimtrie.resolve' ? 7 : undefined);
    honest.answer = (method) =>
      method === 'blockchain.claimtrie.resolve' ? Buffer.from('right').toString('base64') : undefined;
    const { ledger, warnings } = await ledgers.open([liar, honest]);
    await ledger.whenSynced();
    expect((await ledger.hub.resolve(['lbry://a'])).toString()).toBe('right');
    expect(warnings.join('\n')).toContain('sent no outputs');
    honest.answer = () => null;
    expect(await ledger.hub.search({})).toEqual(Buffer.alloc(0));
    honest.answer = () => undefined;
    await expect(ledger.hub.claimById('x')).rejects.toMatchObject({
      name: 'RPCError',
      message: /unknown method/,
    });
  });

  it('cannot report that it sent another transaction', async () => {
    const chain = new FakeChain();
    const [liar, honest] = [await FakeHub.start(chain), await FakeHub.start(chain)];
    liar.answer = (method) => (method === 'blockchain.transaction.broadcast' ? '00'.repeat(32) : undefined);
    const { ledger, warnings } = await ledgers.open([liar, honest]);
    await ledger.whenSynced();
    const tx = transactionOf([foreignOutPoint('1')], [payTo(testKey('x'), 1n)]);
    await ledger.broadcast(tx);
    expect(chain.mempool.length).toBe(1);
    expect(warnings.join('\n')).toContain('with another transaction id');
  });

  it('and no other hub is a clear failure of calls that need one', async () => {
    const gone = { server: { host: '127.0.0.1', port: 1 } } as FakeHub;
    const { ledger } = await ledgers.open([gone], { limits: { callTimeoutMs: 50 } });
    const account = testAccount('alice');
    await ledger.add(account);
    expect(await ledger.database.addressCount({ accountIds: ['alice'] })).toBe(7);
    await expect(ledger.hub.resolve(['a'])).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(await ledger.reconnect()).toBe(false);
    expect(ledger.status()).toMatchObject({ connected: null, servers: [] });
  });
});
