/**
 * Tables of addresses, their histories and their keys, which the synchronization writes. A status is the hub's digest of an
 * address's history; null for an empty history.
 */
import { IS_USED, type AddressUses } from './addressUses.js';
import type { Filing, FiledTransaction } from './filing.js';
import { HistoryLines } from './historyLines.js';
import type { Owners } from './owners.js';
import { sortKey } from './schema.js';
import { bufferOf, textList, type Statements } from '../../../sqlite/statements.js';

export interface NewKey {
  readonly index: number;
  readonly address: string;
  readonly publicKey: Uint8Array;
  readonly chainCode: Uint8Array;
  readonly depth: number;
}

export interface HistoryUpdate {
  readonly address: string;
  readonly status: string | null;
  /** Concatenated txids of 32 bytes each. Only transactions that are stored may be listed. */
  readonly txids: Uint8Array;
}

/** A transaction that a call added, changed or removed, with the affected accounts. */
export interface ChangedTransaction {
  readonly txid: Buffer;
  readonly accountIds: readonly string[];
}

export interface AddressStatus {
  readonly address: string;
  readonly status: string | null;
}

export interface ChainEnd {
  /** Last index of an address of the chain; -1 if the chain has no address. */
  readonly lastIndex: number;
  /** Number of unused addresses at the end of the chain. */
  readonly unused: number;
}

/** A stored transaction: its txid and its number in the database. */
export interface KnownTransaction {
  readonly txid: Buffer;
  readonly height: number;
  readonly isVerified: boolean;
}

const TXID_BYTES = 32;

/** Converts txids to the form of SQLite's function `hex`. */
function digitsOf(txids: Uint8Array): string[] {
  const { buffer, byteOffset, byteLength } = txids;
  const digits = Buffer.from(buffer, byteOffset, byteLength).toString('hex').toUpperCase();
  const width = 2 * TXID_BYTES;
  return Array.from({ length: byteLength / TXID_BYTES }, (_, n) => digits.slice(n * width, (n + 1) * width));
}

/** Status of an address whose history must be requested again. No digest equals this text. */
export const STALE_STATUS = 'stale';

export class Histories {
  readonly #statements: Statements;
  readonly #owners: Owners;
  readonly #filing: Filing;
  readonly #uses: AddressUses;
  readonly #lines: HistoryLines;

  constructor(statements: Statements, owners: Owners, filing: Filing, uses: AddressUses) {
    this.#statements = statements;
    this.#owners = owners;
    this.#filing = filing;
    this.#uses = uses;
    this.#lines = new HistoryLines(statements, filing);
  }

  /** Clears the cached histories. Call after the rollback of a database transaction. */
  forget(): void {
    this.#lines.forget();
  }

