/**
 * Sums of received and sent amounts by deprecated account, updated incrementally. Source: lbrycrd wallet/wallet.cpp
 * `GetLegacyBalance`, wallet/rpcwallet.cpp `listaccounts`.
 */
import { COINBASE_MATURITY } from '../../consensus/limits.js';
import { blocksToMaturity } from '../ledger/balances.js';
import type { Entry } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';
import { isChange, labelOf } from './amounts.js';
import { HeightSums } from './heightSums.js';
import { RunningSums } from './runningSums.js';

/** Amounts that a transaction adds to and takes from the accounts. */
interface AccountFlow {
  readonly height: number;
  readonly isCoinbase: boolean;
  /** Account that pays for the transaction. */
  readonly from: string;
  /**
   * Amount that the transaction takes from the account: the wallet's inputs minus the change, which equals the payments and
   * the fee.
   */
  readonly takenSat: bigint;
  /**
   * Account and amount of the first received output; null if nothing was received. Further received outputs are in `others`.
   * The first one is stored separately to save memory, because most transactions have only one.
   */
  readonly to: string;
  readonly receivedSat: bigint | null;
  readonly others: readonly Credit[];
}

type Credit = readonly [account: string, sat: bigint];
const NO_OTHERS: readonly Credit[] = [];

/** Yields all received outputs of a transaction. */
function* creditsOf({ to, receivedSat, others }: AccountFlow): Generator<Credit> {
  if (receivedSat !== null) yield [to, receivedSat];
  yield* others;
}

/** Sums over the confirmed transactions of one account, or of all accounts. */
class AccountSum {
  readonly received = new HeightSums();
  /** Received coinbase amounts. They count once the coinbase is mature. */
  readonly mined = new HeightSums();
  /** Heights of coinbase transactions that are assigned to the account as payer. */
  readonly minedFrom = new HeightSums();
  takenSat = 0n;
  takenCount = 0;

  get isEmpty(): boolean {
    const { received, mined, minedFrom } = this;
    return this.takenCount === 0 && received.isEmpty && mined.isEmpty && minedFrom.isEmpty;
  }
}

export class AccountSums extends RunningSums<AccountFlow> {
  private readonly filter: number;
  private readonly sums = new Map<string, AccountSum>();
  private readonly total = new AccountSum();

  /** `filter`: `MINE` flags of the outputs that count as owned. */
  constructor(wallet: Wallet, filter: number) {
    super(wallet);
    this.filter = filter;
    this.touchAll();
  }

  protected override partOf(entry: Entry): AccountFlow {
    const { wallet, filter } = this;
    const debitSat = wallet.ledger.debit(entry, filter);
    let takenSat = debitSat;
    const received: Credit[] = [];
    for (const output of entry.outputs) {
      if (debitSat > 0n && isChange(wallet, output)) takenSat -= output.valueSat;
      else if ((output.mine & filter) !== 0) received.push([labelOf(wallet, output.to), output.valueSat]);
    }
    const { height, isCoinbase } = entry;
    const [[to, receivedSat] = ['', null] as const, ...more] = received;
    const others = more.length === 0 ? NO_OTHERS : more;
    return { height, isCoinbase, from: entry.row.fromAccount, takenSat, to, receivedSat, others };
  }

  protected override put(flow: AccountFlow): void {
    this.book(flow, 'add', 1);
  }

  protected override take(flow: AccountFlow): void {
    this.book(flow, 'take', -1);
    for (const account of [flow.from, flow.to, ...flow.others.map(([to]) => to)])
      if (this.sums.get(account)?.isEmpty === true) this.sums.delete(account);
  }

  private book(flow: AccountFlow, how: 'add' | 'take', sign: 1 | -1): void {
    const { height, isCoinbase, from, takenSat } = flow;
    for (const sum of [this.sumOf(from), this.total]) {
      if (isCoinbase) sum.minedFrom[how](height, 0n);
      else {
        sum.takenSat += BigInt(sign) * takenSat;
        sum.takenCount += sign;
      }
    }
    for (const [to, sat] of creditsOf(flow))
      for (const sum of [this.sumOf(to), this.total])
        (isCoinbase ? sum.mined : sum.received)[how](height, sat);
  }

  private sumOf(account: string): AccountSum {
    let sum = this.sums.get(account);
    if (sum === undefined) this.sums.set(account, (sum = new AccountSum()));
    return sum;
  }

  /**
   * Iterates over the transactions that are not in the sums but count: those with at least 0 confirmations that are not
   * immature.
   */
  private *loose(): Generator<{ readonly entry: Entry; readonly flow: AccountFlow }> {
    const { ledger } = this.wallet;
    for (const entry of this.rest())
      if (ledger.depth(entry) >= 0 && blocksToMaturity(ledger, entry) === 0)
        yield { entry, flow: this.partOf(entry) };
  }

  /**
   * Balance in satoshis of an account, or of all accounts (null). Received amounts count only with at least `minDepth`
   * confirmations. Call `refresh` before.
   */
  balanceSat(account: string | null, minDepth: number): bigint {
    const { ledger, balanceOptions } = this.wallet;
    const known = account === null ? this.total : this.sums.get(account);
    let sum = 0n;
    if (known !== undefined) {
      sum += known.received.upTo(this.heightOfDepth(minDepth))?.sumSat ?? 0n;
      sum += known.mined.upTo(this.matureHeight(minDepth))?.sumSat ?? 0n;
      sum -= known.takenSat;
    }
    for (const { entry, flow } of this.loose()) {
      if (!balanceOptions.isFinal(entry)) continue;
      if (ledger.depth(entry) >= minDepth)
        for (const [to, sat] of creditsOf(flow)) if (account === null || account === to) sum += sat;
      if (account === null || account === flow.from) sum -= flow.takenSat;
    }
    return sum;
  }

  /** Balances in satoshis of all accounts that received or sent an amount. Call `refresh` before. */
  balances(minDepth: number): Map<string, bigint> {
    const { ledger } = this.wallet;
    const balances = new Map<string, bigint>();
    const add = (account: string, sat: bigint): unknown =>
      balances.set(account, (balances.get(account) ?? 0n) + sat);
    for (const [account, sum] of this.sums) {
      const received = sum.received.upTo(this.heightOfDepth(minDepth));
      const mined = sum.mined.upTo(this.matureHeight(minDepth));
      if (received !== null) add(account, received.sumSat);
      if (mined !== null) add(account, mined.sumSat);
      if (sum.takenCount > 0 || sum.minedFrom.upTo(this.matureHeight(0)) !== null)
        add(account, -sum.takenSat);
    }
    for (const { entry, flow } of this.loose()) {
      if (ledger.depth(entry) >= minDepth) for (const [to, sat] of creditsOf(flow)) add(to, sat);
      add(flow.from, -flow.takenSat);
    }
    return balances;
  }

  /** Maximum height of the coinbases that are mature and have at least `minDepth` confirmations. */
  private matureHeight(minDepth: number): number {
    return this.heightOfDepth(Math.max(minDepth, COINBASE_MATURITY + 1));
  }
}
