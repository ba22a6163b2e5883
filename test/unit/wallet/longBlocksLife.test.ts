/**
 * Random long and short blocks, payments, spends, conflicts, reorganisations, mempool changes and restarts. The answers of a
 * wallet equal those of a recount, and answers between two slices are those of a state that existed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sha256 } from '../../../src/crypto/hash.js';
import { txid, type Transaction } from '../../../src/primitives/transaction.js';
import { onWallets } from '../../../src/rpc/call/onWallets.js';
import { scriptForDestination } from '../../../src/script/standard.js';
import { destinationForKey } from '../../../src/signing/outputType.js';
import { toHex, type Bytes } from '../../../src/util/bytes.js';
import { isMine, MINE } from '../../../src/wallet/keys/isMine.js';
import { balance, ownCoins } from '../../../src/wallet/ledger/balances.js';
import { coinControl } from '../../../src/wallet/spending/coinControl.js';
import { sendTransaction } from '../../../src/wallet/spending/commitTransaction.js';
import type { Wallet } from '../../../src/wallet/wallet.js';
import { Wallets } from '../../../src/wallet/wallets.js';
import { randomOf } from '../../support/claimLife.js';
import { countTurns } from '../../support/slices.js';
import { FakeNode } from './support/fakeNode.js';
import { WALLET_OPTIONS } from './support/openWallet.js';
import { IS_LONG } from '../../support/long.js';

const STEPS = 70;
const FIRST_BLOCKS = 3;
const FOREIGN = scriptForDestination({ type: 'pubkeyhash', hash: Buffer.alloc(20, 7) });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A transaction of the wallet, its inputs and its own outputs by `id:n`. */
interface Known {
  readonly tx: Transaction;
  readonly id: string;
  readonly inputs: readonly string[];
  readonly own: ReadonlyMap<string, bigint>;
}

/** Transactions of blocks and of the mempool, and the resulting state of the wallet. */
class Recount {
  readonly known = new Map<string, Known>();
  /** The transactions of each block above the first ones. */
  readonly chain: Known[][] = [];
  readonly pool = new Map<string, Known>();
  private readonly own = new Map<string, bigint>();
  private readonly isOwn: (script: Bytes) => boolean;

  constructor(isOwn: (script: Bytes) => boolean) {
    this.isOwn = isOwn;
  }

  note(tx: Transaction): Known {
    const id = toHex(txid(tx));
    const own = new Map<string, bigint>();
    tx.outputs.forEach(({ script, value }, n) => {
      if (this.isOwn(script)) own.set(`${id}:${n}`, value);
    });
    for (const [point, value] of own) this.own.set(point, value);
    const inputs = tx.inputs.map(({ prevout }) => `${toHex(prevout.hash)}:${prevout.index}`);
    const noted = { tx, id, inputs, own };
    this.known.set(id, noted);
    return noted;
  }

  /** The mempool transactions, parents before children. */
  inOrder(): Known[] {
    const placed = new Set<Known>();
    const place = (one: Known): void => {
      for (const input of one.inputs) {
        const parent = this.pool.get(input.slice(0, 64));
        if (parent !== undefined) place(parent);
      }
      placed.add(one);
    };
    for (const one of this.pool.values()) place(one);
    return [...placed];
  }

  /** A mempool transaction and its descendants in the mempool. */
  withChildren(first: Known): Known[] {
    const found = new Set([first]);
    for (const one of this.inOrder())
      if (one.inputs.some((input) => [...found].some(({ id }) => input.startsWith(id)))) found.add(one);
    return [...found];
  }

  private spenders(): Map<string, string> {
    return new Map(this.chain.flat().flatMap(({ id, inputs }) => inputs.map((input) => [input, id])));
  }

