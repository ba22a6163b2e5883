import { describe, expect, it, vi } from 'vitest';
import { hash160, sha256 } from '../../../../src/crypto/hash.js';
import { txid, type Transaction, type TxOutput } from '../../../../src/primitives/transaction.js';
import { encodeDestination } from '../../../../src/script/address.js';
import {
  extractDestination,
  scriptForDestination,
  scriptForPublicKey,
} from '../../../../src/script/standard.js';
import { ecdsaBackend } from '../../../../src/crypto/ecdsa.js';
import { inSlices } from '../../../../src/scheduler/slices.js';
import { atOnce } from '../../../../src/util/slices.js';
import { destinationKey } from '../../../../src/wallet/destinationKey.js';
import { plainMetadata } from '../../../../src/wallet/keys/keyRecords.js';
import { MINE, MINE_ALL } from '../../../../src/wallet/keys/isMine.js';
import { LbcdAccounts } from '../../../../src/wallet/lbcd/accounts.js';
import { receivedSumsOf } from '../../../../src/wallet/lbcd/receivedSums.js';
import {
  accountBalances,
  legacyBalanceSat,
  moveBetweenAccounts,
} from '../../../../src/wallet/listing/accountBalances.js';
import { receivedByLabelSat, receivedSat, receiptsByLabel } from '../../../../src/wallet/listing/received.js';
import { listedEntriesOf } from '../../../../src/wallet/listing/listedEntries.js';
import { recentPieces, type Piece } from '../../../../src/wallet/listing/recent.js';
import type { ListSelection } from '../../../../src/wallet/listing/selection.js';
import type { Entry } from '../../../../src/wallet/ledger/entry.js';
import { sumsOf } from '../../../../src/wallet/listing/sumsOf.js';
import { WalletBatch } from '../../../../src/wallet/store/records.js';
import type { Wallet } from '../../../../src/wallet/wallet.js';
import { randomOf } from '../../../support/claimLife.js';
import { FakeNode } from '../support/fakeNode.js';
import { openTestWallet } from '../support/openWallet.js';
import * as naive from './naiveSums.js';
import { IS_LONG } from '../../../support/long.js';

const FOREIGN = scriptForDestination({ type: 'scripthash', hash: Buffer.alloc(20, 9) });
const LABELS = ['a', 'b', '', 'c'];
const DEPTHS = [-5, 0, 1, 2, 6, 101, 150, 10_000];

interface Coin {
  readonly hash: Buffer;
  readonly index: number;
}

function makeTx(serial: number, spent: readonly Coin[], outputs: TxOutput[], lockTime = 0): Transaction {
  const prevouts = spent.length > 0 ? spent : [{ hash: sha256(Buffer.from(`from ${serial}`)), index: 0 }];
  const inputs = prevouts.map((prevout) => ({
    prevout,
    scriptSig: Buffer.of(serial & 0xff, serial >> 8),
    sequence: 0xfffffffe,
    witness: [],
  }));
  return { version: 2, inputs, outputs, lockTime };
}

