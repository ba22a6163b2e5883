/**
 * Adds transactions to the tables and removes them. Stored outputs pay a key hash and belong to an account, or are part of a
 * transaction that spends an account's output. Outputs to a script hash are stored only in the latter case. The rows do not
 * depend on the order of arrival: each new row updates the related rows. Source of the rule: lbry-sdk
 * lbry/wallet/database.py `_transaction_io`.
 */
import { isNullOutPoint, formatOutPoint, parseTransaction } from '../../../primitives/transaction.js';
import type { Transaction } from '../../../primitives/transaction.js';
import { Reader } from '../../../util/reader.js';
import { estimatedTimeSec } from '../../base/blockTimes.js';
import type { LedgerParams } from '../../base/ledgerParams.js';
import { NO_OWNER, type Owners } from './owners.js';
import { sortKey } from './schema.js';
import { bufferOf, type Statements } from '../../../sqlite/statements.js';
import { transactionFacts, type OutputFacts } from './txoFacts.js';

/** A transaction that the ledger has checked and that is to be stored. */
export interface FiledTransaction {
  /** Txid: 32 bytes, wire order. */
  readonly txid: Uint8Array;
  readonly raw: Uint8Array;
  readonly height: number;
  readonly position: number;
  readonly isVerified: boolean;
}

const DAY_SEC = 86_400;

/** Day of the estimated block time, in days since 1970-01-01. */
function dayOfHeight(height: number): number | null {
  const timeSec = estimatedTimeSec(height);
  return timeSec === null ? null : Math.floor(timeSec / DAY_SEC);
}

interface Spending {
  /** Owners of the outputs that the transaction spends, as owner numbers. */
  readonly owners: ReadonlySet<number>;
  readonly firstOwner: number;
}

