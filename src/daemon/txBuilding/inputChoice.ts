/**
 * Selects coins of accounts with the configured strategy and reserves them immediately, so that no two transactions get the
 * same coin. Source: lbry-sdk lbry/wallet/ledger.py `get_spendable_utxos`.
 */
import { yieldIfDue } from '../../scheduler/yield.js';
import { SerialQueue } from '../../scheduler/serialQueue.js';
import type { DaemonRandom } from '../base/clock.js';
import { failure } from '../base/daemonError.js';
import type { SpendableCoin } from '../ledger/ledgerDatabase.js';
import {
  chooseByBands,
  CoinSelector,
  type BandedCoin,
  type SelectionStrategy,
} from '../wallet/tx/coinSelection.js';
import { COST_OF_CHANGE, SPENDING_FEE } from '../wallet/tx/draft.js';
import { AccountCoins, CoinGone, COINS_A_STEP, type NumberedCoin } from './accountCoins.js';
import type { TxLedgerPort } from './ports.js';

/**
 * Maximum number of selections for one request. If a selected coin is spent before it is reserved, the selection is
 * repeated. Arbitrary: more consecutive failures must have another cause.
 */
const MAX_ATTEMPTS = 20;
const RANDOM_BYTES = 6;
const RANDOM_RANGE = 2 ** (8 * RANDOM_BYTES);

export class InputChoice {
  readonly #database: TxLedgerPort['database'];
  readonly #random: DaemonRandom;
  readonly #queue = new SerialQueue();

  constructor(database: TxLedgerPort['database'], random: DaemonRandom) {
    this.#database = database;
    this.#random = random;
  }

  /**
   * Selects and reserves coins that pay `deficit` and the fee for spending them. Empty if the accounts do not have enough
   * coins. The strategy `largest` uses as few coins as possible. Outputs of transactions at the end of a long chain of
   * unconfirmed transactions are selected only if the other coins do not suffice. Difference from lbry-sdk: it selects them
   * like other coins, and nodes reject the transaction.
   */
  choose(
    accountIds: readonly string[],
    deficitDewies: bigint,
    strategy: SelectionStrategy | 'largest',
  ): Promise<readonly SpendableCoin[]> {
    return this.#queue.run(async () => {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const chosen = await this.#preferred(accountIds, deficitDewies, strategy);
        if (chosen?.length === 0) return [];
        const coins = chosen && (await this.#database.reserveCoins(chosen.map(({ number }) => number)));
        if (coins !== null) return coins;
      }
      throw failure('The coins of the wallet change too fast for coin selection.');
    });
  }

  async #preferred(
    accountIds: readonly string[],
    deficit: bigint,
    strategy: SelectionStrategy | 'largest',
  ): Promise<readonly NumberedCoin[] | null> {
    const longChains = await this.#database.longChains();
    if (longChains.length > 0) {
      const chosen = await this.#chosen(accountIds, deficit, strategy, longChains);
      if (chosen?.length !== 0) return chosen;
    }
    return this.#chosen(accountIds, deficit, strategy, []);
  }

  /**
   * Selects outputs once, and none of the transactions `notOf`. Resolves to null if a selected output was spent during the
   * selection.
   */
  async #chosen(
    accountIds: readonly string[],
    deficit: bigint,
    strategy: SelectionStrategy | 'largest',
    notOf: readonly number[],
  ): Promise<readonly NumberedCoin[] | null> {
    if (strategy === 'sqlite') return this.#byBands(accountIds, deficit, new Set(notOf));
    const selector = new CoinSelector<NumberedCoin>(deficit, COST_OF_CHANGE, () => this.#draw());
    try {
      const coins = new AccountCoins(this.#database, { accountIds, isConfirmed: false, notOf });
      return await (strategy === 'largest' ? largestFirst(coins, deficit) : selector.select(coins, strategy));
    } catch (error) {
      if (error instanceof CoinGone) return null;
      throw error;
    }
  }

  async #byBands(
    accountIds: readonly string[],
    deficit: bigint,
    excluded: ReadonlySet<number>,
  ): Promise<readonly NumberedCoin[]> {
    const candidates: (BandedCoin & NumberedCoin)[] = [];
    let since = performance.now();
    for (const id of accountIds)
      for (const coin of await this.#database.spendable([id], true)) {
        if (!excluded.has(coin.tx))
          candidates.push({ ...coin, effectiveAmount: coin.amountDewies - SPENDING_FEE });
        if (candidates.length % COINS_A_STEP === 0) since = await yieldIfDue(since);
      }
    const tenth = deficit / 10n;
    return chooseByBands(candidates, deficit + COST_OF_CHANGE, tenth < 1n ? tenth : 1n);
  }

  #draw(): number {
    return this.#random.bytes(RANDOM_BYTES).readUIntBE(0, RANDOM_BYTES) / RANDOM_RANGE;
  }
}

/** Selects the largest outputs that together pay the target; empty if all outputs do not suffice. */
async function largestFirst(coins: AccountCoins, target: bigint): Promise<readonly NumberedCoin[]> {
  const chosen: NumberedCoin[] = [];
  let sum = 0n;
  for (let below: bigint | null = null; ;) {
    const amounts = await coins.below(below);
    if (amounts.length === 0) return [];
    for (const { effectiveAmount, count } of amounts) {
      // The fee for spending this coin exceeds its amount. All remaining coins are smaller, so the target cannot be
      // reached.
      if (effectiveAmount <= 0n) return [];
      const needed = Number((target - sum + effectiveAmount - 1n) / effectiveAmount);
      const taken = await coins.take({ effectiveAmount, count: Math.min(count, Math.max(1, needed)) });
      chosen.push(...taken);
      sum += effectiveAmount * BigInt(taken.length);
      if (sum >= target) return chosen;
      below = effectiveAmount;
    }
  }
}
