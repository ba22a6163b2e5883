/** Histories that are not requested, because the status from the hub matches the stored history. */
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { LedgerStore } from '../../../../src/daemon/ledger/store/ledgerStore.js';
import { STALE_STATUS } from '../../../../src/daemon/ledger/store/histories.js';
import { loadSqlite } from '../../../../src/sqlite/sqliteProvider.js';
import { hashToHex, toHex } from '../../../../src/util/bytes.js';
import { FakeChain, FakeHub } from '../../../support/fakeHub.js';
import {
  foreignOutPoint,
  made,
  payTo,
  randomNumbers,
  transactionOf,
  type MadeTransaction,
} from '../../../support/ledgerTransactions.js';
import { testAccount, TestLedgers, type TestLedger } from '../../../support/testLedger.js';

const ledgers = new TestLedgers();

afterEach(async () => {
  await ledgers.closeAll();
  await FakeHub.stopAll();
});

const account = testAccount('alice');
const GET_HISTORY = 'blockchain.address.get_history';

async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve));
}

function payment(amount: bigint, index = 0): MadeTransaction {
  return made(transactionOf([foreignOutPoint(String(amount))], [payTo(account.key(0, index), amount)]));
}

describe('a transaction of our own', () => {
  async function withCoins(): Promise<{ hub: FakeHub; chain: FakeChain; opened: TestLedger }> {
    const chain = new FakeChain();
    chain.mempool.push(payment(100n), payment(200n));
    chain.mine();
    const hub = await FakeHub.start(chain);
    const opened = await ledgers.open([hub]);
    await opened.ledger.add(account);
    await opened.ledger.whenSynced();
    hub.asked.length = 0;
    return { hub, chain, opened };
  }
  const spend = (amount: bigint, to = 0) =>
    transactionOf(
      [{ hash: payment(amount).txid, index: 0 }],
      [payTo(account.key(1, to), amount / 2n), payTo(account.key(0, 0), amount / 4n)],
    );
  const histories = (hub: FakeHub): number => hub.asked.filter((method) => method === GET_HISTORY).length;
  const statusOf = async ({ ledger }: TestLedger): Promise<number> =>
    ledger.database.transactionCount({ accountIds: ['alice'] });

  it('causes no request for its histories, until a block contains it', async () => {
    const { hub, chain, opened } = await withCoins();
    for (const [n, amount] of [100n, 200n].entries()) {
      const tx = spend(amount, n);
      // Hubs collect notifications for a short time before they send them.
      hub.answer = (method) => {
        if (method !== 'blockchain.transaction.broadcast') return undefined;
        chain.mempool.push(made(tx));
        return hashToHex(made(tx).txid);
      };
      await opened.ledger.broadcast(tx);
      expect(await opened.ledger.taken(made(tx).txid, 60_000)).toBe(true);
    }
    await opened.ledger.whenSynced();
    expect([histories(hub), await statusOf(opened)]).toEqual([0, 4]);
    hub.tell();
    await opened.ledger.hub.call('server.ping', []);
    await opened.ledger.whenSynced();
    expect(histories(hub)).toBe(0);
    chain.mine();
    hub.tell();
    await until(async () => {
      const rows = await opened.ledger.database.txos({ accountIds: ['alice'], isSpent: false });
      return rows.every(({ height }) => height === 2);
    });
    expect(histories(hub)).toBeGreaterThan(0);
    expect(opened.warnings).toEqual([]);
  });

  it('causes a request if something else has arrived, too', async () => {
    const { hub, chain, opened } = await withCoins();
    chain.mempool.push(payment(7n));
    await opened.ledger.broadcast(spend(100n));
    await until(async () => (await statusOf(opened)) === 4);
    expect(histories(hub)).toBeGreaterThan(0);
  });

  it('that a hub shows late remains without requests, and is dropped after its time', async () => {
    const { hub, chain } = await withCoins();
    const opened = await ledgers.open([hub], { times: { pingMs: 20, retryMs: [10, 50], keptMs: 30 } });
    await opened.ledger.add(account);
    await opened.ledger.whenSynced();
    hub.asked.length = 0;
    const tx = spend(100n);
    hub.answer = (method) => {
      if (method === GET_HISTORY) return chain.history(account.key(0, 0).address);
      return method === 'blockchain.transaction.broadcast' ? hashToHex(made(tx).txid) : undefined;
    };
    await opened.ledger.broadcast(tx);
    expect(await statusOf(opened)).toBe(3);
    await until(async () => (await statusOf(opened)) === 2);
  });
});

/** The expected histories of two addresses, with a store. */
class Model {
  readonly store: LedgerStore;
  readonly random = randomNumbers(5);
  readonly addresses = [0, 1].map((n) => account.key(0, n).address);
  readonly histories: MadeTransaction[][] = [[], []];
  readonly heights = new Map<string, number>();
  height = 1;
  count = 0;

  constructor(store: LedgerStore) {
    this.store = store;
    const keys = [0, 1].map((index) => ({ ...account.key(0, index), index, depth: 2 }));
    store.addKeys('alice', 0, keys);
  }

  lines(n: number): { readonly tx: MadeTransaction; readonly height: number }[] {
    return this.histories[n]!.map((tx) => ({ tx, height: this.heights.get(toHex(tx.txid))! }));
  }