/** Compares all results of the running sums with those computed from all transactions. */
function expectSame(wallet: Wallet, minDepth: number): void {
  for (const filter of [MINE.spendable, MINE_ALL]) {
    expect(atOnce(accountBalances(wallet, filter, minDepth))).toEqual(
      naive.listedAccounts(wallet, filter, minDepth),
    );
    for (const account of [null, ...LABELS, 'nobody'])
      expect(atOnce(legacyBalanceSat(wallet, account, filter, minDepth))).toBe(
        naive.legacyBalance(wallet, account, filter, minDepth),
      );
  }
  for (const label of LABELS)
    expect(atOnce(receivedByLabelSat(wallet, label, minDepth))).toBe(
      naive.receivedByLabel(wallet, label, minDepth),
    );
  const receipts = atOnce(receiptsByLabel(wallet, { minDepth, includesEmpty: true, filter: MINE_ALL }));
  for (const { label, amountSat } of receipts)
    expect(amountSat).toBe(naive.receivedByLabel(wallet, label, minDepth));
  for (const destination of wallet.book.destinations().keys())
    expect(atOnce(receivedSat(wallet, destination, minDepth))).toBe(
      naive.received(wallet, destination, minDepth).plain,
    );
  expect(atOnce(sumsOf(wallet).groups.all())).toEqual(naive.groups(wallet));
  for (const what of LISTED) {
    const shown = (entries: readonly Entry[]): string[] =>
      entries.map(({ key }) => Buffer.from(key, 'latin1').toString('hex'));
    expect(shown(atOnce(listedEntriesOf(wallet).of(what)))).toEqual(shown(naive.listed(wallet, what)));
  }
  const lbcd = receivedSumsOf(wallet);
  atOnce(lbcd.refresh());
  for (const account of [0, 1, 2])
    expect(lbcd.received(account, minDepth)).toEqual(naive.lbcdReceived(wallet, account, minDepth));
}

/** Changes of labels, accounts and transactions. `address(n)` returns one of the first `n` addresses. */
function walletChanges(
  node: FakeNode,
  wallet: Wallet,
  random: (below: number) => number,
  address: (n: number) => string,
): (() => unknown)[] {
  return [
    () => {
      const chosen = address(8);
      return wallet.change((batch) => wallet.book.set(batch, chosen, LABELS[random(4)]!, 'receive'));
    },
    () => {
      const chosen = address(10);
      return wallet.change((batch) => wallet.book.delete(batch, chosen));
    },
    () =>
      wallet.change((batch) =>
        moveBetweenAccounts(wallet, batch, LABELS[random(4)]!, LABELS[random(4)]!, 7n, ''),
      ),
    () => {
      const chosen = address(8);
      return wallet.change((batch) => new LbcdAccounts(wallet).assign(batch, chosen, random(3)));
    },
    () => {
      const entry = [...wallet.ledger.unsettled()].find((one) => wallet.ledger.canAbandon(one));
      return wallet.change((batch) => entry !== undefined && wallet.ledger.abandon(batch, entry));
    },
    () => {
      const waiting = [...wallet.ledger.unsettled()].find(({ inMempool }) => inMempool);
      if (waiting !== undefined) node.dropFromMempool(Buffer.from(waiting.key, 'latin1'));
    },
    () => {
      const entries = [...wallet.ledger.all()];
      const entry = entries[random(entries.length)];
      return wallet.change((batch) => entry !== undefined && wallet.ledger.remove(batch, entry));
    },
    () => {
      const entries = [...wallet.ledger.all()];
      const entry = entries[random(entries.length)];
      if (entry === undefined) return undefined;
      const record = { ...wallet.ledger.record(entry), fromAccount: LABELS[random(4)]! };
      return wallet.change((batch) => wallet.ledger.restore(batch, entry, record));
    },
  ];
}