const INSERT_TXO = `
  INSERT INTO txo (tx, nout, address, owner, input_owner, height, sort_key, day, amount, script, txo_type,
    claim_id, claim_name, has_source, channel_id, reposted_claim_id)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;

/** Finds the transaction that spends an output. A confirmed spender takes precedence over an unconfirmed one. */
const SPENDER = `
  SELECT txi.tx AS tx FROM txi JOIN tx ON tx.id = txi.tx WHERE txi.prev = ?
  ORDER BY tx.height > 0 DESC, tx.id LIMIT 1`;

export class Filing {
  readonly #statements: Statements;
  readonly #owners: Owners;
  readonly #ledger: LedgerParams;
  #moves = 0;

  constructor(statements: Statements, owners: Owners, ledger: LedgerParams) {
    this.#statements = statements;
    this.#owners = owners;
    this.#ledger = ledger;
  }

  /** Number of transactions that were moved or removed. Data read before a change of this number may be outdated. */
  get moves(): number {
    return this.#moves;
  }

  /** Row number of an address. Adds a row for an unknown address. */
  addressId(text: string): number {
    const known = this.#statements.get('SELECT id FROM address WHERE text = ?', text);
    if (known) return known['id'] as number;
    return this.#statements.insert('INSERT INTO address (text) VALUES (?)', text);
  }

  #ownerOf(text: string): number {
    const row = this.#statements.get('SELECT owner FROM address WHERE text = ?', text);
    return (row?.['owner'] as number | undefined) ?? NO_OWNER;
  }

  /** Row numbers of those wallet addresses that the transaction pays. */
  ownAddresses(txid: Uint8Array, raw: Uint8Array): Set<number> {
    const numbers = new Set<number>();
    for (const { address, paysKeyHash } of transactionFacts(this.#parse(raw), txid, this.#ledger).outputs) {
      if (!paysKeyHash || address === null) continue;
      const row = this.#statements.get('SELECT id FROM address WHERE text = ? AND owner <> 0', address);
      if (row) numbers.add(row['id'] as number);
    }
    return numbers;
  }

  txNumber(txid: Uint8Array): number | null {
    const row = this.#statements.get('SELECT id FROM tx WHERE txid = ?', txid);
    return (row?.['id'] as number | undefined) ?? null;
  }

  /**
   * Stores transactions, or updates the height of known ones. A proven transaction stays proven until a rewind. Returns the
   * database numbers of the transactions.
   */
  save(transactions: readonly FiledTransaction[]): number[] {
    const numbers = transactions.map((one) => this.#row(one));
    const parsed = new Map(numbers.map((tx, n) => [tx, this.#parse(transactions[n]!.raw)]));
    for (const tx of numbers) this.file(tx, parsed.get(tx));
    return numbers;
  }

  #parse(raw: Uint8Array): Transaction {
    return parseTransaction(new Reader(raw));
  }

  #row({ txid, raw, height, position, isVerified }: FiledTransaction): number {
    const key = sortKey(height, position);
    const known = this.txNumber(txid);
    if (known !== null) {
      this.#moves += this.#statements.run(
        `UPDATE tx SET height = ?1, position = ?2, is_verified = ?3, sort_key = ?4
          WHERE id = ?5 AND (?3 = 1 OR is_verified = 0) AND (height <> ?1 OR position <> ?2 OR is_verified <> ?3)`,
        height,
        position,
        Number(isVerified),
        key,
        known,
      );
      return known;
    }
    const tx = this.#parse(raw);
    const { firstPrev, purchasedClaimId } = transactionFacts(
      { ...tx, outputs: tx.outputs.slice(0, 2) },
      txid,
      this.#ledger,
    );
    const number = this.#statements.insert(
      `INSERT INTO tx (txid, raw, height, position, is_verified, sort_key, first_prev, purchased_claim_id)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      txid,
      raw,
      height,
      position,
      Number(isVerified),
      key,
      firstPrev,
      purchasedClaimId,
    );
    tx.inputs.forEach(({ prevout }, n) => {
      if (isNullOutPoint(prevout)) return;
      this.#statements.run('INSERT OR IGNORE INTO txi VALUES (?, ?, ?)', formatOutPoint(prevout), number, n);
    });
    return number;
  }

  /**
   * Updates the rows of a transaction's inputs and outputs. If an output gets a new owner, also updates the transactions
   * that spend the output.
   */
  file(number: number, parsed?: Transaction): void {
    const waiting = [number];
    const done = new Set<number>();
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (done.has(next)) continue;
      done.add(next);
      waiting.push(...this.#fileOne(next, next === number ? parsed : undefined));
    }
  }

  /** Updates the rows of one transaction. Returns the transactions that spend an output whose owner changed. */
  #fileOne(number: number, parsed?: Transaction): number[] {
    const row = this.#statements.get('SELECT txid, raw, height, sort_key FROM tx WHERE id = ?', number)!;
    const txid = bufferOf(row['txid']);
    const tx = parsed ?? this.#parse(bufferOf(row['raw']));
    const spending = this.#spend(number);
    const place = { number, height: row['height'] as number, key: row['sort_key'] as number };
    const owners = new Set<number>();
    const affected: number[] = [];
    for (const output of transactionFacts(tx, txid, this.#ledger).outputs) {
      const owner = output.paysKeyHash && output.address !== null ? this.#ownerOf(output.address) : NO_OWNER;
      const isKept = output.address !== null && (owner !== NO_OWNER || spending.owners.size > 0);
      const before = this.#statements.get(
        'SELECT id, owner FROM txo WHERE tx = ? AND nout = ?',
        number,
        output.nout,
      );
      if (!isKept) {
        if (before) this.#statements.run('DELETE FROM txo WHERE id = ?', before['id']!);
        continue;
      }
      owners.add(owner);
      const outPoint = formatOutPoint({ hash: txid, index: output.nout });
      const id = before ? (before['id'] as number) : this.#insert(output, owner, spending.firstOwner, place);
      if (before) {
        this.#statements.run(
          'UPDATE txo SET owner = ?, input_owner = ?, height = ?, sort_key = ?, day = ? WHERE id = ?',
          owner,
          spending.firstOwner,
          place.height,
          place.key,
          dayOfHeight(place.height),
          id,
        );
      }
      const spender = this.#markSpent(id, outPoint);
      if (spender !== null && owner !== ((before?.['owner'] as number | undefined) ?? NO_OWNER))
        affected.push(spender);
    }
    this.#writeOwners(place, owners, spending.owners);
    this.#statements.run(
      'UPDATE tx SET filed_at = (SELECT coalesce(max(owned_at), 0) FROM address) WHERE id = ?',
      number,
    );
    return affected;
  }

  #insert(
    output: OutputFacts,
    owner: number,
    firstOwner: number,
    { number, height, key }: { number: number; height: number; key: number },
  ): number {
    return this.#statements.insert(
      INSERT_TXO,
      number,
      output.nout,
      this.addressId(output.address!),
      owner,
      firstOwner,
      height,
      key,
      dayOfHeight(height),
      output.amountDewies,
      output.script,
      output.type,
      output.claimId,
      output.claimName,
      Number(output.hasSource),
      output.channelId,
      output.repostedClaimId,
    );
  }

  /** Marks the outputs that the transaction spends, and returns their owners. */
  #spend(number: number): Spending {
    const owners = new Set<number>();
    let firstOwner = NO_OWNER;
    for (const input of this.#statements.all('SELECT prev, position FROM txi WHERE tx = ?', number)) {
      const prev = bufferOf(input['prev']);
      const txo = this.#txoAt(prev);
      if (txo === undefined) continue;
      this.#markSpent(txo['id'] as number, prev);
      const owner = txo['owner'] as number;
      if (owner === NO_OWNER) continue;
      owners.add(owner);
      if (input['position'] === 0) firstOwner = owner;
    }
    return { owners, firstOwner };
  }

  #txoAt(prev: Buffer) {
    return this.#statements.get(
      'SELECT txo.id, txo.owner FROM tx JOIN txo ON txo.tx = tx.id AND txo.nout = ? WHERE tx.txid = ?',
      prev.readUInt32LE(32),
      prev.subarray(0, 32),
    );
  }

  /**
   * Updates the spender of an output. A spent output loses its reservation, and the output is free if its spender is removed
   * later. Returns the spender.
   */
  #markSpent(id: number, outPoint: Buffer): number | null {
    const spender = (this.#statements.get(SPENDER, outPoint)?.['tx'] as number | undefined) ?? null;
    this.#statements.run(
      `UPDATE txo SET spent_by = ?1, is_reserved = CASE WHEN ?1 IS NULL THEN is_reserved ELSE 0 END
        WHERE id = ?2 AND spent_by IS NOT ?1`,
      spender,
      id,
    );
    return spender;
  }

  #writeOwners(
    { number, key }: { number: number; key: number },
    outputs: ReadonlySet<number>,
    spent: ReadonlySet<number>,
  ): void {
    this.#statements.run('DELETE FROM tx_owner WHERE tx = ?', number);
    for (const owner of new Set([...outputs, ...spent]))
      if (owner !== NO_OWNER)
        this.#statements.run(
          'INSERT INTO tx_owner VALUES (?, ?, ?, ?)',
          owner,
          key,
          number,
          Number(spent.has(owner)),
        );
  }

  /** Removes a transaction. The outputs that it spent become unspent. */
  remove(number: number): void {
    this.#moves++;
    const prevs = this.#statements
      .all('SELECT prev FROM txi WHERE tx = ?', number)
      .map(({ prev }) => bufferOf(prev));
    for (const table of ['txi', 'txo', 'tx_owner', 'history'])
      this.#statements.run(`DELETE FROM ${table} WHERE tx = ?`, number);
    this.#statements.run('DELETE FROM tx WHERE id = ?', number);
    for (const prev of prevs) {
      const txo = this.#txoAt(prev);
      if (txo) this.#markSpent(txo['id'] as number, prev);
    }
  }

  /** Ids of the accounts that own an output of the transaction or an output that it spends. */
  accountsOf(number: number): string[] {
    const owners = this.#statements.all('SELECT owner FROM tx_owner WHERE tx = ?', number);
    return [...new Set(owners.flatMap(({ owner }) => this.#owners.names(owner as number)))];
  }

  /** Adds an account to the owners of an address, and updates the transactions that pay the address. */
  own(address: number, account: number): void {
    const before = this.#statements.number('SELECT owner FROM address WHERE id = ?', address);
    const owner = this.#owners.with(before, account);
    if (owner === before) return;
    this.#statements.run(
      'UPDATE address SET owner = ?, owned_at = (SELECT max(owned_at) + 1 FROM address) WHERE id = ?',
      owner,
      address,
    );
    const rows = this.#statements.all(
      'SELECT tx FROM txo WHERE address = ?1 UNION SELECT tx FROM history WHERE address = ?1',
      address,
    );
    for (const { tx } of rows) this.file(tx as number);
  }
}
