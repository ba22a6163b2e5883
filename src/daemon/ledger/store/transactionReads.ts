/** Queries of transactions and addresses. Source: lbry-sdk lbry/wallet/database.py `get_transactions`, `get_addresses`. */
import type { SqlRow, SqlValue } from '../../../sqlite/sqliteProvider.js';
import type {
  AddressFilter,
  AddressOrder,
  AddressRow,
  TransactionFilter,
  TransactionRow,
} from '../ledgerDatabase.js';
import type { OutPointRef, QueryPage, TxoRow } from '../txoQuery.js';
import { USES } from './addressUses.js';
import type { Owners } from './owners.js';
import { blobList, bufferOf, textList, type Statements } from '../../../sqlite/statements.js';
import type { TxoReads } from './txoReads.js';
import { among, type SqlCondition } from './txoSql.js';

const NO_LIMIT = -1;
/** Default number of addresses that a query of unused addresses returns. Source: account.py `get_or_create_usable_address`. */
const MOST_UNUSED = 10;

const keyOf = (txid: Uint8Array, nout: number): string => `${Buffer.from(txid).toString('hex')}:${nout}`;

export class TransactionReads {
  readonly #statements: Statements;
  readonly #owners: Owners;
  readonly #txos: TxoReads;

  constructor(statements: Statements, owners: Owners, txos: TxoReads) {
    this.#statements = statements;
    this.#owners = owners;
    this.#txos = txos;
  }

  #condition(filter: TransactionFilter): SqlCondition {
    const parts: string[] = [];
    const values: SqlValue[] = [];
    if (filter.accountIds !== null) {
      const spends = filter.isPurchase === true ? 'AND o.spends = 1' : '';
      const mine = among('o.owner', this.#owners.of(filter.accountIds));
      parts.push(`EXISTS (SELECT 1 FROM tx_owner AS o WHERE o.tx = tx.id AND ${mine} ${spends})`);
    }
    if (filter.txids) {
      parts.push('tx.txid IN (SELECT unhex(value) FROM json_each(?))');
      values.push(blobList(filter.txids));
    }
    if (filter.isPurchase === true) parts.push('tx.purchased_claim_id IS NOT NULL');
    if (filter.purchasedClaimIds) {
      parts.push('tx.purchased_claim_id IN (SELECT value FROM json_each(?))');
      values.push(textList(filter.purchasedClaimIds));
    }
    return { sql: parts.length === 0 ? '' : `WHERE ${parts.join(' AND ')}`, values };
  }

