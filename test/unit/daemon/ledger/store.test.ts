import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { LedgerStore } from '../../../../src/daemon/ledger/store/ledgerStore.js';
import type { LedgerCoinFilter } from '../../../../src/daemon/ledger/ledgerDatabase.js';
import { markCorrupt } from '../../../../src/daemon/ledger/store/schema.js';
import {
  CLAIM_TXO_TYPES,
  SPENDABLE_TXO_TYPES,
  TXO_TYPE,
  type TxoFilter,
} from '../../../../src/daemon/ledger/txoQuery.js';
import type { NewOutput } from '../../../../src/daemon/wallet/tx/newOutputs.js';
import type { OutPoint } from '../../../../src/primitives/transaction.js';
import { loadSqlite, type SqliteProvider } from '../../../../src/sqlite/sqliteProvider.js';
import { EnvironmentError } from '../../../../src/util/text/environmentError.js';
import { toHex } from '../../../../src/util/bytes.js';
import { LedgerModel, type ModelTx } from '../../../support/ledgerModel.js';
import {
  CLAIM_KINDS,
  claimTo,
  foreignOutPoint,
  made,
  payTo,
  payToScript,
  purchaseOutput,
  randomNumbers,
  signedSupportTo,
  supportTo,
  testKey,
  transactionOf,
  type TestKey,
} from '../../../support/ledgerTransactions.js';
import { IS_LONG } from '../../../support/long.js';

let provider: SqliteProvider;
let folder: string;
let path: string;
let store: LedgerStore;

beforeAll(async () => {
  provider = await loadSqlite();
});

const removeFiles = (): void => {
  for (const suffix of ['', '-wal', '-shm', '-journal']) rmSync(path + suffix, { force: true });
};
const open = (): LedgerStore => new LedgerStore(provider, { path, ledgerId: 'lbc_regtest' });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ledger-'));
  path = join(folder, 'ledger.sqlite');
  store = open();
});

afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true, force: true });
});

const ACCOUNTS = ['alice', 'bob'];
const keysOf = (label: string, count: number): TestKey[] =>
  Array.from({ length: count }, (_, n) => testKey(`${label} ${n}`));

const newKey = (key: TestKey, index: number) => ({ ...key, index, depth: 2 });

const confirmed = (tx: ReturnType<typeof made>, height: number, position = 1) => ({
  ...tx,
  height,
  position,
  isVerified: height > 0,
});

/** Random operations on a store and on a model. */
class Life {
  readonly model = new LedgerModel();
  readonly random: (limit: number) => number;
  readonly keys = keysOf('mine', 24);
  readonly strangers = keysOf('stranger', 4);
  readonly coins: { outPoint: OutPoint; key: TestKey | null }[] = [];
  /** Made and not saved. */
  readonly unsaved: ModelTx[] = [];
  count = 0;

  constructor(seed: number) {
    this.random = randomNumbers(seed);
  }

  pick<T>(items: readonly T[]): T {
    return items[this.random(items.length)]!;
  }

  output(): { output: NewOutput; key: TestKey | null } {
    const key = this.random(3) === 0 ? this.pick(this.strangers) : this.pick(this.keys);
    const amount = BigInt(this.random(1000) + 1) * 100_000_000_000_000n;
    const channelId = this.random(2) === 0 ? Buffer.alloc(20, this.random(3) + 1) : null;
    const claimId = Buffer.alloc(20, this.random(3) + 1);
    switch (this.random(6)) {
      case 0: {
        const options = { channelId, withSource: this.random(2) === 0 };
        return {
          output: claimTo(key, amount, `name${this.random(4)}`, this.pick(CLAIM_KINDS), options),
          key,
        };
      }
      case 1:
        return {
          output: channelId
            ? signedSupportTo(key, amount, claimId, channelId)
            : supportTo(key, amount, claimId),
          key,
        };
      case 2:
        return { output: payToScript(key, amount), key: null };
      default:
        return { output: payTo(key, amount), key };
    }
  }

