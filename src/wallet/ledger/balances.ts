/**
 * What a wallet has: its unspent outputs with where each stands, and their sums. The cost grows with what is unspent, not with
 * history. Source: lbrycrd wallet/wallet.cpp `GetBalance`, `IsTrusted`, `AvailableCoins`.
 */
import { COINBASE_MATURITY } from '../../consensus/limits.js';
import { MINE } from '../keys/isMine.js';
import { outputNumber, txKeyOf, type Entry, type OwnOutput } from './entry.js';
import type { Ledger } from './ledger.js';
import type { UnspentOutputs } from './spentOutputs.js';
import { REPLACED_BY, REPLACES } from './txRecord.js';

export interface BalanceOptions {
  /** Whether own change counts before it is confirmed (`-spendzeroconfchange`). */
  readonly spendsUnconfirmedChange: boolean;
  /** Whether a transaction could be in the next block as far as its lock time goes. */
  isFinal(entry: Pick<Entry, 'lockTime'>): boolean;
}

/** An unspent output of the wallet. */
export interface OwnCoin {
  /** See `outputKey`. */
  readonly key: string;
  readonly entry: Entry;
  readonly output: OwnOutput;
  /** Confirmations, below 0 for what conflicts. */
  readonly depth: number;
  /** Whether it may be spent without waiting: confirmed, or own change of transactions of our own. */
  readonly isTrusted: boolean;
}

/** Sums in satoshis of what is spendable, and of what is watched. */
export interface Balance {
  readonly trusted: bigint;
  /** In the mempool, from others or built on what is. */
  readonly pending: bigint;
  /** Mined not long ago. */
  readonly immature: bigint;
}

/** Blocks until a coinbase can be spent; 0 for others. Source: `GetBlocksToMaturity`. */
export function blocksToMaturity(ledger: Ledger, entry: Entry): number {
  return entry.isCoinbase ? Math.max(0, COINBASE_MATURITY + 1 - ledger.depth(entry)) : 0;
}

/** Source: `CWalletTx::IsTrusted`. */
export function isTrusted(ledger: Ledger, entry: Entry, options: BalanceOptions): boolean {
  if (!options.isFinal(entry)) return false;
  const depth = ledger.depth(entry);
  if (depth !== 0) return depth > 0;
  if (!options.spendsUnconfirmedChange || !entry.inMempool) return false;
  const inputs = entry.inputs.map((input) => ledger.output(input));
  return (
    inputs.some((spent) => spent !== undefined) &&
    inputs.every((spent) => spent !== undefined && (spent.mine & MINE.spendable) !== 0)
  );
}

/** Unspent outputs, all in the order in which they became so, or some of them. */
export function* ownCoins(
  ledger: Ledger,
  options: BalanceOptions,
  outputs: UnspentOutputs = ledger.unspentOutputs(),
): Generator<OwnCoin> {
  // Outputs of one transaction often follow one another.
  let last: { entry: Entry; depth: number; trusted: boolean } | null = null;
  for (const [key, output] of outputs) {
    const txKey = txKeyOf(key);
    if (last?.entry.key !== txKey) {
      const entry: Entry = ledger.entry(txKey)!;
      last = { entry, depth: ledger.depth(entry), trusted: isTrusted(ledger, entry, options) };
    }
    yield { key, entry: last.entry, output, depth: last.depth, isTrusted: last.trusted };
  }
}

/**
 * Sums over all unspent outputs, or over `outputs`, with any of the flags of `filter`. `minDepth` is asked of what is trusted.
 */
export function balance(
  ledger: Ledger,
  options: BalanceOptions,
  filter: number = MINE.spendable,
  minDepth = 0,
  outputs: UnspentOutputs | null = null,
): Balance {
  if (outputs !== null) return balanceOf(ledger, options, filter, minDepth, outputs);
  const { settled, others } = ledger.unspentParts();
  const found = balanceOf(ledger, options, filter, minDepth, others);
  let { trusted, immature } = found;
  for (const { mine, valueSat, height, lockTime, isCoinbase } of settled) {
    if ((mine & filter) === 0) continue;
    const depth = ledger.followedHeight - height + 1;
    if (isCoinbase && depth <= COINBASE_MATURITY) immature += valueSat;
    else if (options.isFinal({ lockTime }) && depth >= minDepth) trusted += valueSat;
  }
  return { trusted, immature, pending: found.pending };
}