  /** Unspent own outputs: those that may be spent, and unconfirmed ones of others. */
  unspent(): { trusted: Map<string, bigint>; pending: Map<string, bigint> } {
    const inBlocks = this.spenders();
    const mined = new Set(this.chain.flat().map(({ id }) => id));
    const conflicts = new Map<string, boolean>();
    const isConflicted = (id: string): boolean => {
      const one = this.known.get(id);
      if (one === undefined || mined.has(id)) return false;
      let found = conflicts.get(id);
      found ??= one.inputs.some((input) => inBlocks.has(input) || isConflicted(input.slice(0, 64)));
      conflicts.set(id, found);
      return found;
    };
    const spent = new Set<string>();
    for (const { id, inputs } of this.known.values())
      if (!isConflicted(id)) for (const input of inputs) spent.add(input);
    const trusted = new Map<string, bigint>();
    const pending = new Map<string, bigint>();
    const put = (one: Known, into: Map<string, bigint>): void => {
      for (const [point, value] of one.own) if (!spent.has(point)) into.set(point, value);
    };
    const nextHeight = FIRST_BLOCKS + this.chain.length;
    const isFinal = ({ tx }: Known): boolean => tx.lockTime === 0 || tx.lockTime < nextHeight;
    for (const block of this.chain) for (const one of block) if (isFinal(one)) put(one, trusted);
    for (const one of this.pool.values()) {
      const isTrusted = isFinal(one) && one.inputs.every((input) => this.own.has(input));
      put(one, isTrusted ? trusted : pending);
    }
    return { trusted, pending };
  }

  text(): string {
    const { trusted, pending } = this.unspent();
    const sum = (values: Iterable<bigint>): bigint => [...values].reduce((total, value) => total + value, 0n);
    return [
      sum(trusted.values()),
      sum(pending.values()),
      trusted.size + pending.size,
      this.known.size,
    ].join();
  }
}

/** The same by the wallet. */
function reported({ ledger, balanceOptions }: Wallet): string {
  const { trusted, pending } = balance(ledger, balanceOptions);
  let count = 0;
  for (const { entry, depth, isTrusted: isSafe } of ownCoins(ledger, balanceOptions))
    if (isSafe || (depth === 0 && entry.inMempool)) count++;
  return [trusted, pending, count, ledger.size].join();
}