  make(): void {
    const inputs: OutPoint[] = [];
    for (let n = this.random(3); n >= 0; n--) {
      const at = this.random(this.coins.length + 2);
      const coin = this.coins[at];
      if (coin) this.coins.splice(at, 1);
      inputs.push(coin?.outPoint ?? foreignOutPoint(`${this.count}:${n}`));
    }
    const outputs = Array.from({ length: this.random(4) + 1 }, () => this.output());
    if (this.random(8) === 0)
      outputs.splice(1, 0, { output: purchaseOutput(Buffer.alloc(20, 2)), key: null });
    const tx = made(
      transactionOf(
        inputs,
        outputs.map(({ output }) => output),
      ),
    );
    outputs.forEach(({ key }, index) => this.coins.push({ outPoint: { hash: tx.txid, index }, key }));
    this.count++;
    const height = this.random(4) === 0 ? this.random(2) - 1 : this.random(40) + 1;
    this.unsaved.push({ ...tx, height, position: height > 0 ? this.count : -1 });
  }

  /** Saves made transactions in any order. */
  save(): void {
    const batch: ModelTx[] = [];
    for (let n = this.random(4); n >= 0 && this.unsaved.length > 0; n--)
      batch.push(this.unsaved.splice(this.random(this.unsaved.length), 1)[0]!);
    store.saveTransactions(batch.map((tx) => ({ ...tx, isVerified: tx.height > 0 })));
    for (const tx of batch) this.model.txs.set(toHex(tx.txid), tx);
  }

  own(): void {
    const account = this.pick(ACCOUNTS);
    const index = this.random(this.keys.length);
    const key = this.keys[index]!;
    store.addKeys(account, index % 2, [newKey(key, index)]);
    this.model.own(account, key.address);
    // The hub reports earlier payments to the new address.
    const paying = this.model.txos().filter(({ address }) => address === key.address);
    const txids = [...new Map(paying.map(({ tx }) => [toHex(tx.txid), tx.txid])).values()];
    store.saveHistories(
      [{ address: key.address, status: 's', txids: Buffer.concat(txids) }],
      [],
      [...this.model.txs.values()].map(({ txid }) => txid),
    );
  }

  move(): void {
    const known = [...this.model.txs.values()];
    if (known.length === 0) return;
    const tx = this.pick(known);
    tx.height = this.random(40) + 1;
    tx.position = this.random(1000);
    store.saveTransactions([{ ...tx, isVerified: true }]);
  }

  reserve(): void {
    const txos = this.model.txos();
    if (txos.length === 0) return;
    const txo = this.pick(txos);
    const outPoint = { txid: txo.tx.txid, nout: txo.nout };
    if (this.random(3) > 0) {
      expect(store.reserve([outPoint])).toBe(!txo.isSpent && !txo.isReserved);
      if (!txo.isSpent) this.model.reserved.add(txo.key);
    } else {
      store.release([outPoint]);
      this.model.reserved.delete(txo.key);
    }
  }

  rewind(): void {
    const height = this.random(40);
    store.rewind(height);
    for (const tx of this.model.txs.values())
      if (tx.height > height) {
        tx.height = 0;
        tx.position = -1;
      }
  }

  step(): void {
    const { random } = this;
    const choice = random(20);
    if (choice < 7) this.make();
    else if (choice < 13) this.save();
    else if (choice < 16) this.own();
    else if (choice < 17) this.move();
    else if (choice < 19) this.reserve();
    else this.rewind();
  }

  filter(): TxoFilter {
    const { random } = this;
    const maybe = <T>(value: () => T): T | undefined => (random(5) === 0 ? value() : undefined);
    const bool = (): boolean => random(2) === 0;
    const id = (): string => toHex(Buffer.alloc(20, random(3) + 1));
    const types = (): number[] => [random(7), random(7)];
    const known = [...this.model.txs.values()];
    const given = {
      types: maybe(types),
      notTypes: maybe(types),
      txids: maybe(() => (known.length === 0 ? [] : [this.pick(known).txid, this.pick(known).txid])),
      nout: maybe(() => random(3)),
      claimIds: maybe(() => [id(), id()]),
      names: maybe(() => [`name${random(4)}`, `name${random(4)}`]),
      channelIds: maybe(() => [id()]),
      notChannelIds: maybe(() => [id(), id()]),
      repostedClaimIds: maybe(() => [toHex(Buffer.alloc(20, 7))]),
      isSpent: random(2) === 0 ? bool() : undefined,
      hasSource: maybe(bool),
      isMyInput: maybe(bool),
      isMyOutput: maybe(() => (random(3) === 0 ? null : bool())),
      isMyInputOrOutput: maybe(bool),
      excludeInternalTransfers: maybe(bool),
      minHeight: maybe(() => random(20)),
      maxHeight: maybe(() => 20 + random(20)),
      addresses: maybe(() => [this.pick(this.keys).address, this.pick(this.strangers).address]),
    };
    const accountIds = ACCOUNTS.filter(() => random(3) > 0);
    const present = Object.entries(given).filter(([, value]) => value !== undefined);
    return { accountIds, ...Object.fromEntries(present) } as TxoFilter;
  }

