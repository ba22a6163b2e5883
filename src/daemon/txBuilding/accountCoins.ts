/** Unspent outputs of accounts for one run of coin selection. Only those that the selection needs are read from the database. */
import { yieldIfDue } from '../../scheduler/yield.js';
import type { LedgerCoinFilter } from '../ledger/ledgerDatabase.js';
import type { Coin, CoinAmount, UtxoPool, CoinTotals } from '../wallet/tx/utxoPool.js';
import { SPENDING_FEE } from '../wallet/tx/draft.js';
import type { TxLedgerPort } from './ports.js';

/** A coin with its number in the database. */
export interface NumberedCoin extends Coin {
  readonly number: number;
}

/** Thrown if a selected coin was spent or reserved after it was read. */
export class CoinGone extends Error {}

/** Number of coin objects that are created between two yields to the event loop. */
export const COINS_A_STEP = 4096;

export class AccountCoins implements UtxoPool<NumberedCoin> {
  readonly #database: TxLedgerPort['database'];
  readonly #filter: LedgerCoinFilter;
  #sum: Promise<bigint> | undefined;

  constructor(database: TxLedgerPort['database'], filter: LedgerCoinFilter) {
    this.#database = database;
    this.#filter = filter;
  }

  sum(): Promise<bigint> {
    this.#sum ??= this.#database
      .coinTotals(this.#filter, null)
      .then(({ count, sumDewies }) => sumDewies - BigInt(count) * SPENDING_FEE);
    return this.#sum;
  }

  async above(effectiveAmount: bigint): Promise<CoinTotals> {
    const { count, amounts, sumDewies } = await this.#database.coinTotals(
      this.#filter,
      effectiveAmount + SPENDING_FEE + 1n,
    );
    return { count, amounts, sum: sumDewies - BigInt(count) * SPENDING_FEE };
  }

  async below(effectiveAmount: bigint | null): Promise<readonly CoinAmount[]> {
    const below = effectiveAmount === null ? null : effectiveAmount + SPENDING_FEE;
    const amounts = await this.#database.coinAmounts(this.#filter, below);
    return amounts.map(({ amountDewies, count }) => ({
      effectiveAmount: amountDewies - SPENDING_FEE,
      count,
    }));
  }

  async leastFrom(effectiveAmount: bigint): Promise<bigint | null> {
    const least = await this.#database.leastCoinAmount(this.#filter, effectiveAmount + SPENDING_FEE);
    return least === null ? null : least - SPENDING_FEE;
  }

  /** Throws `CoinGone`. */
  async take({ effectiveAmount, count }: CoinAmount): Promise<NumberedCoin[]> {
    const amountDewies = effectiveAmount + SPENDING_FEE;
    const numbers = await this.#database.coinsOfAmount(this.#filter, { amountDewies, count });
    if (numbers.length < count) throw new CoinGone();
    return numbers.map((number) => ({ number, effectiveAmount }));
  }

  /** All unspent outputs, sorted by account in the given order. The order decides between outputs of equal amount. */
  async all(): Promise<NumberedCoin[]> {
    const { accountIds, isConfirmed, notOf = [] } = this.#filter;
    const excluded = new Set(notOf);
    const coins: NumberedCoin[] = [];
    let since = performance.now();
    for (const id of accountIds)
      for (const { number, tx, amountDewies, height } of await this.#database.spendable([id])) {
        const fits = (!isConfirmed || height > 0) && !excluded.has(tx);
        if (fits) coins.push({ number, effectiveAmount: amountDewies - SPENDING_FEE });
        if (coins.length % COINS_A_STEP === 0) since = await yieldIfDue(since);
      }
    return coins;
  }

  confirmed(): AccountCoins {
    return new AccountCoins(this.#database, { ...this.#filter, isConfirmed: true });
  }
}
