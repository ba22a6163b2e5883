/** Queries of outputs: lists, sums, balances and coin selection; reservations of outputs. */
import type { SqlRow } from '../../../sqlite/sqliteProvider.js';
import type { LedgerBalance, SpendableCoin } from '../ledgerDatabase.js';
import {
  CLAIM_TXO_TYPES,
  SPENDABLE_TXO_TYPES,
  TXO_TYPE,
  type OutPointRef,
  type PlotDay,
  type PlotRange,
  type TxoFilter,
  type TxoPage,
  type TxoRow,
  type TxoView,
} from '../txoQuery.js';
import { NO_OWNER, type Owners } from './owners.js';
import { bufferOf, type Statements } from '../../../sqlite/statements.js';
import { among, indexFor, ORDERS, txoCondition } from './txoSql.js';

/** Computes a sum in two 32-bit halves, because amounts exceed the precision of a double and sums may exceed 64 bits. */
const SUM = 'coalesce(sum(txo.amount >> 32), 0) AS high, coalesce(sum(txo.amount & 4294967295), 0) AS low';

const sumOf = ({ high, low }: SqlRow): bigint => (BigInt(high as number) << 32n) + BigInt(low as number);

const COLUMNS = `
  tx.txid, txo.nout, txo.height, tx.position, tx.is_verified, CAST(txo.amount AS TEXT) AS amount, txo.script,
  address.text AS address, txo.owner, txo.input_owner, txo.spent_by IS NOT NULL AS is_spent, txo.is_reserved, txo.txo_type,
  txo.claim_id, txo.claim_name, txo.channel_id, txo.reposted_claim_id, txo.has_source, tx.first_prev`;

/** Value of SQL's LIMIT that means no limit. */
const NO_LIMIT = -1;

export class TxoReads {
  readonly #statements: Statements;
  readonly #owners: Owners;

  constructor(statements: Statements, owners: Owners) {
    this.#statements = statements;
    this.#owners = owners;
  }

