/**
 * Balances and received amounts by account, with the rules of lbcwallet: amounts in claims and supports ("stakes") do not
 * count in balances. Source: lbcwallet wtxmgr/tx.go `Balance`, wallet/wallet.go `CalculateAccountBalances`,
 * `TotalReceivedForAccounts`.
 */
import type { Slices } from '../../util/slices.js';
import { MINE, MINE_STAKE } from '../keys/isMine.js';
import { blocksToMaturity } from '../ledger/balances.js';
import { txKeyOf, type Entry, type OwnOutput } from '../ledger/entry.js';
import type { Ledger } from '../ledger/ledger.js';
import type { Wallet } from '../wallet.js';

export interface LbcdCoin {
  readonly key: string;
  readonly entry: Entry;
  readonly output: OwnOutput;
  /** Confirmations. */
  readonly depth: number;
  readonly isStake: boolean;
  readonly isMature: boolean;
}

/** Whether a transaction counts for balances: it is neither abandoned nor in conflict with a block. */
export const isAlive = ({ state }: Entry): boolean => state === 'confirmed' || state === 'unconfirmed';

/** Unspent outputs that the wallet's own keys can spend. */
export function* lbcdCoins(ledger: Ledger): Generator<LbcdCoin> {
  for (const [key, output] of ledger.unspentOutputs()) {
    if ((output.mine & MINE.spendable) === 0) continue;
    const entry = ledger.entry(txKeyOf(key))!;
    if (!isAlive(entry)) continue;
    const isStake = (output.mine & MINE_STAKE) !== 0;
    const isMature = blocksToMaturity(ledger, entry) === 0;
    yield { key, entry, output, depth: ledger.depth(entry), isStake, isMature };
  }
}

/** Balance of a group of coins in satoshis. Source: `Balances`. */
export interface LbcdBalance {
  /** Sum in satoshis of all unspent outputs, including unconfirmed and immature ones. */
  totalSat: bigint;
  spendableSat: bigint;
}

/** Balances of groups of coins. `keyOf` returns the group of a coin. */
export function balancesBy<K>(
  ledger: Ledger,
  minDepth: number,
  keyOf: (coin: LbcdCoin) => K,
): Map<K, LbcdBalance> {
  const balances = new Map<K, LbcdBalance>();
  for (const coin of lbcdCoins(ledger)) {
    if (coin.isStake) continue;
    const key = keyOf(coin);
    let balance = balances.get(key);
    if (balance === undefined) balances.set(key, (balance = { totalSat: 0n, spendableSat: 0n }));
    balance.totalSat += coin.output.valueSat;
    if (coin.isMature && coin.depth >= minDepth) balance.spendableSat += coin.output.valueSat;
  }
  return balances;
}

/**
 * The balance of the whole wallet without locked outputs, and the amount in its claims and supports. Source: wtxmgr
 * `Balance`.
 */
export function walletBalance(wallet: Wallet, minDepth: number): { balanceSat: bigint; stakedSat: bigint } {
  let balanceSat = 0n;
  let stakedSat = 0n;
  for (const { key, output, depth, isStake, isMature } of lbcdCoins(wallet.ledger)) {
    if (wallet.lockedOutputs.has(key)) continue;
    if (isStake) stakedSat += depth > 0 ? output.valueSat : 0n;
    else if (isMature && depth >= minDepth) balanceSat += output.valueSat;
  }
  return { balanceSat, stakedSat };
}

/** Sum of the payments to one destination of the wallet. */
export interface Received {
  sumSat: bigint;
  /** Number of confirmations of the latest payment. */
  depth: number;
  /** Ids (`Entry.key`) of the paying transactions without duplicates, sorted from the oldest. */
  readonly txKeys: string[];
}

/** Received amounts with at least `minDepth` confirmations, spent or not, by destination (`destinationKey`). */
export function* receivedByDestination(ledger: Ledger, minDepth: number): Slices<Map<string, Received>> {
  const sums = new Map<string, Received>();
  let looked = 0;
  for (const entry of ledger.inOrder().toArray()) {
    if (++looked % 256 === 0) yield;
    const depth = ledger.depth(entry);
    if (!isAlive(entry) || depth < minDepth) continue;
    for (const output of entry.outputs) if ((output.mine & MINE.spendable) !== 0) add(entry, output, depth);
  }
  return sums;

  function add(entry: Entry, { to, valueSat }: OwnOutput, depth: number): void {
    const sum = sums.get(to);
    if (sum === undefined) {
      sums.set(to, { sumSat: valueSat, depth, txKeys: [entry.key] });
      return;
    }
    sum.sumSat += valueSat;
    sum.depth = depth;
    if (sum.txKeys.at(-1) !== entry.key) sum.txKeys.push(entry.key);
  }
}
