import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { txid, type Transaction, type TxOutput } from '../../../../src/primitives/transaction.js';
import { sha256 } from '../../../../src/crypto/hash.js';
import { scriptForDestination } from '../../../../src/script/standard.js';
import { atOnce } from '../../../../src/util/slices.js';
import { encodeDestination } from '../../../../src/script/address.js';
import { destinationKey, keyedDestination } from '../../../../src/wallet/destinationKey.js';
import { MINE } from '../../../../src/wallet/keys/isMine.js';
import type { Entry } from '../../../../src/wallet/ledger/entry.js';
import {
  accountBalances,
  legacyBalanceSat,
  moveBetweenAccounts,
} from '../../../../src/wallet/listing/accountBalances.js';
import { amountsOf } from '../../../../src/wallet/listing/amounts.js';
import { receivedSat } from '../../../../src/wallet/listing/received.js';
import { recentPieces } from '../../../../src/wallet/listing/recent.js';
import type { ListSelection } from '../../../../src/wallet/listing/selection.js';
import { sumsOf } from '../../../../src/wallet/listing/sumsOf.js';
import { entriesSince } from '../../../../src/wallet/listing/sinceBlock.js';
import type { Wallet } from '../../../../src/wallet/wallet.js';
import { extractDestination } from '../../../../src/script/standard.js';
import { randomOf } from '../../../support/claimLife.js';
import { FakeNode } from '../support/fakeNode.js';
import { openTestWallet, type TestWallet } from '../support/openWallet.js';

const FOREIGN = scriptForDestination({ type: 'scripthash', hash: Buffer.alloc(20, 9) });
const LABELS = ['a', 'b', ''];
const ALL: ListSelection = { filter: MINE.spendable, label: null, withAccounts: false, minDepth: 0 };

let node: FakeNode;
let opened: TestWallet;
let wallet: Wallet;
const heights: number[] = [];

function makeTx(
  serial: number,
  spent: readonly { hash: Buffer; index: number }[],
  outputs: TxOutput[],
): Transaction {
  const prevouts = spent.length > 0 ? spent : [{ hash: sha256(Buffer.from(`from ${serial}`)), index: 0 }];
  const inputs = prevouts.map((prevout) => ({
    prevout,
    scriptSig: Buffer.of(serial & 0xff, serial >> 8),
    sequence: 0xffffffff,
    witness: [],
  }));
  return { version: 2, inputs, outputs, lockTime: 0 };
}

/** Incoming and outgoing payments with labelled addresses and change. Some are unconfirmed. */
beforeAll(async () => {
  node = new FakeNode();
  node.mineEmpty(1);
  opened = await openTestWallet(node, { keypoolSize: 10 });
  ({ wallet } = opened);
  const random = randomOf(7);
  const scripts: Buffer[] = [];
  for (let i = 0; i < 12; i++) {
    const script = await opened.script();
    scripts.push(script);
    const label = LABELS[i % 4];
    if (label === undefined) continue;
    const address = encodeDestination(extractDestination(script)!, wallet.prefixes);
    await wallet.change((batch) => wallet.book.set(batch, address, label, 'receive'));
  }
  const coins: { hash: Buffer; index: number }[] = [];
  for (let i = 0; i < 120; i++) {
    const isSent = coins.length > 2 && random(3) === 0;
    const spent = isSent ? coins.splice(random(coins.length - 1), 1 + random(2)) : [];
    const outputs = [
      { value: BigInt(1000 + i), script: scripts[random(scripts.length)]! },
      { value: BigInt(10 + i), script: random(2) === 0 ? FOREIGN : scripts[random(scripts.length)]! },
    ];
    const tx = makeTx(i, spent, outputs);
    outputs.forEach(({ script }, index) => script !== FOREIGN && coins.push({ hash: txid(tx), index }));
    if (random(8) > 0) node.mine(undefined, [tx]);
    else node.addToMempool(tx);
    if (random(15) === 0) {
      await wallet.change((batch) => moveBetweenAccounts(wallet, batch, 'a', 'b', BigInt(i + 1), `${i}`));
    }
    heights.push(wallet.followedHeight);
  }
});
afterAll(() => opened.close());

/** All items, the latest first, found by reading everything. */
function naive({ filter, label, withAccounts, minDepth }: ListSelection): string[] {
  const { ledger, accounts, book } = wallet;
  const rows: { orderPos: number; items: string[] }[] = [];
  for (const entry of ledger.all()) {
    const { sent, received } = amountsOf(wallet, entry, ledger.record(entry), filter);
    const items: string[] = [];
    const name = (kind: string, n: number): string =>
      `${Buffer.from(entry.key, 'latin1').toString('hex')} ${kind} ${n}`;
    if (label === null || (withAccounts && entry.row.fromAccount === label))
      for (const { n } of sent) items.push(name('send', n));
    if (ledger.depth(entry) >= minDepth)
      for (const { n, to } of received)
        if (label === null || (book.at(to)?.label ?? '') === label) items.push(name('receive', n));
    rows.push({ orderPos: entry.row.orderPos, items });
  }
  for (const move of withAccounts ? accounts.all() : [])
    if (label === null || move.account === label)
      rows.push({ orderPos: move.orderPos, items: [`move ${move.number}`] });
  return rows.sort((a, b) => b.orderPos - a.orderPos).flatMap(({ items }) => items);
}