  compare(): void {
    const filter = this.filter();
    const expected = this.model.select(filter);
    const sum = expected.reduce((total, { amountDewies }) => total + amountDewies, 0n);
    expect(store.txoCount(filter), JSON.stringify(filter)).toBe(expected.length);
    expect(store.txoSum(filter)).toBe(sum);
    const rows = store.txos(filter, {}, { walletAccountIds: ACCOUNTS });
    const byKey = new Map(expected.map((txo) => [txo.key, txo]));
    const rank = (height: number): number => (height > 0 ? height : 1e9 + height);
    rows.forEach((row, n) => {
      const txo = byKey.get(`${toHex(row.txid)}:${row.nout}`)!;
      expect(row).toMatchObject({
        height: txo.tx.height,
        amountDewies: txo.amountDewies,
        address: txo.address,
        isSpent: txo.isSpent,
        isReserved: txo.isReserved,
        isMyOutput: txo.owners.size > 0,
        isMyInput: txo.inputOwners.size > 0,
        txoType: txo.type,
        claimId: txo.claimId,
        claimName: txo.claimName,
        channelId: txo.channelId,
        hasSource: txo.hasSource,
      });
      const before = rows[n - 1];
      if (!before) return;
      const [a, b] = [rank(before.height), rank(row.height)];
      expect(a > b || (a === b && (before.position >= row.position || row.position < 0))).toBe(true);
    });
    const page = { offset: this.random(5), limit: this.random(5) };
    expect(store.txos(filter, page, { walletAccountIds: ACCOUNTS })).toEqual(
      rows.slice(page.offset, page.offset + page.limit),
    );
    const days = store.txoPlot(filter, { fromDay: 0 });
    const inBlocks = expected.filter(({ tx }) => tx.height > 0);
    expect(days.reduce((total, day) => total + day.totalDewies, 0n)).toBe(
      inBlocks.reduce((total, { amountDewies }) => total + amountDewies, 0n),
    );
  }

  compareBalances(): void {
    for (const account of ACCOUNTS) {
      const unspent = this.model.select({ accountIds: [account], isSpent: false });
      const total = (of: typeof unspent): bigint =>
        of.reduce((sum, { amountDewies }) => sum + amountDewies, 0n);
      const types = (wanted: readonly number[]) => unspent.filter(({ type }) => wanted.includes(type));
      const supports = types([TXO_TYPE.support]);
      expect(store.balance([account])).toEqual({
        total: total(unspent),
        available: total(types([TXO_TYPE.other, TXO_TYPE.purchase])),
        reserved: total(unspent.filter(({ type }) => type !== TXO_TYPE.other && type !== TXO_TYPE.purchase)),
        claims: total(types(CLAIM_TXO_TYPES)),
        supports: total(supports.filter(({ inputOwners }) => inputOwners.has(account))),
        tips: total(supports.filter(({ inputOwners }) => !inputOwners.has(account))),
      });
      this.compareCoins(account);
      const bounded = store.balance([account], 20).total;
      expect(bounded).toBe(total(unspent.filter(({ tx }) => tx.height > 0 && tx.height <= 20)));
    }
    this.compareCoinsOfAll(ACCOUNTS);
    this.compareCoinsOfAll([...ACCOUNTS].reverse());
    this.compareTransactions();
  }

