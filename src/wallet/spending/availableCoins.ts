/**
 * Computes the wallet's unspent outputs with the data for spending: script, input size, and whether the keys are available.
 * Source: lbrycrd wallet/wallet.cpp `AvailableCoins`, wallet/wallet.h `COutput`.
 */
import type { Selectable } from '../../signing/coinSelection/coinGroup.js';
import type { Bytes } from '../../util/bytes.js';
import { MINE } from '../keys/isMine.js';
import {
  fittingCoins,
  inIdOrder,
  type BalanceOptions,
  type OwnCoin,
  type CoinBounds,
} from '../ledger/balances.js';
import type { Entry } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';
import type { CoinControl } from './coinControl.js';
import { virtualInputSize } from './inputSizes.js';
import { spendStateOf } from './spendState.js';

export interface WalletCoin extends Selectable {
  /** See `outputKey`. */
  readonly key: string;
  readonly entry: Entry;
  readonly script: Bytes;
  readonly depth: number;
  /** Whether the wallet has the private keys, or the output is watch-only and the caller allows such coins. */
  readonly isSpendable: boolean;
  /** Whether all scripts and public keys that an input needs are known. */
  readonly isSolvable: boolean;
  /**
   * Whether the output may be spent safely. False for unconfirmed outputs of others, and for outputs of unconfirmed
   * replacement transactions.
   */
  readonly isSafe: boolean;
}

export interface CoinQuery extends CoinBounds {
  /** Spending options. Unspent claims and supports are included only if `control` selects them. */
  readonly control: CoinControl | null;
  /** Maximum total amount, or maximum number of coins in the order of ids; null for all coins. */
  readonly enoughSat: bigint | null;
  readonly enoughCoins: number | null;
}

/** Conditions for coins that a new transaction may spend. */
export const SPENDABLE: Omit<CoinQuery, 'control'> = {
  onlySafe: true,
  minDepth: 0,
  maxDepth: Infinity,
  minValueSat: 1n,
  maxValueSat: 1n << 63n,
  destinations: null,
  enoughSat: null,
  enoughCoins: null,
};

/**
 * Coins that meet the conditions, in no particular order. Call `CoinScripts.learn` before, which makes this call faster.
 * Source: `AvailableCoins`.
 */
export function availableCoins(wallet: Wallet, query: CoinQuery): WalletCoin[] {
  const coin = describer(wallet, query.control);
  return matching(wallet, query, wallet.balanceOptions).map(coin);
}

/**
 * The coins that meet the conditions, sorted like in the reference by transaction id and output number. The limits
 * `enoughSat` and `enoughCoins` apply. `describe` computes the data of a coin on demand.
 */
export function availableCoinsInOrder(
  wallet: Wallet,
  query: CoinQuery,
): { readonly coins: readonly OwnCoin[]; describe(coin: OwnCoin): WalletCoin } {
  const describe = describer(wallet, query.control);
  const ordered = inIdOrder(matching(wallet, query, wallet.balanceOptions));
  return { coins: enough(ordered, query), describe };
}

function matching(wallet: Wallet, query: CoinQuery, options: BalanceOptions): OwnCoin[] {
  const { control } = query;
  const onlySelected = control !== null && control.selected.size > 0 && !control.allowsOtherInputs;
  return fittingCoins(wallet.ledger, options, {
    ...query,
    isLocked: (key) => wallet.lockedOutputs.has(key) || (onlySelected && !control.selected.has(key)),
    isChosen: (key) => control?.selected.has(key) === true,
  });
}

function enough(coins: readonly OwnCoin[], { enoughSat, enoughCoins }: CoinQuery): readonly OwnCoin[] {
  let sumSat = 0n;
  for (const [i, { output }] of coins.entries()) {
    sumSat += output.valueSat;
    if (enoughSat !== null && sumSat >= enoughSat) return coins.slice(0, i + 1);
    if (enoughCoins !== null && i + 1 >= enoughCoins) return coins.slice(0, i + 1);
  }
  return coins;
}

function describer(wallet: Wallet, control: CoinControl | null): (coin: OwnCoin) => WalletCoin {
  const { scripts, sizes } = spendStateOf(wallet);
  const takesWatched = control?.allowsWatchOnly === true;
  return ({ key, entry, output, depth, isTrusted }) => {
    const script = scripts.of(entry, output);
    // The size of a signature that another signer creates is unknown, so the maximum is assumed.
    const size = sizes.of(script, takesWatched);
    const isSolvable = size !== null;
    const isOwn = (output.mine & MINE.spendable) !== 0;
    const isSpendable = isOwn || (takesWatched && isSolvable);
    return {
      key,
      entry,
      script,
      depth,
      valueSat: output.valueSat,
      inputSizeBytes: isSpendable && size !== null ? virtualInputSize(size) : -1,
      isSpendable,
      isSolvable,
      isSafe: isTrusted,
    };
  };
}