  /**
   * Owner number if the filter consists of a single owner. For such a filter an index of `tx_owner` lists the transactions.
   * Null for other filters.
   */
  #onlyOwner(filter: TransactionFilter): number | null {
    if (filter.accountIds === null || filter.txids || filter.purchasedClaimIds || filter.isPurchase === true)
      return null;
    const owners = this.#owners.of(filter.accountIds);
    return owners.length === 1 ? owners[0]! : null;
  }

  #numbers(filter: TransactionFilter, page: QueryPage): readonly number[] {
    const limits = [page.limit ?? NO_LIMIT, page.offset ?? 0];
    const owner = this.#onlyOwner(filter);
    const rows =
      owner !== null
        ? this.#statements.all(
            'SELECT tx AS id FROM tx_owner WHERE owner = ? ORDER BY sort_key DESC, tx DESC LIMIT ? OFFSET ?',
            owner,
            ...limits,
          )
        : this.#find(this.#condition(filter), limits);
    return rows.map(({ id }) => id as number);
  }

  #find({ sql, values }: SqlCondition, limits: readonly number[]): SqlRow[] {
    return this.#statements.all(
      `SELECT tx.id FROM tx ${sql} ORDER BY tx.sort_key DESC, tx.id DESC LIMIT ? OFFSET ?`,
      ...values,
      ...limits,
    );
  }

  transactions(filter: TransactionFilter, page: QueryPage, wallet: readonly string[]): TransactionRow[] {
    const numbers = this.#numbers(filter, page);
    const rows = numbers.map((number) =>
      this.#statements.get(
        'SELECT id, txid, raw, height, position, is_verified, purchased_claim_id FROM tx WHERE id = ?',
        number,
      )!,
    );
    const spent = rows.map((row) => this.#inputs(row['id'] as number));
    const outPoints = [...rows.flatMap((row) => this.#outputs(row)), ...spent.flatMap(({ known }) => known)];
    const found = new Map<string, TxoRow>();
    const filterOf = { accountIds: wallet, isMyOutput: null, outPoints };
    for (const txo of this.#txos.txos(filterOf, { order: 'none' }, { walletAccountIds: wallet }))
      found.set(keyOf(txo.txid, txo.nout), txo);
    return rows.map((row, n) => {
      const txid = bufferOf(row['txid']);
      const outputs: (TxoRow | null)[] = [];
      for (const { nout } of this.#outputs(row)) {
        while (outputs.length < nout) outputs.push(null);
        outputs.push(found.get(keyOf(txid, nout)) ?? null);
      }
      return {
        txid,
        raw: bufferOf(row['raw']),
        height: row['height'] as number,
        position: row['position'] as number,
        isVerified: row['is_verified'] === 1,
        purchasedClaimId: row['purchased_claim_id'] as string | null,
        spent: spent[n]!.all.map((key) => found.get(key) ?? null),
        outputs,
      };
    });
  }

  /** References to the stored outputs of a transaction, in order. */
  #outputs(row: SqlRow): OutPointRef[] {
    const txid = bufferOf(row['txid']);
    return this.#statements
      .all('SELECT nout FROM txo WHERE tx = ? ORDER BY nout', row['id']!)
      .map(({ nout }) => ({ txid, nout: nout as number }));
  }

  #inputs(number: number): { known: OutPointRef[]; all: string[] } {
    const known = this.#statements
      .all('SELECT prev FROM txi WHERE tx = ? ORDER BY position', number)
      .map(({ prev }) => {
        const bytes = bufferOf(prev);
        return { txid: bytes.subarray(0, 32), nout: bytes.readUInt32LE(32) };
      });
    return { known, all: known.map(({ txid, nout }) => keyOf(txid, nout)) };
  }

  transactionCount(filter: TransactionFilter): number {
    const owner = this.#onlyOwner(filter);
    if (owner !== null)
      return this.#statements.number('SELECT count(*) FROM tx_owner WHERE owner = ?', owner);
    const { sql, values } = this.#condition(filter);
    return this.#statements.number(`SELECT count(*) FROM tx ${sql}`, ...values);
  }

  #addressCondition(filter: AddressFilter): SqlCondition {
    const parts = [among('aa.account', this.#owners.known(filter.accountIds))];
    const values: SqlValue[] = [];
    const add = (sql: string, value: SqlValue): void => {
      parts.push(sql);
      values.push(value);
    };
    if (filter.chain !== undefined) add('aa.chain = ?', filter.chain);
    if (filter.address !== undefined) add('a.text = ?', filter.address);
    if (filter.usedLessThan !== undefined) {
      // This condition is implied by the next one, but excludes most of the used addresses quickly.
      add('a.used_times < ?', filter.usedLessThan);
      add(`${USES} < ?`, filter.usedLessThan);
    }
    const from = 'FROM account_address AS aa JOIN address AS a ON a.id = aa.address';
    return { sql: `${from} WHERE ${parts.join(' AND ')}`, values };
  }

  addresses(filter: AddressFilter, page: QueryPage = {}, order: AddressOrder = 'index'): AddressRow[] {
    const { sql, values } = this.#addressCondition(filter);
    const rows = this.#statements.all(
      `SELECT a.text, aa.account, aa.chain, aa.n, a.used_times, aa.public_key, aa.chain_code, aa.depth ${sql}
        ORDER BY ${order === 'uses' ? `${USES}, aa.n` : 'aa.account, aa.chain, aa.n'} LIMIT ? OFFSET ?`,
      ...values,
      page.limit ?? NO_LIMIT,
      page.offset ?? 0,
    );
    return rows.map((row) => ({
      address: row['text'] as string,
      accountId: this.#owners.name(row['account'] as number),
      chain: row['chain'] as number,
      index: row['n'] as number,
      usedTimes: row['used_times'] as number,
      publicKey: bufferOf(row['public_key']),
      chainCode: bufferOf(row['chain_code']),
      depth: row['depth'] as number,
    }));
  }

  addressCount(filter: AddressFilter): number {
    const { sql, values } = this.#addressCondition(filter);
    return this.#statements.number(`SELECT count(*) ${sql}`, ...values);
  }

  unusedAddresses(accountId: string, chain: number, maxUses: number, count = MOST_UNUSED): AddressRow[] {
    return this.addresses(
      { accountIds: [accountId], chain, usedLessThan: maxUses },
      { limit: count },
      'uses',
    );
  }

  maxGap(accountId: string, chain: number): number {
    let longest = 0;
    let run = 0;
    for (const { usedTimes } of this.addresses({ accountIds: [accountId], chain })) {
      if (usedTimes > 0) longest = Math.max(longest, run);
      run = usedTimes > 0 ? 0 : run + 1;
    }
    return longest;
  }
}