function balanceOf(
  ledger: Ledger,
  options: BalanceOptions,
  filter: number,
  minDepth: number,
  outputs: UnspentOutputs,
): Balance {
  let trusted = 0n;
  let pending = 0n;
  let immature = 0n;
  for (const { entry, output, depth, isTrusted: isSafe } of ownCoins(ledger, options, outputs)) {
    if ((output.mine & filter) === 0) continue;
    if (entry.isCoinbase && blocksToMaturity(ledger, entry) > 0) {
      if (depth > 0) immature += output.valueSat;
    } else if (isSafe) {
      if (depth >= minDepth) trusted += output.valueSat;
    } else if (depth === 0 && entry.inMempool) pending += output.valueSat;
  }
  return { trusted, pending, immature };
}

/** What waits, of the spendable. The cost grows with what is in no block. */
export function pendingSat(ledger: Ledger, options: BalanceOptions): bigint {
  return balance(ledger, options, MINE.spendable, 0, ledger.unspentUnsettled()).pending;
}

/** What is in claims, and in supports. The cost grows with these. */
export function stakedSat(ledger: Ledger, options: BalanceOptions): { claims: bigint; supports: bigint } {
  const of = (flag: number): bigint => balance(ledger, options, flag, 0, ledger.unspentStakes()).trusted;
  return { claims: of(MINE.claim), supports: of(MINE.support) };
}

/** What a coin must be to be spent by a new transaction. */
export interface CoinBounds {
  /** Unconfirmed outputs of others, and of replacements, are left out. */
  readonly onlySafe: boolean;
  readonly minDepth: number;
  readonly maxDepth: number;
  readonly minValueSat: bigint;
  readonly maxValueSat: bigint;
  /** Destinations that count (`destinationKey`); null for all. */
  readonly destinations: ReadonlySet<string> | null;
}

export interface CoinFilter extends CoinBounds {
  isLocked(key: string): boolean;
  /** Claims and supports are left out unless they are asked for one by one. */
  isChosen(key: string): boolean;
}

/** Whether an unconfirmed transaction may turn out to be another. */
function isReplaceable({ row }: Entry): boolean {
  return row.notes.has(REPLACES) || row.notes.has(REPLACED_BY);
}

/** Source: `AvailableCoins`, except for what depends on keys. */
export function fittingCoins(ledger: Ledger, options: BalanceOptions, filter: CoinFilter): OwnCoin[] {
  const coins: OwnCoin[] = [];
  for (const coin of ownCoins(ledger, options, ledger.unspentOutputs(filter.destinations))) {
    const { key, entry, output, depth } = coin;
    if (depth < 0 || depth < filter.minDepth || depth > filter.maxDepth) continue;
    if (!options.isFinal(entry) || blocksToMaturity(ledger, entry) > 0) continue;
    if (depth === 0 && !entry.inMempool) continue;
    const isSafe = coin.isTrusted && !(depth === 0 && isReplaceable(entry));
    if (filter.onlySafe && !isSafe) continue;
    if (output.valueSat < filter.minValueSat || output.valueSat > filter.maxValueSat) continue;
    if (filter.isLocked(key)) continue;
    const isStake = (output.mine & (MINE.claim | MINE.support)) !== 0;
    if (isStake && !filter.isChosen(key)) continue;
    coins.push(isSafe === coin.isTrusted ? coin : { ...coin, isTrusted: isSafe });
  }
  return coins;
}

/** In the order in which the reference has coins: by the bytes of the transaction id in wire order, then by number. */
export function inIdOrder(coins: readonly OwnCoin[]): OwnCoin[] {
  return coins
    .map((coin) => ({ coin, id: txKeyOf(coin.key), n: outputNumber(coin.key) }))
    .sort((a, b) => (a.id === b.id ? a.n - b.n : a.id < b.id ? -1 : 1))
    .map(({ coin }) => coin);
}
