/**
 * Coins that pay, out of what accounts have: chosen by the strategy of the settings and reserved in the same breath, so
 * that no two transactions get one coin. Source: lbry-sdk lbry/wallet/ledger.py `get_spendable_utxos`; sdk-facts 5.4.
 */
import { breathe } from '../../util/breathe.js';
import { SerialQueue } from '../../util/serialQueue.js';
import { inSlices } from '../../util/slices.js';
import type { RandomSource } from '../base/clock.js';
import { failure } from '../base/daemonError.js';
import type { CoinCandidate, SpendableCoin } from '../ledger/ledgerDatabase.js';
import {
  chooseByBands,
  CoinSelector,
  type BandedCoin,
  type SelectionStrategy,
} from '../wallet/tx/coinSelection.js';
import { COST_OF_CHANGE, SPENDING_FEE } from '../wallet/tx/draft.js';
import type { LedgerPort } from './ports.js';

/** Coins may be spent between looking and reserving; more often than this in a row something else is wrong. Arbitrary. */
const MAX_ATTEMPTS = 20;
const RANDOM_BYTES = 6;
const RANDOM_RANGE = 2 ** (8 * RANDOM_BYTES);

/** Coins made candidates between two pauses. */
const CANDIDATES_A_STEP = 4096;

class Candidate implements BandedCoin {
  readonly number: number;
  readonly tx: number;
  readonly amountDewies: bigint;
  readonly effectiveAmount: bigint;
  readonly height: number;
  readonly isVerified: boolean;

  constructor({ number, tx, amountDewies, height, isVerified }: CoinCandidate) {
    this.number = number;
    this.tx = tx;
    this.amountDewies = amountDewies;
    this.effectiveAmount = amountDewies - SPENDING_FEE;
    this.height = height;
    this.isVerified = isVerified;
  }
}

export class CoinChoice {
  readonly #database: LedgerPort['database'];
  readonly #random: RandomSource;
  readonly #queue = new SerialQueue();

  constructor(database: LedgerPort['database'], random: RandomSource) {
    this.#database = database;
    this.#random = random;
  }

  /** Reserved coins that pay the deficit and what spending them costs; none where there are not enough. */
  choose(
    accountIds: readonly string[],
    deficitDewies: bigint,
    strategy: SelectionStrategy,
  ): Promise<readonly SpendableCoin[]> {
    return this.#queue.run(async () => {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const candidates = await this.#candidates(accountIds, strategy);
        const chosen = await this.#select(candidates, deficitDewies, strategy);
        if (chosen.length === 0) return [];
        const coins = await this.#database.reserveCoins(chosen.map(({ number }) => number));
        if (coins !== null) return coins;
      }
      throw failure('The coins of the wallet change too fast to choose from them.');
    });
  }

  /** By account, in the order in which these are given: what is chosen of equal coins hangs on it. */
  async #candidates(accountIds: readonly string[], strategy: SelectionStrategy): Promise<Candidate[]> {
    const candidates: Candidate[] = [];
    const withProofs = strategy === 'sqlite';
    let since = performance.now();
    for (const id of accountIds)
      for (const coin of await this.#database.spendable([id], withProofs)) {
        candidates.push(new Candidate(coin));
        if (candidates.length % CANDIDATES_A_STEP === 0) since = await breathe(since);
      }
    return candidates;
  }

  async #select(
    candidates: readonly Candidate[],
    deficit: bigint,
    strategy: SelectionStrategy,
  ): Promise<Candidate[]> {
    if (strategy === 'sqlite') {
      const tenth = deficit / 10n;
      return chooseByBands(candidates, deficit + COST_OF_CHANGE, tenth < 1n ? tenth : 1n);
    }
    const selector = new CoinSelector<Candidate>(deficit, COST_OF_CHANGE, () => this.#draw());
    return inSlices(selector.select(candidates, strategy));
  }

  #draw(): number {
    return this.#random.bytes(RANDOM_BYTES).readUIntBE(0, RANDOM_BYTES) / RANDOM_RANGE;
  }
}
