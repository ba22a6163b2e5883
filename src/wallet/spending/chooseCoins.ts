/**
 * Selects the outputs of the wallet that a transaction spends: the outputs that the caller requires, and those that coin
 * selection adds. Source: lbrycrd wallet/wallet.cpp `SelectCoins`, `GroupOutputs`.
 */
import { extractDestination, scriptForDestination } from '../../script/standard.js';
import { CoinGroup, GROUP_MAX_COINS, type CoinStanding } from '../../signing/coinSelection/coinGroup.js';
import { shuffle, type Chance } from '../../signing/coinSelection/random.js';
import { selectCoins, type ExactPayment } from '../../signing/coinSelection/selectCoins.js';
import { fromLatin1, toLatin1, type Bytes } from '../../util/bytes.js';
import { MINE_ALL } from '../keys/isMine.js';
import { outputNumber, txKeyOf, type Entry } from '../ledger/entry.js';
import type { MempoolPort } from '../port.js';
import type { Wallet } from '../wallet.js';
import type { WalletCoin } from './availableCoins.js';
import type { CoinControl } from './coinControl.js';
import { LONG_CHAIN } from './spendError.js';

/** An output that the transaction spends. */
export interface ChosenCoin {
  readonly key: string;
  readonly valueSat: bigint;
  readonly script: Bytes;
}

/** An output of a transaction in the wallet. The output may belong to others. Null if the transaction is not in the wallet. */
export function knownOutput(wallet: Wallet, key: string): ChosenCoin | null {
  const entry = wallet.ledger.entry(txKeyOf(key));
  if (entry === undefined) return null;
  const output = wallet.ledger.transaction(entry).outputs[outputNumber(key)];
  return output === undefined ? null : { key, valueSat: output.value, script: output.script };
}

const NO_RELATIVES = { ancestors: 0, descendants: 0 };

/**
 * Number of mempool ancestors of a transaction, and the largest number of descendants of those ancestors that have no
 * unconfirmed parent. The mempool limits the descendants of each ancestor. Source: `CTxMemPool::GetTransactionAncestry`,
 * `CalculateDescendantMaximum`.
 */
function relatives(mempool: MempoolPort, { key }: Entry): Pick<CoinStanding, 'ancestors' | 'descendants'> {
  const txid = fromLatin1(key);
  const own = mempool.relatives(txid);
  if (own === null || own.ancestors === 1) return own ?? NO_RELATIVES;
  const roots = mempool.ancestors(txid).flatMap((id) => {
    const one = mempool.relatives(id);
    return one?.ancestors === 1 ? [one.descendants] : [];
  });
  return { ancestors: own.ancestors, descendants: Math.max(0, ...roots) };
}

/** Selects coins for one transaction. `choose` may be called several times with different targets. */
export class CoinChoice {
  private readonly wallet: Wallet;
  private readonly control: CoinControl;
  private readonly chance: Chance;
  private readonly available: readonly WalletCoin[];
  /** Outputs that must be spent; null if one of them is unknown. */
  private readonly preset: readonly ChosenCoin[] | null;
  private groups: CoinGroup<WalletCoin>[] | null = null;

  constructor(wallet: Wallet, control: CoinControl, available: readonly WalletCoin[], chance: Chance) {
    this.wallet = wallet;
    this.control = control;
    this.available = available;
    this.chance = chance;
    this.preset = this.presetCoins();
  }

  /** Whether the caller requires certain outputs to be spent. In this case no selection without change is searched. */
  get hasPreset(): boolean {
    return this.control.selected.size > 0;
  }

  private get onlySelected(): boolean {
    return this.hasPreset && !this.control.allowsOtherInputs;
  }

  private presetCoins(): ChosenCoin[] | null {
    if (this.onlySelected) return this.available.filter(({ isSpendable }) => isSpendable);
    const coins: ChosenCoin[] = [];
    for (const key of this.control.selected) {
      const coin = knownOutput(this.wallet, key);
      if (coin === null) return null;
      coins.push(coin);
    }
    return coins;
  }

  /**
   * Selects coins worth at least `targetSat`. With `exact` it selects coins that need no change. Null if no such selection
   * exists.
   */
  choose(targetSat: bigint, exact: ExactPayment | null): readonly ChosenCoin[] | null {
    return this.chooseWithin(targetSat, exact, this.wallet.options.rejectsLongChains);
  }

  /**
   * Returns the text of the error after `choose` found no coins worth `targetSat`. Difference from the reference: it reports
   * insufficient funds too if only coins in chains of unconfirmed transactions beyond the limits of the mempool are left.
   */
  whyNone(targetSat: bigint): string {
    const { rejectsLongChains } = this.wallet.options;
    const isHeld = rejectsLongChains && this.chooseWithin(targetSat, null, false) !== null;
    return isHeld ? LONG_CHAIN : 'Insufficient funds';
  }

  private chooseWithin(
    targetSat: bigint,
    exact: ExactPayment | null,
    rejectsLongChains: boolean,
  ): readonly ChosenCoin[] | null {
    const { preset } = this;
    if (preset === null) return null;
    const presetSat = preset.reduce((sum, { valueSat }) => sum + valueSat, 0n);
    if (presetSat >= targetSat) return preset;
    if (this.onlySelected) return null;
    const { options, node } = this.wallet;
    const selection = selectCoins(
      (this.groups ??= this.makeGroups()),
      targetSat - presetSat,
      {
        spendsUnconfirmedChange: options.spendsUnconfirmedChange,
        maxAncestors: node.mempool.limits.ancestors,
        maxDescendants: node.mempool.limits.descendants,
        rejectsLongChains,
      },
      exact,
      this.chance,
    );
    return selection === null ? null : [...preset, ...selection.coins];
  }

  private makeGroups(): CoinGroup<WalletCoin>[] {
    const { selected, avoidsPartialSpends } = this.control;
    const coins = this.available.filter(({ key, isSpendable }) => isSpendable && !selected.has(key));
    const standing = this.standings();
    if (!avoidsPartialSpends) return coins.map((coin) => CoinGroup.of(coin, standing(coin)));
    // The order of many coins of one destination is random, so that the groups do not reveal information.
    if (coins.length > GROUP_MAX_COINS) shuffle(coins, this.chance);
    const groups: CoinGroup<WalletCoin>[] = [];
    const open = new Map<string, CoinGroup<WalletCoin>>();
    for (const coin of coins) {
      const destination = extractDestination(coin.script);
      const name = destination === null ? null : toLatin1(scriptForDestination(destination));
      let group = name === null ? undefined : open.get(name);
      if (group !== undefined && group.coins.length >= GROUP_MAX_COINS) group = undefined;
      if (group !== undefined) {
        group.add(coin, standing(coin));
        continue;
      }
      group = CoinGroup.of(coin, standing(coin));
      groups.push(group);
      if (name !== null) open.set(name, group);
    }
    return groups;
  }

  /** Returns a function that computes confirmations and mempool relatives of a coin. Results are cached by transaction. */
  private standings(): (coin: WalletCoin) => CoinStanding {
    const { ledger, node } = this.wallet;
    const known = new Map<Entry, CoinStanding>();
    return ({ entry, depth }) => {
      let standing = known.get(entry);
      if (standing === undefined) {
        const isFromMe = ledger.debit(entry, MINE_ALL) > 0n;
        standing = { depth, isFromMe, ...(depth > 0 ? NO_RELATIVES : relatives(node.mempool, entry)) };
        known.set(entry, standing);
      }
      return standing;
    };
  }
}
