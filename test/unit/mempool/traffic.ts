/**
 * Random traffic for a mempool: transactions, chains of transactions, replacements and conflicts, made from the present coins.
 * The same seed and answers give the same traffic.
 */
import { formatOutPoint, txid, type Transaction } from '../../../src/primitives/transaction.js';
import {
  buildClaimPrefix,
  buildSupportPrefix,
  buildUpdatePrefix,
  claimIdOf,
  decodeClaimScript,
} from '../../../src/script/claimScript.js';
import { concatBytes, type Bytes } from '../../../src/util/bytes.js';
import { OPEN_SCRIPT } from '../../support/testChain.js';
import { coinsOf, spendCoins, type Coin, type PoolWorld } from './support.js';

/** A small generator of numbers (mulberry32). */
export class Dice {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** A number from 0 to `bound` - 1. */
  below(bound: number): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % bound;
  }

  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }
}

const NAMES = ['a', 'b', 'name', 'Name'].map((name) => Buffer.from(name));
const VALUE = Buffer.of(0);

const SEQUENCES = [0xffffffff, 0xffffffff, 0xfffffffe, 0xfffffffd, 0, 1, 2, 3, 0x00400001];

export class Traffic {
  readonly dice: Dice;
  private readonly world: PoolWorld;
  /** All coins so far. Most of the new ones are unspent. */
  private readonly coins: Coin[] = [];
  /** Created and updated claims by the coin of their output. */
  private readonly claims = new Map<Coin, { name: Bytes; id: Bytes }>();
  private seenHeight = 0;

  constructor(world: PoolWorld, seed: number) {
    this.world = world;
    this.dice = new Dice(seed);
  }

  /** Adds the coinbases of new blocks. Some are immature. */
  async learn(): Promise<void> {
    for (; this.seenHeight < this.world.height - 96; this.seenHeight++) {
      this.coins.push(await this.world.coinbase(this.seenHeight + 1));
    }
    this.seenHeight = Math.min(this.seenHeight, this.world.height);
  }

  /** A transaction with coins that mostly exist and are unspent. It may be refused. */
  async transaction(): Promise<Transaction> {
    const { dice } = this;
    const inputs = new Set<Coin>();
    const wanted = dice.chance(60) ? 1 : 1 + dice.below(4);
    for (let tries = 0; tries < 60 && inputs.size < wanted; tries++) {
      const coin = this.coin();
      if (dice.chance(3) || (await this.isGood(coin))) inputs.add(coin);
    }
    if (inputs.size === 0) inputs.add(this.coin());
    const value = [...inputs].reduce((sum, coin) => sum + coin.value, 0n);
    const fee = BigInt(dice.chance(10) ? dice.below(300) : 200 + dice.below(20_000));
    return spendCoins([...inputs], fee < value ? fee : value / 2n, {
      sequence: dice.pick(SEQUENCES),
      script: this.script([...inputs]),
      outputs: 1 + (dice.chance(50) ? 0 : dice.below(4)),
      lockTime: dice.chance(10) ? this.world.height - 2 + dice.below(5) : 0,
      ...(dice.chance(20) ? { padding: dice.below(3000) } : {}),
    });
  }

  /** Usually a payment. Otherwise a new claim, an update of a spent claim, or a support of a claim that may be spent. */
  private script(inputs: readonly Coin[]): Bytes {
    const { dice, claims } = this;
    const spent = inputs.map((coin) => claims.get(coin)).find((claim) => claim !== undefined);
    if (spent && dice.chance(60))
      return concatBytes(buildUpdatePrefix(spent.name, spent.id, VALUE), OPEN_SCRIPT);
    if (dice.chance(12)) return concatBytes(buildClaimPrefix(dice.pick(NAMES), VALUE), OPEN_SCRIPT);
    if (claims.size === 0 || !dice.chance(12)) return OPEN_SCRIPT;
    const { name, id } = dice.pick([...claims.values()]);
    return concatBytes(buildSupportPrefix(name, id), OPEN_SCRIPT);
  }

  /** Adds the outputs of an accepted transaction to the spendable coins. */
  accepted(tx: Transaction): void {
    for (const coin of coinsOf(tx)) {
      this.coins.push(coin);
      const claim = decodeClaimScript(tx.outputs[coin.n]!.script);
      if (!claim || claim.kind === 'support') continue;
      this.claims.set(coin, { name: claim.name, id: claim.claimId ?? claimIdOf(coin.txid, coin.n) });
    }
  }

  /** A random coin. New coins are more likely. */
  private coin(): Coin {
    const { dice, coins } = this;
    if (dice.chance(60)) return coins[coins.length - 1 - dice.below(Math.min(coins.length, 30))]!;
    return dice.pick(coins);
  }

  /** Whether the coin exists and nothing in the mempool spends it. */
  private async isGood({ txid: hash, n }: Coin): Promise<boolean> {
    const { mempool, chain } = this.world;
    const outPoint = formatOutPoint({ hash, index: n });
    if (mempool.isSpent(outPoint)) return false;
    return mempool.output(outPoint) !== null || (await chain.opened.reader.coin(outPoint)) !== null;
  }

  /** Random transactions of the mempool with all their ancestors, ancestors first. */
  package(): Transaction[] {
    const { mempool } = this.world;
    const chosen = new Set<string>();
    const transactions: Transaction[] = [];
    for (const id of mempool.txids()) {
      const entry = mempool.entry(id)!;
      const complete = entry.parents.every((parent) => chosen.has(Buffer.from(parent).toString('hex')));
      if (!complete || !this.dice.chance(50)) continue;
      chosen.add(Buffer.from(id).toString('hex'));
      transactions.push(mempool.transaction(id)!);
    }
    return transactions;
  }

  /** A transaction that spends an output which a mempool transaction spends too. */
  conflict(): Transaction | null {
    const ids = [...this.world.mempool.txids()];
    if (ids.length === 0) return null;
    const rival = this.world.mempool.transaction(this.dice.pick(ids))!;
    const { prevout } = this.dice.pick(rival.inputs);
    const coin = this.coins.find(
      ({ txid: hash, n }) => n === prevout.index && Buffer.compare(hash, prevout.hash) === 0,
    );
    if (!coin) return null;
    const tx = spendCoins([coin], coin.value > 50_000n ? BigInt(this.dice.below(50_000)) : 0n, {
      sequence: this.dice.pick(SEQUENCES),
    });
    return Buffer.compare(txid(tx), txid(rival)) === 0 ? null : tx;
  }
}
