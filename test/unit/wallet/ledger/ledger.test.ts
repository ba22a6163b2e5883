import { describe, expect, it } from 'vitest';
import { sha256 } from '../../../../src/crypto/hash.js';
import { txid, type Transaction } from '../../../../src/primitives/transaction.js';
import { atOnce } from '../../../../src/util/slices.js';
import { scriptForDestination } from '../../../../src/script/standard.js';
import { fromLatin1, hashToHex, toLatin1, type Bytes } from '../../../../src/util/bytes.js';
import { MINE, MINE_ALL } from '../../../../src/wallet/keys/isMine.js';
import { outputKey, outputNumber, txKeyOf, type Entry } from '../../../../src/wallet/ledger/entry.js';
import { Ledger } from '../../../../src/wallet/ledger/ledger.js';
import type { ChainPlace } from '../../../../src/wallet/ledger/ledgerPort.js';
import { formatTxRecord, parseTxRecord, txRecordKey } from '../../../../src/wallet/ledger/txRecord.js';
import { WalletBatch } from '../../../../src/wallet/store/records.js';
import { randomOf } from '../../../support/claimLife.js';

const MINE_SCRIPT = Buffer.from('51', 'hex');
const WATCHED_SCRIPT = Buffer.from('52', 'hex');
/** Has a destination, unlike scripts of a single opcode. */
const P2SH_SCRIPT = scriptForDestination({ type: 'scripthash', hash: Buffer.alloc(20, 1) });
const OTHER_P2SH_SCRIPT = scriptForDestination({ type: 'scripthash', hash: Buffer.alloc(20, 2) });
const OTHER_SCRIPT = Buffer.from('53', 'hex');

interface Coin {
  tx: Transaction;
  n: number;
}
let serial = 0;
function makeTx(coins: readonly Coin[], scripts: readonly Bytes[], valueSat = 1000n): Transaction {
  const inputs = coins.map(({ tx, n }) => ({
    prevout: { hash: txid(tx), index: n },
    scriptSig: Buffer.alloc(0),
    sequence: 0xffffffff,
    witness: [],
  }));
  if (inputs.length === 0) {
    const hash = sha256(Buffer.from(`coin ${serial}`));
    inputs.push({
      prevout: { hash, index: 0 },
      scriptSig: Buffer.alloc(0),
      sequence: 0xffffffff,
      witness: [],
    });
  }
  // The lock time makes transactions with equal inputs and outputs different.
  return {
    version: 2,
    inputs,
    outputs: scripts.map((script) => ({ value: valueSat, script })),
    lockTime: serial++,
  };
}

/** A ledger for a chain that the test makes. Its rows are in a map. */
class World {
  readonly rows = new Map<string, Buffer>();
  readonly blocks: { hash: Buffer; txs: Transaction[] }[] = [];
  nowSec = 1_600_000_000;
  ledger: Ledger;
  private blockSerial = 0;

  constructor() {
    this.ledger = this.open();
  }

  private open(): Ledger {
    const heightNow = (): number => this.blocks.length - 1;
    return new Ledger({
      mine: (script) =>
        script[0] === 0x51 || script[0] === P2SH_SCRIPT[0]
          ? MINE.spendable
          : script[0] === 0x52
            ? MINE.watchOnly
            : MINE.no,
      mineRevision: 0,
      mineOfKeyHash: () => MINE.no,
      heightOf: (hash) => this.blocks.findIndex((block) => block.hash.equals(hash)),
      get height() {
        return heightNow();
      },
      nowSec: () => this.nowSec,
      readRow: (key) => this.rows.get(key),
      moves: () => [],
      settledOtherwise: () => undefined,
      spentBy: () => undefined,
    });
  }

  change<T>(task: (batch: WalletBatch) => T): T {
    const batch = new WalletBatch();
    const result = task(batch);
    for (const [key, value] of batch.changes) {
      if (value === null) this.rows.delete(key as string);
      else this.rows.set(key as string, Buffer.from(value));
    }
    this.ledger.committed(batch);
    return result;
  }

