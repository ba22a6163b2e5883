/**
 * Coins that pay, out of what accounts have: chosen by the strategy of the settings and reserved in the same breath, so
 * that no two transactions get one coin. Source: lbry-sdk lbry/wallet/ledger.py `get_spendable_utxos`; sdk-facts 5.4.
 */
import { breathe } from '../../util/breathe.js';
import { hashToHex } from '../../util/bytes.js';
import { SerialQueue } from '../../util/serialQueue.js';
import { inSlices } from '../../util/slices.js';
import type { RandomSource } from '../base/clock.js';
import { failure } from '../base/daemonError.js';
import type { SpendableCoin } from '../ledger/ledgerDatabase.js';
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
  readonly coin: SpendableCoin;
  readonly effectiveAmount: bigint;

  constructor(coin: SpendableCoin) {
    this.coin = coin;
    this.effectiveAmount = coin.amountDewies - SPENDING_FEE;
  }

  get amountDewies(): bigint {
    return this.coin.amountDewies;
  }

  get height(): number {
    return this.coin.height;
  }

  get isVerified(): boolean {
    return this.coin.isVerified;
  }

  get txid(): string {
    return hashToHex(this.coin.txid);
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
        const chosen = await this.#select(await this.#candidates(accountIds), deficitDewies, strategy);
        const refs = chosen.map(({ txid, nout }) => ({ txid, nout }));
        if (refs.length === 0 || (await this.#database.reserve(refs))) return chosen;
      }
      throw failure('The coins of the wallet change too fast to choose from them.');
    });
  }

  /** By account, in the order in which these are given: what is chosen of equal coins hangs on it. */
  async #candidates(accountIds: readonly string[]): Promise<Candidate[]> {
    const candidates: Candidate[] = [];
    let since = performance.now();
    for (const id of accountIds)
      for (const coin of await this.#database.spendable([id])) {
        candidates.push(new Candidate(coin));
        if (candidates.length % CANDIDATES_A_STEP === 0) since = await breathe(since);
      }
    return candidates;
  }

  async #select(
    candidates: readonly Candidate[],
    deficit: bigint,
    strategy: SelectionStrategy,
  ): Promise<SpendableCoin[]> {
    if (strategy === 'sqlite') {
      const tenth = deficit / 10n;
      const chosen = chooseByBands(candidates, deficit + COST_OF_CHANGE, tenth < 1n ? tenth : 1n);
      return chosen.map(({ coin }) => coin);
    }
    const selector = new CoinSelector<Candidate>(deficit, COST_OF_CHANGE, () => this.#draw());
    return (await inSlices(selector.select(candidates, strategy))).map(({ coin }) => coin);
  }

  #draw(): number {
    return this.#random.bytes(RANDOM_BYTES).readUIntBE(0, RANDOM_BYTES) / RANDOM_RANGE;
  }
}