describe('running sums', () => {
  it.each(IS_LONG ? [1, 2, 3] : [1])(
    'equal a full scan of history, after any change (seed %i)',
    async (seed) => {
      const random = randomOf(seed);
      const node = new FakeNode();
      node.mineEmpty(1);
      const opened = await openTestWallet(node, { keypoolSize: 10 });
      const { wallet } = opened;
      const scripts: Buffer[] = [];
      for (let i = 0; i < 8; i++) scripts.push(await opened.script());
      const addressOf = (script: Buffer): string =>
        encodeDestination(extractDestination(script)!, wallet.prefixes);
      /** A key that the wallet does not have yet, and one that it will watch. */
      const secrets = [1, 2].map((n) => sha256(Buffer.from(`${seed} ${n}`)));
      const publicKeys = secrets.map((secret) => ecdsaBackend().publicKeyOf(secret, true));
      const strangers = publicKeys.map((key) =>
        scriptForDestination({ type: 'pubkeyhash', hash: hash160(key) }),
      );
      const paid = [...scripts, ...strangers, scriptForPublicKey(publicKeys[1]!), FOREIGN];
      const coins: Coin[] = [];
      let serial = 0;
      const script = (): Buffer => paid[random(paid.length)]!;

      const pay = (): void => {
        const isSent = coins.length > 2 && random(2) === 0;
        const spent = isSent ? coins.splice(random(coins.length - 1), 1 + random(2)) : [];
        // Some transactions spend an output that is already spent, and conflict.
        if (isSent && random(3) === 0) coins.push(spent[0]!);
        const outputs = [
          { value: BigInt(1000 + serial), script: script() },
          { value: BigInt(10 + serial), script: script() },
        ];
        const lockTime = random(4) === 0 ? node.timeSec - random(2000) : 0;
        const tx = makeTx(serial++, spent, outputs, lockTime);
        coins.push({ hash: txid(tx), index: 0 }, { hash: txid(tx), index: 1 });
        if (random(4) > 0) node.mine([{ value: 50n, script: script() }], [tx]);
        else node.addToMempool(tx);
      };
      const happenings: (() => unknown)[] = [
        pay,
        pay,
        pay,
        () => node.mineEmpty(random(40)),
        () => {
          for (let n = 1 + random(3); n > 0 && node.blocks.length > 2; n--) node.disconnect();
        },
        ...walletChanges(node, wallet, random, (n) => addressOf(paid[random(n)]!)),
        // The clock is set back or forward.
        () => (node.timeSec += random(2) === 0 ? -3000 : 3000),
        async () => {
          const n = random(30);
          if (n === 0)
            await wallet.change((batch) =>
              wallet.keyring.addKey(batch, secrets[0]!, publicKeys[0]!, plainMetadata(0)),
            );
          else if (n < 3)
            await wallet.change((batch) => wallet.keyring.watch(batch, strangers[1]!, plainMetadata(0)));
          await inSlices(wallet.ledger.reconsiderOutputs());
        },
      ];
      for (let step = 0; step < 250; step++) {
        await happenings[random(happenings.length)]!();
        if (random(3) === 0) expectSame(wallet, DEPTHS[random(DEPTHS.length)]!);
      }
      for (const depth of DEPTHS) expectSame(wallet, depth);
      expect(wallet.ledger.size).toBeGreaterThan(30);
      await opened.close();
    },
  );
});

const LISTED = [
  { filter: MINE.spendable, label: null, withAccounts: false },
  { filter: MINE_ALL, label: null, withAccounts: false },
  { filter: MINE.spendable, label: 'a', withAccounts: false },
  { filter: MINE.spendable, label: 'b', withAccounts: true },
  { filter: MINE_ALL, label: '', withAccounts: true },
  { filter: MINE_ALL, label: 'c', withAccounts: true },
];

const latest = (wallet: Wallet, selection: Partial<ListSelection>, count = 10): Piece[] =>
  atOnce(
    recentPieces(
      wallet,
      { filter: MINE.spendable, label: null, withAccounts: false, minDepth: 0, ...selection },
      0,
      count,
    ),
  );