  add(tx: Transaction, inMempool = true): Entry | null {
    return this.change((batch) => {
      const entry = this.ledger.add(batch, tx, null);
      this.ledger.setInMempool(txid(tx), inMempool);
      return entry;
    });
  }

  connect(txs: Transaction[], hash = sha256(Buffer.from(`block ${this.blockSerial++}`))): void {
    this.blocks.push({ hash, txs });
    this.change((batch) => {
      atOnce(this.ledger.reconnect(hash));
      txs.forEach((tx, index) => {
        const place: ChainPlace = {
          blockHash: hash,
          height: this.blocks.length - 1,
          timeSec: this.nowSec,
          index,
        };
        this.ledger.add(batch, tx, place);
        this.ledger.setInMempool(txid(tx), false);
      });
    });
  }

  disconnect(): { hash: Buffer; txs: Transaction[] } {
    const block = this.blocks.pop()!;
    atOnce(this.ledger.disconnect(block.hash));
    return block;
  }

  /** The same from disk. */
  reopen(): void {
    const inMempool = [...this.ledger.all()].filter((entry) => entry.inMempool).map(({ key }) => key);
    this.ledger = this.open();
    for (const [key, value] of this.rows) if (key.startsWith('\x02tx')) this.ledger.load(value, key.slice(3));
    this.change((batch) => atOnce(this.ledger.loaded(batch)));
    for (const key of inMempool) this.ledger.setInMempool(fromLatin1(key), true);
  }

  entry(tx: Transaction): Entry {
    return this.ledger.find(txid(tx))!;
  }

  state(tx: Transaction): string {
    return `${this.entry(tx).state} ${this.ledger.depth(this.entry(tx))}`;
  }

  unspent(): string[] {
    return [...this.ledger.unspentOutputs()]
      .map(([key]) => `${hashToHex(fromLatin1(txKeyOf(key)))}:${outputNumber(key)}`)
      .sort();
  }
}

const name = (tx: Transaction, n = 0): string => `${hashToHex(txid(tx))}:${n}`;

const keyOf = (tx: Transaction): string => toLatin1(txid(tx));
const inputsOf = (tx: Transaction): string[] =>
  tx.inputs.map(({ prevout }) => outputKey(toLatin1(prevout.hash), prevout.index));

/** A random history of a ledger, and a recount of the states and coins that it should have. */
class RandomHistory {
  readonly all: Transaction[] = [];
  private readonly random = randomOf(21);
  private readonly world = new World();
  private readonly abandoned = new Set<string>();
  private readonly taken: { hash: Buffer; txs: Transaction[] }[] = [];

  /** Makes one random change, and compares the ledger with the recount. */
  step(): void {
    const { all, abandoned, random, taken, world } = this;
    switch (random(7)) {
      case 0:
      case 1:
        this.addTransaction();
        break;
      case 2:
        this.connectBlock();
        break;
      case 3:
        if (world.blocks.length > 0) taken.push(world.disconnect());
        break;
      case 4: {
        const block = taken.pop();
        if (block !== undefined) world.connect(block.txs, block.hash);
        for (const tx of block?.txs ?? []) abandoned.delete(keyOf(tx));
        break;
      }
      case 5: {
        const tx = all[random(Math.max(1, all.length))];
        if (tx === undefined || random(3) > 0) break;
        const entry = world.entry(tx);
        if (entry.state !== 'unconfirmed') break;
        world.change((batch) => world.ledger.abandon(batch, entry));
        for (const one of all) if (world.entry(one).state === 'abandoned') abandoned.add(keyOf(one));
        break;
      }
      default:
        world.reopen();
    }
    // A conflict ends the abandonment of a transaction.
    for (const tx of all) if (world.entry(tx).state === 'conflicted') abandoned.delete(keyOf(tx));
    this.check();
  }