  txos(filter: TxoFilter, page: TxoPage = {}, view: TxoView = {}): TxoRow[] {
    const { sql, values } = txoCondition(filter, this.#owners);
    const order = ORDERS[page.order ?? 'height'];
    const wallet = view.walletAccountIds ?? filter.accountIds;
    const rows = this.#statements.all(
      `SELECT ${COLUMNS}${view.withReceivedTips === true ? `, ${this.#receivedTips(wallet)}` : ''}
        FROM (SELECT txo.id AS found FROM txo ${indexFor(filter, this.#owners, page.order)} ${sql} ${order} LIMIT ? OFFSET ?)
        CROSS JOIN txo ON txo.id = found CROSS JOIN tx ON tx.id = txo.tx CROSS JOIN address ON address.id = txo.address ${order}`,
      ...values,
      page.limit ?? NO_LIMIT,
      page.offset ?? 0,
    );
    return this.#rows(rows, wallet);
  }

  /** SQL for the sum of the unspent supports of a claim at the wallet's addresses. Source: `include_received_tips`. */
  #receivedTips(wallet: readonly string[]): string {
    const mine = among('s.owner', this.#owners.of(wallet));
    return `(SELECT CAST(coalesce(sum(s.amount), 0) AS TEXT) FROM txo AS s WHERE s.claim_id = txo.claim_id
      AND s.txo_type = ${TXO_TYPE.support} AND ${mine} AND s.spent_by IS NULL) AS received_tips`;
  }

  #rows(rows: readonly SqlRow[], wallet: readonly string[]): TxoRow[] {
    const mine = new Set(this.#owners.of(wallet));
    const inWallet = new Set(wallet);
    const accounts = new Map<number, string | null>();
    const accountOf = (owner: number): string | null => {
      if (owner === NO_OWNER) return null;
      const known = accounts.get(owner);
      if (known !== undefined) return known;
      const names = this.#owners.names(owner);
      const name = names.find((one) => inWallet.has(one)) ?? names[0] ?? null;
      accounts.set(owner, name);
      return name;
    };
    return rows.map((row) => {
      const owner = row['owner'] as number;
      const isMyOutput = mine.has(owner);
      const isMyInput = mine.has(row['input_owner'] as number);
      const tips = row['received_tips'] as string | undefined;
      return {
        txid: bufferOf(row['txid']),
        nout: row['nout'] as number,
        height: row['height'] as number,
        position: row['position'] as number,
        isVerified: row['is_verified'] === 1,
        amountDewies: BigInt(row['amount'] as string),
        script: bufferOf(row['script']),
        address: row['address'] as string,
        accountId: accountOf(owner),
        isSpent: row['is_spent'] === 1,
        isReserved: row['is_reserved'] !== 0,
        isMyOutput,
        isMyInput,
        isInternalTransfer: isMyOutput && isMyInput && row['txo_type'] === TXO_TYPE.other,
        txoType: row['txo_type'] as number,
        claimId: row['claim_id'] as string | null,
        claimName: row['claim_name'] as string | null,
        channelId: row['channel_id'] as string | null,
        repostedClaimId: row['reposted_claim_id'] as string | null,
        hasSource: row['has_source'] === 1,
        firstOutPoint: bufferOf(row['first_prev']),
        receivedTipsDewies: tips === undefined ? null : BigInt(tips),
      };
    });
  }

  txoCount(filter: TxoFilter): number {
    const { sql, values } = txoCondition(filter, this.#owners);
    return this.#statements.number(
      `SELECT count(*) FROM txo ${indexFor(filter, this.#owners, 'none')} ${sql}`,
      ...values,
    );
  }

  txoSum(filter: TxoFilter): bigint {
    const { sql, values } = txoCondition(filter, this.#owners);
    return sumOf(this.#statements.get(`SELECT ${SUM} FROM txo ${sql}`, ...values)!);
  }

  txoPlot(filter: TxoFilter, { fromDay, toDay }: PlotRange): PlotDay[] {
    const { sql, values } = txoCondition(filter, this.#owners);
    const rows = this.#statements.all(
      `SELECT txo.day AS day, ${SUM} FROM txo ${sql === '' ? 'WHERE' : `${sql} AND`} txo.day >= ? AND txo.day <= ?
        GROUP BY txo.day ORDER BY txo.day`,
      ...values,
      fromDay,
      toDay ?? Number.MAX_SAFE_INTEGER,
    );
    return rows.map((row) => ({ day: row['day'] as number, totalDewies: sumOf(row) }));
  }

  balance(accountIds: readonly string[], maxHeight?: number): LedgerBalance {
    const parts = { total: 0n, available: 0n, reserved: 0n, claims: 0n, supports: 0n, tips: 0n };
    for (const accountId of new Set(accountIds)) {
      const owners = this.#owners.of([accountId]);
      const bound = maxHeight === undefined ? '' : 'AND txo.height > 0 AND txo.height <= ?';
      const mine = new Set(owners);
      const rows = this.#statements.all(
        `SELECT txo.txo_type AS type, txo.input_owner, ${SUM} FROM txo
          WHERE ${among('txo.owner', owners)} AND txo.spent_by IS NULL AND txo.is_reserved = 0 ${bound}
          GROUP BY txo.txo_type, txo.input_owner`,
        ...(maxHeight === undefined ? [] : [maxHeight]),
      );
      for (const row of rows) {
        const type = row['type'] as number;
        const sum = sumOf(row);
        parts.total += sum;
        if ((SPENDABLE_TXO_TYPES as readonly number[]).includes(type)) parts.available += sum;
        else parts.reserved += sum;
        if ((CLAIM_TXO_TYPES as readonly number[]).includes(type)) parts.claims += sum;
        if (type === TXO_TYPE.support)
          parts[mine.has(row['input_owner'] as number) ? 'supports' : 'tips'] += sum;
      }
    }
    return parts;
  }

  /** Throws `NotReserved`. */
  reserveCoins(candidates: readonly number[]): SpendableCoin[] {
    const numbers = JSON.stringify(candidates);
    const reserved = this.#statements.run(
      `UPDATE txo SET is_reserved = 1
        WHERE id IN (SELECT value FROM json_each(?)) AND spent_by IS NULL AND is_reserved = 0`,
      numbers,
    );
    if (reserved !== candidates.length) throw new NotReserved();
    const rows = this.#statements.all(
      `SELECT tx.txid, txo.nout, CAST(txo.amount AS TEXT) AS amount, txo.height, tx.is_verified, address.text AS address
        FROM json_each(?) AS wanted CROSS JOIN txo ON txo.id = wanted.value CROSS JOIN tx ON tx.id = txo.tx
          CROSS JOIN address ON address.id = txo.address
        ORDER BY wanted.key`,
      numbers,
    );
    return rows.map((row) => ({
      txid: bufferOf(row['txid']),
      nout: row['nout'] as number,
      amountDewies: BigInt(row['amount'] as string),
      height: row['height'] as number,
      isVerified: row['is_verified'] === 1,
      address: row['address'] as string,
    }));
  }

  reserve(outPoints: readonly OutPointRef[]): boolean {
    let count = 0;
    for (const outPoint of outPoints)
      count += this.#setReserved(outPoint, 1, 'AND spent_by IS NULL AND is_reserved = 0');
    if (count === outPoints.length) return true;
    throw new NotReserved();
  }

  release(outPoints: readonly OutPointRef[]): void {
    for (const outPoint of outPoints) this.#setReserved(outPoint, 0, '');
  }

  #setReserved({ txid, nout }: OutPointRef, value: number, condition: string): number {
    return this.#statements.run(
      `UPDATE txo SET is_reserved = ? WHERE tx = (SELECT id FROM tx WHERE txid = ?) AND nout = ? ${condition}`,
      value,
      txid,
      nout,
    );
  }

  releaseAll(accountIds?: readonly string[]): void {
    const whose = accountIds === undefined ? '' : `AND ${among('owner', this.#owners.of(accountIds))}`;
    this.#statements.run(`UPDATE txo SET is_reserved = 0 WHERE is_reserved <> 0 ${whose}`);
  }

  /** Marks the reservations that an earlier run of the daemon left in the database. */
  markLeftReservations(): void {
    this.#statements.run('UPDATE txo SET is_reserved = 2 WHERE is_reserved = 1');
  }

  releaseLeft(): void {
    this.#statements.run('UPDATE txo SET is_reserved = 0 WHERE is_reserved = 2');
  }
}

/** Thrown to roll back a database transaction if not every coin could be reserved. */
export class NotReserved extends Error {}
