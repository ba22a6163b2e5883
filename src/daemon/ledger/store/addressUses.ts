/**
 * Tracks which addresses were ever used. A history shows a use only while a hub reports it. A transaction that left the
 * histories may return, and a broadcast may be accepted without a response. An address that one of these transactions pays
 * is not reused.
 */
import type { Filing } from './filing.js';
import type { Statements } from '../../../sqlite/statements.js';

/**
 * Maximum number of former transactions stored per address. Arbitrary: bounds the disk space that a hub with ever new
 * histories can use.
 */
const MAX_FORMER = 1000;

/** Number of distinct transactions that use or used the address `a`. */
export const USES = 'a.used_times + (SELECT count(*) FROM former_use AS f WHERE f.address = a.id)';

/** Whether the address `a` was ever used. */
export const IS_USED = '(a.used_times > 0 OR EXISTS (SELECT 1 FROM former_use AS f WHERE f.address = a.id))';

/** SQL condition that the address has fewer than `MAX_FORMER` former transactions. */
const HAS_ROOM = `(SELECT count(*) FROM former_use WHERE address = ?1) < ${MAX_FORMER}`;

export interface SentTransaction {
  readonly txid: Uint8Array;
  readonly raw: Uint8Array;
}

export class AddressUses {
  readonly #statements: Statements;
  readonly #filing: Filing;

  constructor(statements: Statements, filing: Filing) {
    this.#statements = statements;
    this.#filing = filing;
  }

  /** Records that a transaction is not in the history of the address any more. */
  left(address: number, tx: number): void {
    this.#statements.run(
      `INSERT OR IGNORE INTO former_use SELECT ?1, txid FROM tx WHERE id = ?2 AND ${HAS_ROOM}`,
      address,
      tx,
    );
  }

  /** Removes former uses that entered the history of the address again, because the history already counts them. */
  came(address: number): void {
    this.#statements.run(
      `DELETE FROM former_use WHERE address = ?1 AND EXISTS (
        SELECT 1 FROM tx JOIN history AS h ON h.tx = tx.id AND h.address = ?1 WHERE tx.txid = former_use.txid)`,
      address,
    );
  }

  /** Records the addresses of a transaction before it is broadcast. */
  noteSending({ txid, raw }: SentTransaction): void {
    for (const address of this.#filing.ownAddresses(txid, raw)) {
      this.#statements.run(`INSERT OR IGNORE INTO former_use SELECT ?1, ?2 WHERE ${HAS_ROOM}`, address, txid);
      this.came(address);
    }
  }

  /** Removes a transaction whose broadcast cannot have succeeded. */
  forgetSending({ txid, raw }: SentTransaction): void {
    for (const address of this.#filing.ownAddresses(txid, raw))
      this.#statements.run('DELETE FROM former_use WHERE address = ? AND txid = ?', address, txid);
  }
}