  private addTransaction(): void {
    const { all, random, world } = this;
    const spent = this.spentInChain();
    const coins: Coin[] = [];
    for (let n = random(3); n > 0 && all.length > 0; n--) {
      const tx = all[random(all.length)]!;
      const output = random(tx.outputs.length);
      const input = outputKey(keyOf(tx), output);
      const known = world.entry(tx).state;
      if (spent.has(input) || known === 'conflicted' || known === 'abandoned') continue;
      if (!coins.some((coin) => coin.tx === tx && coin.n === output)) coins.push({ tx, n: output });
    }
    const scripts = Array.from(
      { length: 1 + random(2) },
      () => [MINE_SCRIPT, WATCHED_SCRIPT, P2SH_SCRIPT, OTHER_P2SH_SCRIPT][random(4)]!,
    );
    const tx = makeTx(coins, scripts);
    all.push(tx);
    world.add(tx, false);
  }

  private connectBlock(): void {
    const chain = this.inChain();
    const spent = this.spentInChain();
    const ready = this.all.filter((tx) => !this.abandoned.has(keyOf(tx)) && this.fits(tx, chain, spent));
    const chosen = ready.filter(() => this.random(2) === 0);
    const block: Transaction[] = [];
    for (const tx of chosen)
      if (!block.some((other) => inputsOf(other).some((input) => inputsOf(tx).includes(input))))
        block.push(tx);
    this.world.connect(block);
    this.taken.length = 0;
  }

  private inChain(): Set<string> {
    return new Set(this.world.blocks.flatMap(({ txs }) => txs.map(keyOf)));
  }

  private spentInChain(): Map<string, string> {
    const txs = this.world.blocks.flatMap((block) => block.txs);
    return new Map(txs.flatMap((tx) => inputsOf(tx).map((input) => [input, keyOf(tx)])));
  }

  /** Whether the transaction could be in the next block: all parents are in the chain or belong to others. */
  private fits(tx: Transaction, chain: ReadonlySet<string>, spent: ReadonlyMap<string, string>): boolean {
    return (
      !chain.has(keyOf(tx)) &&
      tx.inputs.every(({ prevout }) => {
        const parent = this.all.find((one) => keyOf(one) === toLatin1(prevout.hash));
        return (
          !spent.has(outputKey(toLatin1(prevout.hash), prevout.index)) &&
          (parent === undefined || chain.has(keyOf(parent)))
        );
      })
    );
  }

  private check(): void {
    const { ledger } = this.world;
    const states = this.states();
    for (const tx of this.all) {
      const { state } = this.world.entry(tx);
      // If an abandoned transaction conflicts, the ledger forgets that it was abandoned. The reference does the
      // same.
      expect(state, name(tx)).toBe(states.get(keyOf(tx)));
    }
    expect(this.world.unspent()).toEqual(this.unspent(states));
    const destinations = new Set([...ledger.all()].flatMap(({ outputs }) => outputs.map(({ to }) => to)));
    const found = [...destinations].flatMap((to) => {
      const outputs = [...ledger.unspentOutputs(new Set([to]))];
      expect(outputs.every(([, output]) => output.to === to)).toBe(true);
      return outputs.map(([key]) => key);
    });
    expect(found.sort()).toEqual([...ledger.unspentOutputs()].map(([key]) => key).sort());
  }

  private states(): Map<string, string> {
    const chain = this.inChain();
    const spent = this.spentInChain();
    const states = new Map<string, string>();
    // Parents come before children.
    for (const tx of this.all) {
      const key = keyOf(tx);
      const isConflicted = inputsOf(tx).some(
        (input) =>
          (spent.has(input) && spent.get(input) !== key) || states.get(txKeyOf(input)) === 'conflicted',
      );
      const unconfirmed = this.abandoned.has(key) ? 'abandoned' : 'unconfirmed';
      states.set(key, chain.has(key) ? 'confirmed' : isConflicted ? 'conflicted' : unconfirmed);
    }
    return states;
  }