describe('the latest transactions', () => {
  /** The items that the chunks refer to. */
  const counted = (
    every: readonly string[],
    selection: ListSelection,
    skip: number,
    count: number,
  ): string[] =>
    atOnce(recentPieces(wallet, selection, skip, count)).flatMap(({ of, first, end }) => {
      const all =
        'move' in of
          ? [`move ${of.move.number}`]
          : every.filter((item) => item.startsWith(Buffer.from(of.entry.key, 'latin1').toString('hex')));
      return all.slice(first, end);
    });

  it('equal a full scan, for each label, with and without accounts', () => {
    for (const label of [null, 'a', 'b', '', 'nobody']) {
      for (const withAccounts of [false, true]) {
        const selection = { ...ALL, label, withAccounts };
        const all = naive(selection);
        if (label === null || label === 'a') expect(all.length).toBeGreaterThan(20);
        for (const [skip, count] of [
          [0, 10],
          [3, 7],
          [0, 1],
          [5, 0],
          [all.length - 1, 10],
          [0, 10_000],
          [10_000, 5],
        ] as const)
          expect(counted(all, selection, skip, count)).toEqual(
            all.slice(Math.max(skip, 0), Math.max(skip, 0) + count),
          );
      }
    }
  });
});

describe('the transactions since a block', () => {
  it('are all that are not below it, by id', () => {
    for (const height of [-1, 0, heights[60]!, wallet.followedHeight - 2, wallet.followedHeight]) {
      const expected = [...wallet.ledger.all()]
        .filter(
          (entry: Entry) => wallet.ledger.depth(entry) < 1 + wallet.followedHeight - height || height < 0,
        )
        .map(({ key }) => key)
        .sort();
      expect(atOnce(entriesSince(wallet, height)).map(({ key }) => key)).toEqual(expected);
    }
  });
});

describe('sums', () => {
  it('of accounts equal those of the whole wallet', () => {
    const accounts = atOnce(accountBalances(wallet, MINE.spendable, 0));
    const sum = accounts.reduce((all, [, sat]) => all + sat, 0n);
    expect(sum).toBe(atOnce(legacyBalanceSat(wallet, null, MINE.spendable, 0)));
    for (const [account, sat] of accounts)
      expect(atOnce(legacyBalanceSat(wallet, account, MINE.spendable, 0))).toBe(sat);
    expect(accounts.map(([account]) => account)).toEqual(['', 'a', 'b']);
  });

  it('of receipts equal those of outputs', () => {
    for (const destination of wallet.book.destinations().keys()) {
      let expected = 0n;
      for (const entry of wallet.ledger.all()) {
        if (wallet.ledger.depth(entry) < 1) continue;
        for (const { to, valueSat } of entry.outputs) if (to === destination) expected += valueSat;
      }
      expect(atOnce(receivedSat(wallet, destination, 1))).toBe(expected);
    }
  });
});

describe('groupings', () => {
  it('contain each address once, and addresses together that were spent together', () => {
    const groups = atOnce(sumsOf(wallet).groups.all());
    const members = groups.flat();
    expect(new Set(members).size).toBe(members.length);
    expect(groups).toEqual([...groups].sort((a, b) => (a[0]! < b[0]! ? -1 : 1)));
    const groupOf = new Map(groups.flatMap((group, n) => group.map((member) => [member, n] as const)));
    for (const entry of wallet.ledger.all()) {
      const spent = entry.inputs.flatMap((input) => wallet.ledger.output(input)?.to ?? []);
      expect(new Set(spent.map((to) => groupOf.get(to))).size).toBeLessThan(2);
    }
  });
});

describe('keys of the list by destination', () => {
  it('identify their destinations, and sort by kind', () => {
    const [short, long] = [Buffer.alloc(20, 1), Buffer.alloc(32, 1)];
    const destinations = [
      { type: 'pubkeyhash', hash: short },
      { type: 'scripthash', hash: short },
      { type: 'witness_v0_scripthash', hash: long },
      { type: 'witness_v0_keyhash', hash: short },
      { type: 'witness_unknown', version: 2, program: Buffer.alloc(40, 3) },
    ] as const;
    const keys = destinations.map((destination) => destinationKey(destination));
    expect(keys.map((key) => keyedDestination(key))).toEqual(destinations);
    expect(keys).toEqual([...keys].sort());
  });
});