  addKeys(accountId: string, chain: number, keys: readonly NewKey[]): void {
    const account = this.#owners.account(accountId);
    for (const { index, address, publicKey, chainCode, depth } of keys) {
      const id = this.#filing.addressId(address);
      this.#statements.run(
        'INSERT OR IGNORE INTO account_address VALUES (?, ?, ?, ?, ?, ?, ?)',
        account,
        chain,
        index,
        id,
        publicKey,
        chainCode,
        depth,
      );
      this.#filing.own(id, account);
    }
  }

  chainEnd(accountId: string, chain: number): ChainEnd {
    const [account = -1] = this.#owners.known([accountId]);
    const last = `SELECT coalesce(max(n), -1) FROM account_address WHERE account = ? AND chain = ?`;
    const lastIndex = this.#statements.number(last, account, chain);
    const lastUsed = this.#statements.get(
      `SELECT aa.n FROM account_address aa JOIN address a ON a.id = aa.address
        WHERE aa.account = ? AND aa.chain = ? AND ${IS_USED} ORDER BY aa.n DESC LIMIT 1`,
      account,
      chain,
    );
    return { lastIndex, unused: lastIndex - ((lastUsed?.['n'] as number | undefined) ?? -1) };
  }

  statuses(accountId: string): AddressStatus[] {
    const [account = -1] = this.#owners.known([accountId]);
    const rows = this.#statements.all(
      `SELECT DISTINCT a.text, a.status FROM account_address aa JOIN address a ON a.id = aa.address
        WHERE aa.account = ? ORDER BY aa.chain, aa.n`,
      account,
    );
    return rows.map(({ text, status }) => ({ address: text as string, status: status as string | null }));
  }

  /** Returns the statuses of those addresses that belong to an account. */
  statusesOf(addresses: readonly string[]): AddressStatus[] {
    const rows = this.#statements.all(
      'SELECT text, status FROM address WHERE owner <> 0 AND text IN (SELECT value FROM json_each(?))',
      textList(addresses),
    );
    return rows.map(({ text, status }) => ({ address: text as string, status: status as string | null }));
  }

  /** Returns the key chains with at least one of the addresses. */
  chainsOf(addresses: readonly string[]): { accountId: string; chain: number }[] {
    const rows = this.#statements.all(
      `SELECT DISTINCT aa.account, aa.chain FROM address a JOIN account_address aa ON aa.address = a.id
        WHERE a.text IN (SELECT value FROM json_each(?))`,
      textList(addresses),
    );
    return rows.map(({ account, chain }) => ({
      accountId: this.#owners.name(account as number),
      chain: chain as number,
    }));
  }

  known(txids: readonly Uint8Array[]): KnownTransaction[] {
    return txids.flatMap((txid) => {
      const row = this.#statements.get('SELECT height, is_verified FROM tx WHERE txid = ?', txid);
      if (!row) return [];
      return [
        { txid: Buffer.from(txid), height: row['height'] as number, isVerified: row['is_verified'] === 1 },
      ];
    });
  }

  #linesOf(address: string): readonly string[] {
    const row = this.#statements.get('SELECT id FROM address WHERE text = ?', address);
    return row ? this.#lines.of(row['id'] as number) : [];
  }

  /**
   * Compares a given history with the stored history of an address. Returns the indexes of given entries that the stored
   * history lacks at the same height. A confirmed entry also counts as lacking if the stored transaction is unverified.
   * `txids` are concatenated, 32 bytes each.
   */
  unlike(address: string, txids: Uint8Array, heights: Int32Array): number[] {
    const known = new Set(this.#linesOf(address));
    const places: number[] = [];
    digitsOf(txids).forEach((digits, n) => {
      const height = heights[n]!;
      if (!known.has(`${digits}:${height}:${Number(height > 0)}`)) places.push(n);
    });
    return places;
  }

  /**
   * Returns a verified transaction of the stored history that the given history lacks at the same height; null if there is
   * none. `txids` are concatenated, 32 bytes each.
   */
  missingFrom(
    address: string,
    txids: Uint8Array,
    heights: Int32Array,
  ): { txid: Buffer; height: number } | null {
    const announced = new Set(digitsOf(txids).map((digits, n) => `${digits}:${heights[n]!}:1`));
    const missing = this.#linesOf(address).find((line) => line.endsWith(':1') && !announced.has(line));
    if (missing === undefined) return null;
    const [digits, height] = missing.split(':');
    return { txid: Buffer.from(digits!, 'hex'), height: Number(height) };
  }

  saveTransactions(transactions: readonly FiledTransaction[]): void {
    this.#filing.save(transactions);
  }

  /**
   * Stores the histories of addresses. Transactions that no history contains any more are removed, except for the
   * transactions in `kept`. Returns the affected accounts of the `changed` transactions, the removed transactions, and the
   * addresses whose histories are stale because of a kept transaction.
   */
  saveHistories(
    updates: readonly HistoryUpdate[],
    changed: readonly Uint8Array[],
    kept: readonly Uint8Array[],
  ): { changed: ChangedTransaction[]; removed: Buffer[]; stale: string[] } {
    const keptNumbers = new Set(kept.map((txid) => this.#filing.txNumber(txid)));
    const dropped = new Set<number>();
    const stale: string[] = [];
    for (const update of updates) if (this.#replace(update, dropped, keptNumbers)) stale.push(update.address);
    const removed: Buffer[] = [];
    for (const number of dropped) {
      if (this.#statements.get('SELECT 1 FROM history WHERE tx = ? LIMIT 1', number)) continue;
      removed.push(bufferOf(this.#statements.get('SELECT txid FROM tx WHERE id = ?', number)!['txid']));
      this.#filing.remove(number);
    }
    return { changed: this.concerned(changed), removed, stale };
  }

  /**
   * Stores the statuses that match the stored histories, so that the hub need not send these histories. Transactions in
   * `kept` may be missing on the hub; a history with a missing one gets the status `stale`. `shown` lists the transactions
   * of `awaited` that the hub's status covers.
   */
  agree(
    statuses: readonly AddressStatus[],
    kept: readonly Uint8Array[],
    awaited: readonly Uint8Array[],
  ): { agreed: string[]; stale: string[]; shown: Buffer[] } {
    const keptDigits = new Set(digitsOf(Buffer.concat(kept)));
    const shown = new Set<string>();
    const agreed: string[] = [];
    const stale: string[] = [];
    for (const { address, status } of statuses) {
      const row = this.#statements.get('SELECT id, used_times FROM address WHERE text = ?', address);
      if (!row) continue;
      const { id, used_times: usedTimes } = row as { id: number; used_times: number };
      const agreement = this.#lines.agreement(id, status, keptDigits);
      if (agreement === null) continue;
      agreed.push(address);
      if (agreement === 'without-last') {
        stale.push(address);
        continue;
      }
      this.#writeStatus(id, status, usedTimes);
      for (const txid of awaited) if (this.#isIn(txid, id)) shown.add(Buffer.from(txid).toString('hex'));
    }
    return { agreed, stale, shown: [...shown].map((digits) => Buffer.from(digits, 'hex')) };
  }

  #isIn(txid: Uint8Array, address: number): boolean {
    const sql = 'SELECT 1 FROM tx JOIN history h ON h.tx = tx.id AND h.address = ? WHERE tx.txid = ?';
    return this.#statements.get(sql, address, txid) !== undefined;
  }

  /**
   * Removes unconfirmed transactions that no history contains. Such transactions exist if the daemon was killed after it had
   * stored them and before it stored the history that lists them.
   */
  removeUnlisted(): void {
    const rows = this.#statements.all(
      'SELECT id FROM tx WHERE height <= 0 AND NOT EXISTS (SELECT 1 FROM history h WHERE h.tx = tx.id)',
    );
    for (const { id } of rows) this.#filing.remove(id as number);
  }

  concerned(txids: readonly Uint8Array[]): ChangedTransaction[] {
    return txids.flatMap((txid) => {
      const number = this.#filing.txNumber(txid);
      return number === null
        ? []
        : [{ txid: Buffer.from(txid), accountIds: this.#filing.accountsOf(number) }];
    });
  }

  /**
   * Updates a history. Rows at the unchanged beginning are not rewritten, because usually only the last few of thousands of
   * transactions are new. Returns whether the stored history keeps a transaction that the hub does not report.
   */
  #replace(update: HistoryUpdate, dropped: Set<number>, kept: ReadonlySet<number | null>): boolean {
    const row = this.#statements.get('SELECT id FROM address WHERE text = ?', update.address);
    if (!row) return false;
    const address = row['id'] as number;
    const announced = digitsOf(update.txids);
    const stood = this.#lines.of(address);
    let same = 0;
    while (same < announced.length && stood[same]?.startsWith(announced[same]!)) same++;
    const before = this.#statements
      .all('SELECT tx FROM history WHERE address = ? AND n >= ? ORDER BY n', address, same)
      .map(({ tx }) => tx as number);
    const wanted = announced.slice(same).map((digits) => this.#filing.txNumber(Buffer.from(digits, 'hex'))!);
    const present = new Set(wanted);
    const after = [...wanted, ...before.filter((tx) => kept.has(tx) && !present.has(tx))];
    this.#statements.run('DELETE FROM history WHERE address = ? AND n >= ?', address, same);
    after.forEach((tx, n) =>
      this.#statements.run('INSERT INTO history VALUES (?, ?, ?)', address, same + n, tx),
    );
    const known = new Set(before);
    for (const tx of after) if (!known.has(tx)) this.#fileAgain(tx, address);
    const still = new Set(after);
    for (const tx of before)
      if (!still.has(tx)) {
        dropped.add(tx);
        this.#uses.left(address, tx);
      }
    this.#uses.came(address);
    this.#lines.changed(address, same);
    const isStale = after.length > wanted.length;
    this.#writeStatus(address, isStale ? STALE_STATUS : update.status, same + after.length);
    return isStale;
  }

  #writeStatus(address: number, status: string | null, usedTimes: number): void {
    this.#statements.run(
      'UPDATE address SET status = ?, used_times = ? WHERE id = ?',
      status,
      usedTimes,
      address,
    );
  }

  /** Updates the rows of a transaction that was stored before the address was assigned to its account. */
  #fileAgain(tx: number, address: number): void {
    const sql = 'SELECT tx.filed_at < address.owned_at FROM tx, address WHERE tx.id = ? AND address.id = ?';
    if (this.#statements.number(sql, tx, address) === 1) this.#filing.file(tx);
  }

  /**
   * Stores an own transaction that a hub has accepted, and adds it to the histories of its addresses. Also returns the
   * addresses whose histories must be requested again.
   */
  saveBroadcast(transaction: FiledTransaction): ChangedTransaction & { addresses: string[] } {
    const [number] = this.#filing.save([transaction]);
    const rows = this.#statements.all(
      `SELECT id, text FROM address WHERE id IN (
        SELECT address FROM txo WHERE tx = ?1 AND owner <> 0
        UNION SELECT address FROM txo WHERE spent_by = ?1 AND owner <> 0)`,
      number!,
    );
    const addresses: string[] = [];
    for (const { id: address, text } of rows) {
      if (this.#statements.get('SELECT 1 FROM history WHERE tx = ? AND address = ?', number!, address!))
        continue;
      this.#statements.run(
        'INSERT INTO history SELECT ?1, coalesce(max(n) + 1, 0), ?2 FROM history WHERE address = ?1',
        address!,
        number!,
      );
      this.#statements.run(
        'UPDATE address SET used_times = used_times + 1, status = ? WHERE id = ?',
        STALE_STATUS,
        address!,
      );
      this.#uses.came(address as number);
      this.#lines.changed(address as number, Infinity);
      addresses.push(text as string);
    }
    const accountIds = this.#filing.accountsOf(number!);
    // A transaction that belongs to no account is in no history, and would never be removed later.
    if (accountIds.length === 0) this.#filing.remove(number!);
    return { txid: Buffer.from(transaction.txid), accountIds, addresses };
  }

  /**
   * Makes transactions above the height unconfirmed. Returns the addresses whose histories must be requested again.
   */
  rewind(height: number): string[] {
    this.#lines.forget();
    const numbers = this.#statements
      .all('SELECT id FROM tx WHERE height > ?', height)
      .map(({ id }) => id as number);
    for (const number of numbers) {
      this.#statements.run(
        'UPDATE tx SET height = 0, position = -1, is_verified = 0, sort_key = ? WHERE id = ?',
        sortKey(0, -1),
        number,
      );
      this.#filing.file(number);
    }
    const addresses = this.#statements.all(
      `SELECT DISTINCT a.id, a.text FROM history h JOIN address a ON a.id = h.address
        WHERE h.tx IN (SELECT value FROM json_each(?))`,
      JSON.stringify(numbers),
    );
    for (const { id } of addresses)
      this.#statements.run('UPDATE address SET status = ? WHERE id = ?', STALE_STATUS, id!);
    return addresses.map(({ text }) => text as string);
  }
}