  private unspent(states: ReadonlyMap<string, string>): string[] {
    const unspent: string[] = [];
    for (const tx of this.all) {
      tx.outputs.forEach(({ script }, n) => {
        if (script[0] === 0x53) return;
        const isSpent = this.all.some(
          (other) =>
            inputsOf(other).includes(outputKey(keyOf(tx), n)) &&
            ['confirmed', 'unconfirmed'].includes(states.get(keyOf(other))!),
        );
        if (!isSpent) unspent.push(name(tx, n));
      });
    }
    return unspent.sort();
  }
}

describe('rows of transactions', () => {
  it('are preserved', () => {
    const record = {
      tx: makeTx([], [MINE_SCRIPT]),
      blockHash: sha256(Buffer.from('a')),
      index: 7,
      notes: new Map([
        ['comment', 'für Zoë'],
        ['replaces_txid', '00'],
      ]),
      orderForm: [['Message', 'hi']] as [string, string][],
      timeReceivedIsTxTime: 1,
      timeReceivedSec: 1_600_000_000,
      timeSmartSec: 1_500_000_000,
      isFromMe: true,
      fromAccount: 'acc',
      orderPos: 42,
    };
    expect(parseTxRecord(formatTxRecord(record))).toEqual(record);
    const bare = {
      ...record,
      notes: new Map(),
      orderForm: [],
      timeSmartSec: 0,
      orderPos: -1,
      fromAccount: '',
    };
    expect(parseTxRecord(formatTxRecord(bare))).toEqual(bare);
  });
});