describe('cached lists', () => {
  it('are correct for concurrent callers, after any change during a pause', async () => {
    const random = randomOf(11);
    const node = new FakeNode();
    node.mineEmpty(1);
    const opened = await openTestWallet(node, { keypoolSize: 20 });
    const { wallet } = opened;
    const labels = Array.from({ length: 12 }, (_, i) => `label ${i}`);
    const scripts: Buffer[] = [];
    for (const label of labels) {
      const script = await opened.script();
      scripts.push(script);
      const address = encodeDestination(extractDestination(script)!, wallet.prefixes);
      await wallet.change((batch) => wallet.book.set(batch, address, label, 'receive'));
    }
    let serial = 0;
    const pay = (): unknown => {
      const outputs = [1, 2].map((value) => ({
        value: BigInt(value),
        script: scripts[random(scripts.length)]!,
      }));
      return node.mine(undefined, [makeTx(serial++, [], outputs)]);
    };
    for (let i = 0; i < 300; i++) pay();
    const asked = [...labels, ...labels, null, null].map((label) => {
      const what = { filter: MINE.spendable, label, withAccounts: false };
      return { what, work: listedEntriesOf(wallet).of(what) };
    });
    let waiting = asked;
    for (let round = 0; waiting.length > 0; round++) {
      expect(round).toBeLessThan(200);
      waiting = waiting.filter(({ what, work }) => {
        const { done, value } = work.next();
        if (done === true) expect(value).toEqual(naive.listed(wallet, what));
        return done !== true;
      });
      if (round < 20) pay();
      else if (random(2) === 0) {
        const [first] = wallet.ledger.inOrder();
        wallet.ledger.remove(new WalletBatch(), first!);
      }
    }
    for (const { what } of asked)
      expect(atOnce(listedEntriesOf(wallet).of(what))).toEqual(naive.listed(wallet, what));
    await opened.close();
  });
});

/** Counts the reads of transactions during a query. */
async function workOf(wallet: Wallet, question: () => unknown): Promise<number> {
  const { ledger } = wallet;
  let count = 0;
  const spies = (['depth', 'debit', 'entry', 'output'] as const).map((name) => {
    const original = ledger[name].bind(ledger) as (...args: unknown[]) => never;
    return vi.spyOn(ledger, name).mockImplementation((...args: unknown[]) => {
      count++;
      return original(...args);
    });
  });
  const lists = (['all', 'inOrder', 'payingTo', 'paidBy'] as const).map((name) => {
    const original = ledger[name].bind(ledger) as (...args: unknown[]) => Iterable<never>;
    return vi.spyOn(ledger, name).mockImplementation(((...args: unknown[]) => {
      const found = [...original(...args)];
      return new Proxy(found, {
        get(target, key) {
          if (typeof key === 'string' && /^\d+$/u.test(key)) count++;
          return Reflect.get(target, key) as unknown;
        },
      });
    }) as never);
  });
  await question();
  for (const spy of [...spies, ...lists]) spy.mockRestore();
  return count;
}

