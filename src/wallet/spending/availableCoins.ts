/**
 * The wallet's unspent outputs with what spending asks of them: script, size of the input, whether keys are at hand. Source:
 * lbrycrd wallet/wallet.cpp `AvailableCoins`, wallet/wallet.h `COutput`.
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
  /** The wallet has the private keys, or it is watched and the spender asked for watched coins too. */
  readonly isSpendable: boolean;
  /** Scripts and public keys are known. */
  readonly isSolvable: boolean;
  /** Not unconfirmed from others, nor a replacement that waits. */
  readonly isSafe: boolean;
}

export interface CoinQuery extends CoinBounds {
  /** Unspent claims and supports count only when it selects them. */
  readonly control: CoinControl | null;
  /** This much, or this many by their ids, are enough; null for all. */
  readonly enoughSat: bigint | null;
  readonly enoughCoins: number | null;
}

/** What a new transaction may spend. */
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
 * Those that fit, as they are now; in no order. Faster when `CoinScripts.learn` was run before. Source: `AvailableCoins`.
 */
export function availableCoins(wallet: Wallet, query: CoinQuery): WalletCoin[] {
  const coin = describer(wallet, query.control);
  return matching(wallet, query, wallet.balanceOptions).map(coin);
}

/** The same by transaction id and number, as the reference lists and limits them; what they are is worked out on demand. */
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
    // How large a signature of others gets is not known: that of the largest counts.
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
