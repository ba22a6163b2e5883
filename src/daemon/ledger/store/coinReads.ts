/** Queries about spendable coins: totals, amounts, and the coins of an amount. */
import type { SqlValue } from '../../../sqlite/sqliteProvider.js';
import type { LedgerCoinAmount, LedgerCoinFilter, LedgerCoinTotals } from '../ledgerDatabase.js';
import { SPENDABLE_TXO_TYPES } from '../txoQuery.js';
import type { Owners } from './owners.js';
import type { Statements } from '../../../sqlite/statements.js';
import { among, ORDERS, txoCondition } from './txoSql.js';

/** SQL condition that is equal to that of the partial index `txo_coin`. SQLite uses the index only if the text is identical. */
const COINS =
  'FROM txo INDEXED BY txo_coin WHERE txo.spent_by IS NULL AND txo.is_reserved = 0 AND txo.txo_type IN (0, 4)';

/** Maximum number of coin amounts per query. Arbitrary. */
const AMOUNTS_AT_ONCE = 2048;

/** The parts of a filter other than the accounts, as an SQL condition. */
function fits({ isConfirmed, notOf = [] }: LedgerCoinFilter): string {
  const confirmed = isConfirmed ? 'AND txo.height > 0' : '';
  return notOf.length === 0 ? confirmed : `${confirmed} AND NOT (${among('txo.tx', notOf.map(Math.trunc))})`;
}

export class CoinReads {
  readonly #statements: Statements;
  readonly #owners: Owners;

  constructor(statements: Statements, owners: Owners) {
    this.#statements = statements;
    this.#owners = owners;
  }

  /**
   * All coins as a single text, which is fast to create and to send to another thread. Each coin has its number, transaction
   * number, amount, height and verified flag (0 unless proofs are requested), all separated by blanks.
   */
  coins(accountIds: readonly string[], withProofs: boolean): string {
    const { sql, values } = txoCondition(
      { accountIds, types: SPENDABLE_TXO_TYPES, isSpent: false },
      this.#owners,
    );
    const proof = withProofs ? '(SELECT is_verified FROM tx WHERE tx.id = txo.tx)' : '0';
    const row = this.#statements.get(
      `SELECT group_concat(coin, ' ') AS coins FROM (
        SELECT txo.id || ' ' || txo.tx || ' ' || txo.amount || ' ' || txo.height || ' ' || ${proof} AS coin
        FROM txo ${sql} ${ORDERS.height})`,
      ...values,
    );
    return (row?.['coins'] as string | null | undefined) ?? '';
  }

  coinTotals(filter: LedgerCoinFilter, fromDewies: bigint | null): LedgerCoinTotals {
    const owners = this.#owners.of(filter.accountIds);
    if (owners.length === 0) return { count: 0, amounts: 0, sumDewies: 0n };
    const where = `${COINS} AND ${among('txo.owner', owners)} ${fits(filter)}`;
    const row =
      fromDewies === null
        ? this.#statements.get(
            `SELECT 0 AS amounts, count(*) AS count, CAST(coalesce(sum(txo.amount), 0) AS TEXT) AS sum ${where}`,
          )!
        : this.#statements.get(
            `SELECT count(*) AS amounts, coalesce(sum(coins), 0) AS count, CAST(coalesce(sum(total), 0) AS TEXT) AS sum FROM
              (SELECT count(*) AS coins, sum(txo.amount) AS total ${where} AND txo.amount >= ? GROUP BY txo.amount)`,
            fromDewies,
          )!;
    return {
      count: row['count'] as number,
      amounts: row['amounts'] as number,
      sumDewies: BigInt(row['sum'] as string),
    };
  }

  /** Queries each account separately and merges the results, because SQLite would sort the rows of several accounts. */
  coinAmounts(filter: LedgerCoinFilter, belowDewies: bigint | null): LedgerCoinAmount[] {
    const counts = new Map<bigint, number>();
    let floorDewies = 0n;
    for (const owner of this.#owners.of(filter.accountIds)) {
      const values: SqlValue[] = belowDewies === null ? [] : [belowDewies];
      // All rows are returned as a single text, because creating many row objects is much slower.
      const row = this.#statements.get(
        `SELECT group_concat(line, ' ') AS lines FROM (
          SELECT txo.amount || ' ' || count(*) AS line ${COINS} AND txo.owner = ${owner} ${fits(filter)}
          ${belowDewies === null ? '' : 'AND txo.amount < ?'} GROUP BY txo.amount ORDER BY txo.amount DESC LIMIT ${AMOUNTS_AT_ONCE})`,
        ...values,
      );
      const numbers = ((row?.['lines'] as string | null | undefined) ?? '').split(' ');
      let amount = 0n;
      for (let n = 0; n + 1 < numbers.length; n += 2) {
        amount = BigInt(numbers[n]!);
        counts.set(amount, (counts.get(amount) ?? 0) + Number(numbers[n + 1]));
      }
      if (numbers.length === 2 * AMOUNTS_AT_ONCE && amount > floorDewies) floorDewies = amount;
    }
    return [...counts]
      .filter(([amountDewies]) => amountDewies >= floorDewies)
      .sort(([a], [b]) => (a < b ? 1 : -1))
      .map(([amountDewies, count]) => ({ amountDewies, count }));
  }

  leastCoinAmount(filter: LedgerCoinFilter, fromDewies: bigint): bigint | null {
    let least: bigint | null = null;
    for (const owner of this.#owners.of(filter.accountIds)) {
      const row = this.#statements.get(
        `SELECT CAST(txo.amount AS TEXT) AS amount ${COINS} AND txo.owner = ${owner} ${fits(filter)} AND txo.amount >= ?
          ORDER BY txo.amount LIMIT 1`,
        fromDewies,
      );
      if (row === undefined) continue;
      const amount = BigInt(row['amount'] as string);
      if (least === null || amount < least) least = amount;
    }
    return least;
  }

  coinsOfAmount(filter: LedgerCoinFilter, { amountDewies, count }: LedgerCoinAmount): number[] {
    const numbers: number[] = [];
    const asked = new Set<number>();
    for (const accountId of filter.accountIds) {
      // A coin that belongs to several accounts is returned only for the first of them.
      const owners = this.#owners.of([accountId]).filter((owner) => !asked.has(owner));
      for (const owner of owners) asked.add(owner);
      if (owners.length === 0 || numbers.length === count) continue;
      const rows = this.#statements.all(
        `SELECT txo.id ${COINS} AND ${among('txo.owner', owners)} ${fits(filter)} AND txo.amount = ?
          ${ORDERS.height} LIMIT ?`,
        amountDewies,
        count - numbers.length,
      );
      numbers.push(...rows.map(({ id }) => id as number));
    }
    return numbers;
  }
}