  compareCoins(account: string): void {
    const filter = { accountIds: [account], types: SPENDABLE_TXO_TYPES, isSpent: false };
    const rows = store.txos(filter, { order: 'height' });
    const reported = this.coinsOf(account);
    expect(reported.length).toBe(rows.length);
    expect(reported.map(([, , ...facts]) => facts)).toEqual(
      rows.map(({ amountDewies, height, isVerified }) => [Number(amountDewies), height, Number(isVerified)]),
    );
    const numbers = reported.map(([number]) => number!).reverse();
    const reserved = store.reserveCoins(numbers);
    expect(reserved).toMatchObject(
      rows.map(({ txid, nout, address }) => ({ txid, nout, address })).reverse(),
    );
    if (numbers.length > 0) expect(store.reserveCoins(numbers.slice(0, 1))).toBeNull();
    store.release(reserved!);
    for (const isConfirmed of [false, true])
      this.compareAmounts(
        { accountIds: [account], isConfirmed },
        reported.filter(([, , , height]) => !isConfirmed || height! > 0),
      );
  }

  coinsOf(account: string): number[][] {
    const numbers = store.coins([account], true).split(' ').filter(Boolean).map(Number);
    return Array.from({ length: numbers.length / 5 }, (_, n) => numbers.slice(5 * n, 5 * n + 5));
  }

  /** An output that several accounts share belongs to the first one. */
  compareCoinsOfAll(accountIds: readonly string[]): void {
    const coins = new Map<number, number[]>();
    for (const account of accountIds)
      for (const coin of this.coinsOf(account)) if (!coins.has(coin[0]!)) coins.set(coin[0]!, coin);
    this.compareAmounts({ accountIds, isConfirmed: false }, [...coins.values()]);
  }

  /** A coin is a list of numbers: output, transaction, amount. */
  compareAmounts(filter: LedgerCoinFilter, coins: readonly number[][]): void {
    const having = (amount: number): number[][] => coins.filter((coin) => coin[2] === amount);
    const amounts = [...new Set(coins.map((coin) => coin[2]!))].sort((a, b) => b - a);
    const sum = (some: readonly number[][]): bigint => some.reduce((all, coin) => all + BigInt(coin[2]!), 0n);
    expect(store.coinTotals(filter, null)).toEqual({
      amounts: 0,
      count: coins.length,
      sumDewies: sum(coins),
    });
    expect(store.coinAmounts(filter, null)).toEqual(
      amounts.map((amount) => ({ amountDewies: BigInt(amount), count: having(amount).length })),
    );
    for (const [n, amount] of amounts.entries()) {
      const more = coins.filter((coin) => coin[2]! >= amount);
      expect(store.coinTotals(filter, BigInt(amount))).toEqual({
        amounts: n + 1,
        count: more.length,
        sumDewies: sum(more),
      });
      expect(store.coinAmounts(filter, BigInt(amount))).toHaveLength(amounts.length - n - 1);
      const before = amounts[n - 1];
      expect(store.leastCoinAmount(filter, BigInt(amount) + 1n)).toBe(
        before === undefined ? null : BigInt(before),
      );
      const numbers = having(amount).map(([number]) => number!);
      for (const count of [1, numbers.length, numbers.length + 1])
        expect(store.coinsOfAmount(filter, { amountDewies: BigInt(amount), count })).toEqual(
          numbers.slice(0, count),
        );
    }
  }

  compareTransactions(): void {
    const ids = this.model.transactionIds(ACCOUNTS).sort();
    const rows = store.transactions({ accountIds: ACCOUNTS }, {}, ACCOUNTS);
    expect(rows.map(({ txid }) => toHex(txid)).sort()).toEqual(ids);
    expect(store.transactionCount({ accountIds: ACCOUNTS })).toBe(ids.length);
    const txos = this.model.txos();
    for (const row of rows) {
      const kept = txos.filter(({ tx }) => tx.txid.equals(row.txid));
      expect(row.outputs.flatMap((txo) => txo?.nout ?? [])).toEqual(kept.map(({ nout }) => nout));
      expect(row.spent.length).toBe(this.model.txs.get(toHex(row.txid))!.tx.inputs.length);
    }
    for (const account of ACCOUNTS) {
      const one = store.transactions({ accountIds: [account] }, {}, ACCOUNTS).map(({ txid }) => toHex(txid));
      expect(one.toSorted()).toEqual(this.model.transactionIds([account]).sort());
    }
  }
}