describe('the cost of an answer', () => {
  /** Cost of each query after one more payment, for a given number of earlier payments. */
  async function costs(payments: number): Promise<Record<string, number>> {
    const node = new FakeNode();
    node.mineEmpty(1);
    const opened = await openTestWallet(node, { keypoolSize: 10 });
    const { wallet } = opened;
    const scripts: Buffer[] = [];
    for (let i = 0; i < 4; i++) scripts.push(await opened.script());
    const addresses = scripts.map((script) =>
      encodeDestination(extractDestination(script)!, wallet.prefixes),
    );
    await wallet.change((batch) => {
      for (const [i, address] of addresses.entries()) wallet.book.set(batch, address, LABELS[i]!, 'receive');
      new LbcdAccounts(wallet).create(batch, 'one');
      new LbcdAccounts(wallet).assign(batch, addresses[3]!, 1);
    });
    let serial = 0;
    const pay = (): void => {
      const outputs = [scripts[0]!, scripts[1]!].map((script) => ({ value: 5n, script }));
      node.mine(undefined, [makeTx(serial++, [], outputs)]);
    };
    // The first payments belong to an account that does not change afterwards.
    for (let i = 0; i < 3; i++)
      node.mine(undefined, [makeTx(serial++, [], [{ value: 5n, script: scripts[3]! }])]);
    await wallet.change((batch) => moveBetweenAccounts(wallet, batch, 'c', 'b', 1n, ''));
    for (let i = 0; i < payments; i++) pay();
    const lbcd = receivedSumsOf(wallet);
    const questions: Record<string, () => unknown> = {
      listaccounts: () => atOnce(accountBalances(wallet, MINE.spendable, 1)),
      'listaccounts, deep': () => atOnce(accountBalances(wallet, MINE.spendable, payments >> 1)),
      'getbalance of an account': () => atOnce(legacyBalanceSat(wallet, 'a', MINE.spendable, 1)),
      'sendmany, what all have': () => atOnce(legacyBalanceSat(wallet, null, MINE.spendable, 1)),
      getreceivedbylabel: () => atOnce(receivedByLabelSat(wallet, 'a', 1)),
      listreceivedbylabel: () =>
        atOnce(receiptsByLabel(wallet, { minDepth: 1, includesEmpty: true, filter: MINE.spendable })),
      getreceivedbyaddress: () =>
        atOnce(receivedSat(wallet, destinationKey(extractDestination(scripts[0]!)!), 1)),
      listaddressgroupings: () => atOnce(sumsOf(wallet).groups.all()),
      'received by an account of lbcwallet': () => {
        atOnce(lbcd.refresh());
        lbcd.received(0, 1);
      },
      'listtransactions of an account': () => latest(wallet, { label: 'c', withAccounts: true }),
    };
    for (const question of Object.values(questions)) await question();
    pay();
    const found: Record<string, number> = {};
    // The same query with the naive sums shows that reads are counted.
    expect(await workOf(wallet, () => naive.listedAccounts(wallet, MINE.spendable, 1))).toBeGreaterThan(
      payments,
    );
    for (const [name, question] of Object.entries(questions)) found[name] = await workOf(wallet, question);
    await opened.close();
    return found;
  }

  it('does not grow with history if the answer does not', async () => {
    const [short, long] = [await costs(60), await costs(900)];
    expect(long).toEqual(short);
    expect(Math.max(...Object.values(long))).toBeLessThan(40);
  });

  it('of the latest transactions does not grow if those of a label or the unwatched ones are all old', async () => {
    const costs = async (payments: number): Promise<Record<string, number>> => {
      const node = new FakeNode();
      node.mineEmpty(1);
      const opened = await openTestWallet(node, { keypoolSize: 10 });
      const { wallet } = opened;
      const [old, own] = [await opened.script(), await opened.script()];
      const key = ecdsaBackend().publicKeyOf(sha256(Buffer.from('watched')), true);
      const watched = scriptForDestination({ type: 'pubkeyhash', hash: hash160(key) });
      await wallet.change((batch) => {
        wallet.keyring.watch(batch, watched, plainMetadata(0));
        const address = encodeDestination(extractDestination(old)!, wallet.prefixes);
        wallet.book.set(batch, address, 'old', 'receive');
      });
      let serial = 0;
      const pay = (count: number, script: Buffer): void => {
        for (; count > 0; count--) node.mine(undefined, [makeTx(serial++, [], [{ value: 5n, script }])]);
      };
      pay(120, old);
      pay(1, own);
      pay(payments, watched);
      const questions: Record<string, () => unknown> = {
        'of a label': () => latest(wallet, { label: 'old' }),
        'of an account': () => latest(wallet, { label: 'old', withAccounts: true }),
        'of the unnamed account': () => latest(wallet, { label: '', withAccounts: true }),
        'but what is watched': () => latest(wallet, {}),
      };
      for (const question of Object.values(questions)) question();
      const found: Record<string, number> = {};
      pay(1, watched);
      for (const [name, question] of Object.entries(questions)) found[name] = await workOf(wallet, question);
      expect(latest(wallet, { label: 'old' }, 1000)).toHaveLength(120);
      expect(latest(wallet, {}, 1000)).toHaveLength(121);
      await opened.close();
      return found;
    };
    const [short, long] = [await costs(200), await costs(900)];
    expect(long).toEqual(short);
    expect(Math.max(...Object.values(long))).toBeLessThan(1000);
  });
});