  status(n: number, length = this.histories[n]!.length): string | null {
    const lines = this.lines(n).slice(0, length);
    if (lines.length === 0) return null;
    const text = lines.map(({ tx, height }) => `${hashToHex(tx.txid)}:${height}:`).join('');
    return createHash('sha256').update(text).digest('hex');
  }

  /** A payment to both addresses, so that a change of it affects both histories. */
  newTransaction(): MadeTransaction {
    const amount = BigInt(++this.count);
    const outputs = [0, 1].map((index) => payTo(account.key(0, index), amount));
    return made(transactionOf([foreignOutPoint(String(this.count))], outputs));
  }

  place(tx: MadeTransaction, height: number): void {
    this.heights.set(toHex(tx.txid), height);
    this.store.saveTransactions([{ ...tx, height, position: height > 0 ? 1 : -1, isVerified: height > 0 }]);
  }

  /** Saves a history as a hub reports it: blocks by height, then the unconfirmed transactions. */
  tell(n: number): void {
    const rank = (tx: MadeTransaction): number => this.heights.get(toHex(tx.txid))! || Infinity;
    this.histories[n]!.sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)));
    const txids = Buffer.concat(this.histories[n]!.map(({ txid }) => txid));
    this.store.saveHistories([{ address: this.addresses[n]!, status: 'told', txids }], [], []);
  }

  readonly steps: (() => void)[] = [
    // An unconfirmed transaction of both histories, which the hub reports.
    () => {
      const tx = this.newTransaction();
      this.place(tx, 0);
      for (const n of [0, 1]) this.histories[n]!.push(tx);
      this.tell(0);
      this.tell(1);
    },
    // A transaction that the wallet broadcast.
    () => {
      const tx = this.newTransaction();
      this.heights.set(toHex(tx.txid), 0);
      this.store.saveBroadcast({ ...tx, height: 0, position: -1, isVerified: false });
      for (const history of this.histories) history.push(tx);
    },
    // A block whose transactions appear in one history first.
    () => {
      this.height++;
      const waiting = this.histories[0]!.filter(({ txid }) => this.heights.get(toHex(txid)) === 0);
      for (const tx of waiting.slice(0, this.random(3))) this.place(tx, this.height);
      const first = this.random(2);
      this.tell(first);
      this.check();
      this.tell(1 - first);
    },
    // A transaction is removed from the mempool.
    () => {
      const gone = this.histories[0]!.findIndex(({ txid }) => this.heights.get(toHex(txid)) === 0);
      if (gone < 0) return;
      const tx = this.histories[0]![gone]!;
      for (const n of [0, 1]) this.histories[n] = this.histories[n]!.filter((one) => one !== tx);
      this.tell(0);
      this.tell(1);
    },
    // Blocks are disconnected.
    () => {
      this.height = Math.max(1, this.height - this.random(2));
      for (const [id, height] of this.heights) if (height > this.height) this.heights.set(id, 0);
      this.store.rewind(this.height);
    },
    // A save that fails changes no rows.
    () => {
      const broken = {
        txid: Buffer.alloc(32),
        raw: Buffer.alloc(3),
        height: 0,
        position: 0,
        isVerified: false,
      };
      const last = this.histories[0]!.at(-1);
      const moved = last ? [{ ...last, height: 9999, position: 0, isVerified: true }] : [];
      expect(() => this.store.saveTransactions([...moved, broken])).toThrow();
    },
  ];

  check(): void {
    for (const [n, address] of this.addresses.entries()) {
      const lines = this.lines(n);
      const txids = Buffer.concat(lines.map(({ tx }) => tx.txid));
      const heights = Int32Array.from(lines, ({ height }) => height);
      expect(this.store.unlike(address, txids, heights)).toEqual([]);
      expect(this.store.missingFrom(address, txids, heights)).toBeNull();
      const inOrder = lines.findLastIndex(({ height }) => height > 0);
      const isOrdered = lines.slice(0, inOrder + 1).every(({ height }) => height > 0);
      const kept = lines.length > 0 ? [lines.at(-1)!.tx.txid] : [];
      const agree = (status: string | null, own: readonly Buffer[]) =>
        this.store.agree([{ address, status }], own, kept);
      expect(agree('0'.repeat(64), kept).agreed).toEqual([]);
      expect(agree(this.status(n), []).agreed).toEqual(isOrdered ? [address] : []);
      const isWaiting = lines.at(-1)?.height === 0;
      const without = lines.length > 0 && isOrdered && isWaiting ? [address] : [];
      if (lines.length > 0) {
        const earlier = this.status(n, lines.length - 1);
        expect(agree(earlier, [])).toEqual({ agreed: [], stale: [], shown: [] });
        expect(agree(earlier, kept)).toEqual({ agreed: without, stale: without, shown: [] });
        expect(agree(this.status(n), kept).shown).toEqual(isOrdered ? kept : []);
      }
    }
  }
}

describe('a history', () => {
  it('equals the tables after any changes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'ledger-'));
    const store = new LedgerStore(await loadSqlite(), {
      path: join(folder, 'ledger.sqlite'),
      ledgerId: 'lbc_regtest',
    });
    const model = new Model(store);
    for (let n = 0; n < 100; n++) {
      model.steps[model.random(model.steps.length)]!();
      model.check();
    }
    expect(store.statuses('alice').map(({ status }) => status)).not.toContain(STALE_STATUS);
    store.close();
    rmSync(folder, { recursive: true });
  });
});