describe('LedgerStore', () => {
  it.each(IS_LONG ? [1, 2, 3] : [1])(
    'gives the results of plain lists, for any data in any order (%d)',
    (seed) => {
      const life = new Life(seed);
      for (let step = 0; step < 200; step++) {
        life.step();
        if (step % 4 === 3) life.compare();
        if (step % 24 === 23) life.compareBalances();
      }
      expect(life.model.txos().length).toBeGreaterThan(20);
    },
  );

  it('reserves all or nothing, keeps reservations over a restart, and distinguishes old ones from new ones', () => {
    const [key] = keysOf('key', 1);
    store.addKeys('alice', 0, [newKey(key!, 0)]);
    const txs = [1, 2, 3].map((n) => made(transactionOf([foreignOutPoint(`${n}`)], [payTo(key!, 100n)])));
    store.saveTransactions(txs.map((tx, n) => confirmed(tx, n + 1)));
    const [a, b, c] = txs.map(({ txid }) => ({ txid, nout: 0 }));
    expect(store.reserve([a!, b!])).toBe(true);
    expect(store.reserve([c!, b!])).toBe(false);
    expect(store.balance(['alice']).total).toBe(100n);
    expect(store.reserve([{ txid: Buffer.alloc(32), nout: 0 }])).toBe(false);

    store.close();
    store = open();
    expect(store.balance(['alice']).total).toBe(100n);
    expect(store.reserve([c!])).toBe(true);
    store.releaseLeft();
    expect(store.balance(['alice']).total).toBe(200n);
    store.releaseAll(['bob']);
    expect(store.balance(['alice']).total).toBe(200n);
    store.releaseAll(['alice']);
    expect(store.balance(['alice']).total).toBe(300n);
  });

  it('finds chains of unconfirmed transactions that are at the limit of the mempool', () => {
    const [key] = keysOf('mine', 1);
    store.addKeys('alice', 0, [newKey(key!, 0)]);
    const spending = (prev: OutPoint, outputs = 1) =>
      made(
        transactionOf(
          [prev],
          Array.from({ length: outputs }, () => payTo(key!, 1000n)),
        ),
      );
    const save = (tx: ReturnType<typeof made>, height = 0) =>
      store.saveTransactions([confirmed(tx, height, -1)]);
    const mined = spending(foreignOutPoint('coin'), 2);
    save(mined, 5);
    const chain = [spending({ hash: mined.txid, index: 0 })];
    for (let n = 1; n < 24; n++) chain.push(spending({ hash: chain.at(-1)!.txid, index: 0 }));
    for (const tx of chain) save(tx);
    expect(store.longChains()).toEqual([]);
    const last = spending({ hash: chain.at(-1)!.txid, index: 0 });
    save(last);
    // With 25 transactions in a row, the first one cannot have a further descendant, so none of them can be spent.
    expect(store.longChains()).toHaveLength(25);
    const filter = { accountIds: ['alice'], isConfirmed: false, notOf: store.longChains() };
    expect(store.coinTotals({ ...filter, notOf: [] }, null).count).toBe(2);
    expect(store.coinTotals(filter, null).count).toBe(1);
    expect(store.coinAmounts(filter, null)).toEqual([{ amountDewies: 1000n, count: 1 }]);
    expect(store.coinsOfAmount(filter, { amountDewies: 1000n, count: 2 })).toHaveLength(1);
    expect(store.leastCoinAmount(filter, 1n)).toBe(1000n);
    save(chain[0]!, 6);
    expect(store.longChains()).toEqual([]);
    const root = spending({ hash: mined.txid, index: 1 }, 30);
    save(root);
    for (let n = 0; n < 23; n++) save(spending({ hash: root.txid, index: n }));
    expect(store.longChains()).toEqual([]);
    save(spending({ hash: root.txid, index: 29 }));
    expect(store.longChains()).toHaveLength(25);
  });

  it('adds amounts beyond a double and 64 bits', () => {
    const [key] = keysOf('key', 1);
    store.addKeys('alice', 0, [newKey(key!, 0)]);
    const much = 9_000_000_000_000_000_001n;
    for (const n of [1, 2]) {
      const tx = made(transactionOf([foreignOutPoint(`${n}`)], [payTo(key!, much)]));
      store.saveTransactions([confirmed(tx, n)]);
    }
    expect(store.txoSum({ accountIds: ['alice'] })).toBe(2n * much);
    expect(store.txos({ accountIds: ['alice'] })[0]!.amountDewies).toBe(much);
  });

  it('finds the differences to another history of an address', () => {
    const [mine] = keysOf('key', 1);
    store.addKeys('alice', 0, [newKey(mine!, 0)]);
    const coins = [1, 2, 3, 4].map((n) =>
      made(transactionOf([foreignOutPoint(`${n}`)], [payTo(mine!, 100n)])),
    );
    const [a, b, c, d] = coins.map(({ txid }) => txid);
    const { address } = mine!;
    store.saveTransactions([confirmed(coins[0]!, 5), confirmed(coins[1]!, 6), confirmed(coins[2]!, 0, -1)]);
    const unlike = (...reported: [Buffer, number][]): number[] =>
      store.unlike(
        address,
        Buffer.concat(reported.map(([hash]) => hash)),
        Int32Array.from(reported, ([, height]) => height),
      );
    expect(unlike([a!, 5])).toEqual([0]);
    const save = (...txids: Buffer[]) =>
      store.saveHistories([{ address, status: 's', txids: Buffer.concat(txids) }], [], []);
    save(a!, b!, c!);
    expect(unlike([a!, 5], [b!, 6], [c!, 0])).toEqual([]);
    expect(unlike([c!, -1], [b!, 7], [d!, 8], [a!, 5])).toEqual([0, 1, 2]);
    const usesOf = (): number => store.addresses({ accountIds: ['alice'] })[0]!.usedTimes;
    expect(usesOf()).toBe(3);

    store.saveTransactions([confirmed(coins[3]!, 7)]);
    save(a!, d!, c!, b!);
    expect(unlike([a!, 5], [d!, 7], [c!, 0], [b!, 6])).toEqual([]);
    expect(usesOf()).toBe(4);
    expect(save(a!, d!).removed.map(toHex).sort()).toEqual([b!, c!].map(toHex).sort());
    expect(usesOf()).toBe(2);
    expect(store.balance(['alice']).total).toBe(200n);
  });

  it('drops transactions without a history, and frees the outputs that they spent', () => {
    const [mine, change, other] = keysOf('key', 3);
    store.addKeys('alice', 0, [newKey(mine!, 0), newKey(change!, 1)]);
    const coin = made(transactionOf([foreignOutPoint('1')], [payTo(mine!, 100n)]));
    const spend = made(
      transactionOf([{ hash: coin.txid, index: 0 }], [payTo(other!, 60n), payTo(change!, 40n)]),
    );
    store.saveTransactions([confirmed(coin, 5), confirmed(spend, 0, -1)]);
    const histories = [
      { address: mine!.address, status: 'x', txids: Buffer.concat([coin.txid, spend.txid]) },
      { address: change!.address, status: 'y', txids: spend.txid },
    ];
    const { changed, removed } = store.saveHistories(histories, [spend.txid], []);
    expect(changed.map(({ accountIds }) => accountIds)).toEqual([['alice']]);
    expect(removed).toEqual([]);
    expect(store.balance(['alice']).total).toBe(40n);
    expect(store.unusedAddresses('alice', 0, 1)).toEqual([]);

    const without = [
      { address: mine!.address, status: 'z', txids: coin.txid },
      { address: change!.address, status: null, txids: Buffer.alloc(0) },
    ];
    expect(store.saveHistories(without, [], [spend.txid]).removed).toEqual([]);
    expect(store.balance(['alice']).total).toBe(40n);
    expect(store.saveHistories(without, [], []).removed).toEqual([spend.txid]);
    expect(store.balance(['alice']).total).toBe(100n);
    expect(store.addresses({ accountIds: ['alice'] }).map(({ usedTimes }) => usedTimes)).toEqual([1, 0]);
    // A transaction that was removed may return.
    expect(store.unusedAddresses('alice', 0, 1)).toEqual([]);
    expect(store.txoCount({ accountIds: ['alice'], isMyOutput: null })).toBe(1);
  });

  it('counts a transaction of our own in the histories of its addresses at once', () => {
    const [mine, change] = keysOf('key', 2);
    store.addKeys('alice', 0, [newKey(mine!, 0), newKey(change!, 1)]);
    const coin = made(transactionOf([foreignOutPoint('1')], [payTo(mine!, 100n)]));
    store.saveTransactions([confirmed(coin, 5)]);
    store.saveHistories([{ address: mine!.address, status: 'x', txids: coin.txid }], [], []);
    const spend = made(transactionOf([{ hash: coin.txid, index: 0 }], [payTo(change!, 90n)]));
    expect(store.saveBroadcast(confirmed(spend, 0, -1)).accountIds).toEqual(['alice']);
    store.saveBroadcast(confirmed(spend, 0, -1));
    expect(store.addresses({ accountIds: ['alice'] }).map(({ usedTimes }) => usedTimes)).toEqual([2, 1]);
    expect(store.balance(['alice']).total).toBe(90n);
  });

  it('knows the ends, gaps and least used addresses of a chain', () => {
    const keys = keysOf('key', 12);
    expect(store.chainEnd('alice', 0)).toEqual({ lastIndex: -1, unused: 0 });
    store.addKeys('alice', 0, keys.map(newKey));
    expect(store.chainEnd('alice', 0)).toEqual({ lastIndex: 11, unused: 12 });
    for (const n of [1, 5, 6]) {
      const tx = made(transactionOf([foreignOutPoint(`${n}`)], [payTo(keys[n]!, 1n)]));
      store.saveTransactions([confirmed(tx, n)]);
      store.saveHistories([{ address: keys[n]!.address, status: 's', txids: tx.txid }], [], []);
    }
    expect(store.chainEnd('alice', 0)).toEqual({ lastIndex: 11, unused: 5 });
    expect(store.maxGap('alice', 0)).toBe(3);
    expect(store.unusedAddresses('alice', 0, 1).map(({ index }) => index)).toEqual([
      0, 2, 3, 4, 7, 8, 9, 10, 11,
    ]);
    expect(store.unusedAddresses('alice', 0, 2).length).toBe(10);
    expect(store.statuses('alice').filter(({ status }) => status === 's').length).toBe(3);
    expect(store.chainsOf([keys[3]!.address])).toEqual([{ accountId: 'alice', chain: 0 }]);
  });

  it('lists purchases that an account paid', () => {
    const [mine, seller] = keysOf('key', 2);
    store.addKeys('alice', 0, [newKey(mine!, 0)]);
    store.addKeys('bob', 0, [newKey(seller!, 0)]);
    const claimId = Buffer.alloc(20, 2);
    const coin = made(transactionOf([foreignOutPoint('1')], [payTo(mine!, 100n)]));
    const bought = made(
      transactionOf([{ hash: coin.txid, index: 0 }], [payTo(seller!, 60n), purchaseOutput(claimId)]),
    );
    store.saveTransactions([confirmed(bought, 6), confirmed(coin, 5)]);
    const [row, ...rest] = store.transactions({ accountIds: ['alice'], isPurchase: true }, {}, ['alice']);
    expect(rest).toEqual([]);
    expect(row!.purchasedClaimId).toBe(toHex(claimId));
    expect(row!.outputs[0]!.txoType).toBe(TXO_TYPE.purchase);
    expect(store.transactionCount({ accountIds: ['bob'], isPurchase: true })).toBe(0);
    const bought2 = { accountIds: ['alice'], isPurchase: true, purchasedClaimIds: ['00'.repeat(20)] };
    expect(store.transactionCount(bought2)).toBe(0);
  });

  it('sums received tips of claims', () => {
    const [mine] = keysOf('key', 1);
    store.addKeys('alice', 0, [newKey(mine!, 0)]);
    const claim = made(transactionOf([foreignOutPoint('1')], [claimTo(mine!, 100n, 'a', 'stream')]));
    store.saveTransactions([confirmed(claim, 5)]);
    const [row] = store.txos({ accountIds: ['alice'] });
    const claimId = Buffer.from(row!.claimId!, 'hex').reverse();
    const tips = [2, 3].map((n) =>
      made(transactionOf([foreignOutPoint(`${n}`)], [supportTo(mine!, BigInt(n), claimId)])),
    );
    store.saveTransactions(tips.map((tx) => confirmed(tx, 6)));
    const filter = { accountIds: ['alice'], types: [TXO_TYPE.stream] };
    expect(store.txos(filter)[0]!.receivedTipsDewies).toBe(null);
    expect(store.txos(filter, {}, { withReceivedTips: true })[0]!.receivedTipsDewies).toBe(5n);
  });

  it('rebuilds a corrupt file, one of another version and one of another chain', () => {
    const [mine] = keysOf('key', 1);
    store.addKeys('alice', 0, [newKey(mine!, 0)]);
    store.close();
    store = new LedgerStore(provider, { path, ledgerId: 'lbc_testnet' });
    expect(store.addressCount({ accountIds: ['alice'] })).toBe(0);
    store.close();
    removeFiles();
    writeFileSync(path, 'this is not a database, but it is as long as one'.repeat(20));
    store = open();
    expect(store.addressCount({ accountIds: ['alice'] })).toBe(0);
    expect(store.notice).toContain(`${path} was corrupt and was moved to ${path}.damaged.`);
    expect(readFileSync(`${path}.damaged`, 'utf8')).toContain('this is not a database');
    store.addKeys('alice', 0, [newKey(mine!, 0)]);
    store.close();
    // The corruption was detected while the database was in use. The next start rebuilds it.
    expect(markCorrupt(path)).toContain('Start lbcnet again');
    store = open();
    expect(store.addressCount({ accountIds: ['alice'] })).toBe(0);
    expect(store.notice).toContain('was corrupt');
    store.addKeys('alice', 0, [newKey(mine!, 0)]);
    store.close();
    store = open();
    expect([store.notice, store.addressCount({ accountIds: ['alice'] })]).toEqual([null, 1]);
    store.close();
    const database = provider.open(path);
    database.exec('PRAGMA user_version = 12345');
    database.close();
    store = open();
    expect(store.addressCount({ accountIds: ['alice'] })).toBe(0);
  });

  it('keeps a file of the previous version, with its contents', () => {
    const [mine] = keysOf('key', 1);
    const tx = made(transactionOf([foreignOutPoint('1')], [payTo(mine!, 1n)]));
    store.addKeys('alice', 0, [newKey(mine!, 0)]);
    store.saveTransactions([confirmed(tx, 0)]);
    store.saveHistories([{ address: mine!.address, status: 's', txids: tx.txid }], [], []);
    store.close();
    const before = provider.open(path);
    before.exec('DROP TABLE former_use');
    before.exec('PRAGMA user_version = 2');
    before.close();
    for (const n of [1, 2]) {
      store = open();
      expect([n, store.notice, store.transactionCount({ accountIds: ['alice'] })]).toEqual([n, null, 1]);
      if (n === 1) store.close();
    }
    store.saveHistories([{ address: mine!.address, status: null, txids: Buffer.alloc(0) }], [], []);
    expect(store.addresses({ accountIds: ['alice'] })[0]!.usedTimes).toBe(0);
    expect(store.unusedAddresses('alice', 0, 1)).toEqual([]);
    expect(store.chainEnd('alice', 0)).toEqual({ lastIndex: 0, unused: 0 });
  });

  it.each(['', '-wal', '-journal'])('names an object in place of its file%s', (suffix) => {
    store.close();
    removeFiles();
    if (suffix !== '') open().close();
    rmSync(path + suffix, { force: true });
    mkdirSync(path + suffix);
    expect(open).toThrow(EnvironmentError);
    expect(open).toThrow(`${path + suffix}: it is a folder where a file should be (EISDIR). Move it away`);
    rmSync(path + suffix, { recursive: true });
    store = open();
  });

  it('loses a proof only by a rewind', () => {
    const key = testKey('mine');
    store.addKeys('alice', 0, [newKey(key, 0)]);
    const tx = made(transactionOf([foreignOutPoint('1')], [payTo(key, 5n)]));
    store.saveTransactions([confirmed(tx, 3)]);
    store.saveHistories([{ address: key.address, status: 's', txids: tx.txid }], [], []);
    const proven = { txid: tx.txid, height: 3, isVerified: true };
    store.saveTransactions([confirmed(tx, 0, -1)]);
    expect(store.known([tx.txid])).toEqual([proven]);
    expect(store.missingFrom(key.address, tx.txid, Int32Array.of(0))).toMatchObject({ height: 3 });
    expect(store.missingFrom(key.address, Buffer.alloc(0), Int32Array.of())).toMatchObject({ height: 3 });
    store.saveBroadcast(confirmed(tx, 0, -1));
    expect(store.known([tx.txid])).toEqual([proven]);
    store.saveTransactions([confirmed(tx, 4)]);
    expect(store.known([tx.txid])).toEqual([{ ...proven, height: 4 }]);
    store.rewind(3);
    expect(store.known([tx.txid])).toEqual([{ txid: tx.txid, height: 0, isVerified: false }]);
  });
});