describe('Ledger', () => {
  it('accepts transactions that pay to or spend from the wallet, and no others', () => {
    const world = new World();
    const received = makeTx([], [OTHER_SCRIPT, MINE_SCRIPT]);
    const watched = makeTx([], [WATCHED_SCRIPT]);
    const foreign = makeTx([], [OTHER_SCRIPT]);
    expect(world.add(received)).not.toBeNull();
    expect(world.add(watched)).not.toBeNull();
    expect(world.add(foreign)).toBeNull();
    const sent = makeTx([{ tx: received, n: 1 }], [OTHER_SCRIPT]);
    expect(world.add(sent)).not.toBeNull();
    expect(world.unspent()).toEqual([name(watched)]);
    expect(world.ledger.debit(world.entry(sent), MINE_ALL)).toBe(1000n);
    expect(world.ledger.debit(world.entry(sent), MINE.watchOnly)).toBe(0n);
    expect([...world.ledger.inOrder()].map(({ key }) => key)).toEqual(
      [received, watched, sent].map((tx) => toLatin1(txid(tx))),
    );
  });

  it('counts confirmations, also after a disconnect', () => {
    const world = new World();
    const tx = makeTx([], [MINE_SCRIPT]);
    world.add(tx);
    expect(world.state(tx)).toBe('unconfirmed 0');
    world.connect([tx]);
    world.connect([]);
    expect(world.state(tx)).toBe('confirmed 2');
    const top = world.disconnect();
    const bottom = world.disconnect();
    expect(world.state(tx)).toBe('unconfirmed 0');
    world.connect(bottom.txs, bottom.hash);
    world.connect(top.txs, top.hash);
    expect(world.state(tx)).toBe('confirmed 2');
    world.reopen();
    expect(world.state(tx)).toBe('confirmed 2');
  });

  it('marks transactions that conflict with a block, and their descendants, until the block is disconnected', () => {
    const world = new World();
    const coin = makeTx([], [MINE_SCRIPT]);
    world.connect([coin]);
    const mine = makeTx([{ tx: coin, n: 0 }], [MINE_SCRIPT]);
    const child = makeTx([{ tx: mine, n: 0 }], [MINE_SCRIPT]);
    world.add(mine);
    world.add(child);
    expect(world.unspent()).toEqual([name(child)]);
    const rival = makeTx([{ tx: coin, n: 0 }], [MINE_SCRIPT]);
    world.connect([rival]);
    world.connect([]);
    for (const tx of [mine, child]) expect(world.state(tx)).toBe('conflicted -2');
    expect(world.unspent()).toEqual([name(child), name(mine), name(rival)].sort());
    expect(world.ledger.conflictsOf(world.entry(rival))).toEqual([world.entry(mine)]);
    world.reopen();
    for (const tx of [mine, child]) expect(world.state(tx)).toBe('conflicted -2');
    world.disconnect();
    world.disconnect();
    for (const tx of [mine, child, rival]) expect(world.state(tx)).toBe('unconfirmed 0');
    world.connect([mine]);
    expect(world.state(mine)).toBe('confirmed 1');
    expect(world.state(rival)).toBe('conflicted -1');
  });

  it('abandons transactions until they are seen again', () => {
    const world = new World();
    const coin = makeTx([], [MINE_SCRIPT]);
    world.connect([coin]);
    const mine = makeTx([{ tx: coin, n: 0 }], [MINE_SCRIPT]);
    const child = makeTx([{ tx: mine, n: 0 }], [OTHER_SCRIPT]);
    world.add(mine);
    world.add(child);
    expect(world.ledger.canAbandon(world.entry(mine))).toBe(false);
    for (const tx of [mine, child]) world.ledger.setInMempool(txid(tx), false);
    expect(world.ledger.canAbandon(world.entry(mine))).toBe(true);
    world.change((batch) => world.ledger.abandon(batch, world.entry(mine)));
    for (const tx of [mine, child]) expect(world.state(tx)).toBe('abandoned 0');
    expect(world.unspent()).toEqual([name(coin), name(mine)].sort());
    world.reopen();
    for (const tx of [mine, child]) expect(world.state(tx)).toBe('abandoned 0');
    world.add(mine);
    expect(world.state(mine)).toBe('unconfirmed 0');
    expect(world.unspent()).toEqual([name(mine)]);
  });

  it('keeps the order of arrival, and times in that order', () => {
    const world = new World();
    const first = makeTx([], [MINE_SCRIPT]);
    world.add(first);
    const second = makeTx([], [MINE_SCRIPT]);
    const { nowSec } = world;
    world.nowSec -= 100;
    world.connect([second]);
    // The smart time is not before that of the previous transaction.
    expect(world.entry(second).row.timeSmartSec).toBe(nowSec);
    world.nowSec += 5000;
    const third = makeTx([], [MINE_SCRIPT]);
    world.connect([third]);
    expect(world.entry(third).row.timeSmartSec).toBe(world.nowSec);
    world.reopen();
    expect([...world.ledger.inOrder()].map(({ row }) => row.orderPos)).toEqual([0, 1, 2]);
  });

  it('accepts a witness later, and stores and removes notes', () => {
    const world = new World();
    const coin = makeTx([], [MINE_SCRIPT]);
    world.connect([coin]);
    const tx = makeTx([{ tx: coin, n: 0 }], [MINE_SCRIPT]);
    world.add(tx);
    const full = { ...tx, inputs: tx.inputs.map((input) => ({ ...input, witness: [Buffer.of(1)] })) };
    world.add(full);
    const found = world.ledger.transaction(world.entry(tx));
    expect(found.inputs[0]!.witness).toEqual([Buffer.of(1)]);
    world.change((batch) => world.ledger.note(batch, world.entry(tx), new Map([['replaced_by_txid', 'ab']])));
    world.reopen();
    expect(world.entry(tx).row.notes.get('replaced_by_txid')).toBe('ab');
    world.change((batch) => world.ledger.remove(batch, world.entry(tx)));
    expect(world.ledger.size).toBe(1);
    expect(world.rows.has(txRecordKey(txid(tx)))).toBe(false);
    expect(world.unspent()).toEqual([name(coin)]);
  });

  it('equals a recount after a random history', () => {
    const history = new RandomHistory();
    for (let turn = 0; turn < 150; turn++) history.step();
    expect(history.all.length).toBeGreaterThan(25);
  });
});