it.each(IS_LONG ? [1, 2] : [2])(
  'random history %i',
  async (seed) => {
    const random = randomOf(seed);
    const node = new FakeNode();
    node.mineEmpty(FIRST_BLOCKS);
    node.refuse = () => 'not in this life';
    const folder = mkdtempSync(join(tmpdir(), 'wallet-'));
    const wallets = new Wallets(
      {
        walletDir: folder,
        wallet: { ...WALLET_OPTIONS, keypoolSize: 20 },
        rescans: false,
        salvages: false,
        zaps: 'nothing',
        upgradesTo: 0,
      },
      node.port,
    );
    let wallet = await wallets.create('one');
    const scripts: Buffer[] = [];
    for (let n = 0; n < 10; n++)
      scripts.push(scriptForDestination(destinationForKey((await wallet.keys.take(false))!, 'legacy')));
    const count = new Recount((script) => (isMine(wallet.keyring, script) & MINE.spendable) !== 0);
    const { chain, pool } = count;
    let made = 0;
    const input = (hash: Bytes, index: number): Transaction['inputs'][number] => ({
      prevout: { hash: Buffer.from(hash), index },
      scriptSig: Buffer.alloc(10),
      sequence: 0xffffffff,
      witness: random(2) === 0 ? [] : [Buffer.of(1)],
    });
    const inputOf = (point: string): Transaction['inputs'][number] =>
      input(Buffer.from(point.slice(0, 64), 'hex'), Number(point.slice(65)));
    const pays = (inputs: Transaction['inputs'], value: bigint, script = scripts[random(10)]!): Known =>
      count.note({ version: 1, inputs, outputs: [{ value, script }], lockTime: 0 });
    const payment = (): Known =>
      pays([input(sha256(Buffer.from(`${seed} ${made}`)), made++)], BigInt(1_000_000 + made));
    const mine = (block: readonly Known[]): void => {
      chain.push([...block]);
      for (const { id } of block) pool.delete(id);
      node.mine(
        undefined,
        block.map(({ tx }) => tx),
      );
      note();
    };
    const receive = (one: Known): void => {
      pool.set(one.id, one);
      node.addToMempool(one.tx);
      note();
    };
    /** States that there were. */
    const history = [count.text()];
    const note = (): void => {
      if (node.reorganisation === null) history.push(count.text());
    };
    const answers: { found: string; from: number; to: number }[] = [];
    let early = 0;
    const reading: Promise<void>[] = [];
    const read = (): void => {
      const from = history.length - 1;
      const answer = async (): Promise<void> => {
        if (wallet.events.isBehind) early++;
        const found = String(await onWallets(wallets, () => reported(wallet)));
        answers.push({ found, from, to: history.length });
      };
      reading.push(answer());
    };
    const wait = async (most: number): Promise<void> => {
      for (let left = random(most); left >= 0; left--) await turn();
    };
    const operations: Record<string, () => Promise<void> | void> = {
      long: () => mine(Array.from({ length: 64 + random(80) }, payment)),
      short: () => mine([...Array.from({ length: random(5) }, payment), ...count.inOrder().slice(0, 90)]),
      receive() {
        for (let left = random(70); left >= 0; left--) receive(payment());
      },
      /** Transactions spend own outputs, in blocks and in the mempool. */
      spend() {
        const { trusted, pending } = count.unspent();
        const points = [...trusted, ...pending];
        for (let left = Math.min(random(40), points.length); left > 0; left--) {
          const [[point, value]] = points.splice(random(points.length), 1) as [[string, bigint]];
          receive(pays([inputOf(point)], value - 10n, random(3) === 0 ? FOREIGN : scripts[random(10)]));
        }
      },
      /** The wallet sends a transaction at any time, also while it processes a block. */
      async send() {
        const behind = wallet.events.isBehind;
        node.refuse = (tx) => {
          const one = count.note(tx);
          note();
          pool.set(one.id, one);
          note();
          return null;
        };
        await onWallets(wallets, async () => {
          if (balance(wallet.ledger, wallet.balanceOptions).trusted < 2_000_000n) return null;
          const to = [{ script: FOREIGN, valueSat: 300_000n, subtractsFee: false }];
          await sendTransaction(wallet, to, coinControl(wallet));
          if (behind) early++;
          return null;
        });
        node.refuse = () => 'not in this life';
      },
      /** A block has another spend of an output that a mempool transaction spends. */
      conflict() {
        const found = count
          .inOrder()
          .filter(({ inputs }) => inputs.every((one) => !pool.has(one.slice(0, 64))));
        if (found.length === 0) return;
        const loser = found[random(found.length)]!;
        for (const { id, tx } of count.withChildren(loser).reverse()) {
          pool.delete(id);
          node.dropFromMempool(txid(tx));
        }
        const winner = pays([inputOf(loser.inputs[0]!)], 5000n);
        mine([winner, ...Array.from({ length: random(2) * 70 }, payment)]);
      },
      async reorganise() {
        let end = (): void => undefined;
        node.reorganisation = new Promise((resolve) => (end = resolve));
        const pauses = random(2) === 0;
        const pause = async (): Promise<void> => {
          if (!pauses) return;
          await wait(20);
          read();
        };
        const gone: Known[] = [];
        for (let depth = random(4); depth >= 0 && chain.length > 0; depth--) {
          gone.unshift(...chain.pop()!);
          node.disconnect();
          await pause();
        }
        const again = gone.splice(0, random(gone.length + 1));
        mine(again.slice(0, again.length >> 1));
        await pause();
        mine(again.slice(again.length >> 1));
        for (const one of gone) {
          if (random(30) === 0) await pause();
          receive(one);
        }
        node.reorganisation = null;
        note();
        end();
      },
      async reopen() {
        await Promise.all(reading.splice(0));
        await wallets.unload(wallet);
        wallet = await wallets.openExisting('one');
      },
      wait: () => wait(200),
      read,
    };
    const names = Object.keys(operations);
    await countTurns(async () => {
      for (let step = 0; step < STEPS; step++) {
        const name = names[random(names.length)]!;
        await operations[name]!();
        if (random(2) === 0) read();
        if (random(3) > 0) continue;
        await wallets.caughtUp();
        expect({ step, name, reported: reported(wallet) }).toEqual({ step, name, reported: count.text() });
      }
      await Promise.all(reading);
    });
    for (const { found, from, to } of answers) expect(history.slice(from, to)).toContain(found);
    expect(answers.length).toBeGreaterThan(STEPS / 3);
    expect(early).toBeGreaterThan(5);
    expect(node.failures).toEqual([]);
    await wallets.close();
    rmSync(folder, { recursive: true, force: true });
  },
  120_000,
);
