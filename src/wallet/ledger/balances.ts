/**
 * Computes the balances of a wallet, and lists its unspent outputs with their confirmation state. The cost is proportional
 * to the number of unspent outputs, not to the history. Source: lbrycrd wallet/wallet.cpp `GetBalance`, `IsTrusted`,
 * `AvailableCoins`.
 */
import { COINBASE_MATURITY } from '../../consensus/limits.js';
import { MINE } from '../keys/isMine.js';
import { outputNumber, txKeyOf, type Entry, type OwnOutput } from './entry.js';
import type { Ledger } from './ledger.js';
import type { UnspentOutputs } from './spentOutputs.js';
import { REPLACED_BY, REPLACES } from './txRecord.js';

export interface BalanceOptions {
  /** Whether the wallet's own change counts before it is confirmed (`-spendzeroconfchange`). */
  readonly spendsUnconfirmedChange: boolean;
  /** Whether the lock time of a transaction allows it to be in the next block. */
  isFinal(entry: Pick<Entry, 'lockTime'>): boolean;
}

/** An unspent output of the wallet with its confirmation state. */
export interface OwnCoin {
  /** See `outputKey`. */
  readonly key: string;
  readonly entry: Entry;
  readonly output: OwnOutput;
  /** Number of confirmations; negative if the transaction conflicts with a block. */
  readonly depth: number;
  /** Whether the output can be spent: it is confirmed, or it is change of a transaction that the wallet created. */
  readonly isTrusted: boolean;
}

/** Sums of outputs in satoshis. `trusted`: outputs that can be spent. */
export interface WalletBalance {
  readonly trusted: bigint;
  /** Outputs of mempool transactions that were received from others or depend on unconfirmed outputs. */
  readonly pending: bigint;
  /** Outputs of confirmed coinbases that are not mature yet. */
  readonly immature: bigint;
}

/** Number of blocks until a coinbase can be spent; 0 for other transactions. Source: `GetBlocksToMaturity`. */
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

/**
 * Unspent outputs of the wallet with their state. By default all, in the order in which they were received; otherwise those
 * in `outputs`.
 */
export function* ownCoins(
  ledger: Ledger,
  options: BalanceOptions,
  outputs: UnspentOutputs = ledger.unspentOutputs(),
): Generator<OwnCoin> {
  // The state of the last transaction is cached, because successive outputs often belong to the same transaction.
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
 * Sums over all unspent outputs, or over `outputs`. Only outputs with a flag of `filter` count. A trusted output counts only
 * with at least `minDepth` confirmations.
 */
export function balance(
  ledger: Ledger,
  options: BalanceOptions,
  filter: number = MINE.spendable,
  minDepth = 0,
  outputs: UnspentOutputs | null = null,
): WalletBalance {
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
): WalletBalance {
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

/**
 * Sum in satoshis of the pending outputs that the wallet can spend. The cost is proportional to the number of unconfirmed
 * transactions.
 */
export function pendingSat(ledger: Ledger, options: BalanceOptions): bigint {
  return balance(ledger, options, MINE.spendable, 0, ledger.unspentUnsettled()).pending;
}

/** Sums in satoshis of the unspent claims and of the unspent supports. The cost is proportional to their number. */
export function stakedSat(ledger: Ledger, options: BalanceOptions): { claims: bigint; supports: bigint } {
  const of = (flag: number): bigint => balance(ledger, options, flag, 0, ledger.unspentStakes()).trusted;
  return { claims: of(MINE.claim), supports: of(MINE.support) };
}

/** Conditions that a coin must meet to be spent by a new transaction. */
export interface CoinBounds {
  /** Excludes unconfirmed outputs of others, and outputs of replacement transactions. */
  readonly onlySafe: boolean;
  readonly minDepth: number;
  readonly maxDepth: number;
  readonly minValueSat: bigint;
  readonly maxValueSat: bigint;
  /** Destinations (`destinationKey`) whose coins may be spent; null for all. */
  readonly destinations: ReadonlySet<string> | null;
}

export interface CoinFilter extends CoinBounds {
  isLocked(key: string): boolean;
  /**
   * Whether the caller selected a coin explicitly. `key` is the output key of the coin. Claims and supports are spent only
   * if selected.
   */
  isChosen(key: string): boolean;
}

/** Whether a transaction replaces another transaction or was replaced. */
function isReplaceable({ row }: Entry): boolean {
  return row.notes.has(REPLACES) || row.notes.has(REPLACED_BY);
}

/**
 * Coins that meet the conditions of `filter`, except that conditions which depend on keys are not checked. Source:
 * `AvailableCoins`.
 */
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

/** Sorts coins in the order of the reference: by transaction id in wire order, then by output number. */
export function inIdOrder(coins: readonly OwnCoin[]): OwnCoin[] {
  return coins
    .map((coin) => ({ coin, id: txKeyOf(coin.key), n: outputNumber(coin.key) }))
    .sort((a, b) => (a.id === b.id ? a.n - b.n : a.id < b.id ? -1 : 1))
    .map(({ coin }) => coin);
}
