/**
 * Which addresses were ever used. What their histories have says so only as long as a hub reports it: a transaction that is
 * not in the histories of the moment may come back, and one that a hub was asked to take may come though it never said so.
 * An address to which such a one pays is not given out again.
 */
import type { Filing } from './filing.js';
import type { Statements } from '../../../sqlite/statements.js';

/** Such transactions that are remembered of an address, lest a hub that reports ever new ones fills the disk. Arbitrary. */
const MAX_FORMER = 1000;

/** Transactions that use or used the address `a`, each once. */
export const USES = 'a.used_times + (SELECT count(*) FROM former_use AS f WHERE f.address = a.id)';

/** Whether the address `a` was ever used. */
export const IS_USED = '(a.used_times > 0 OR EXISTS (SELECT 1 FROM former_use AS f WHERE f.address = a.id))';

/** Has just room for one more. */
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

  /** A transaction is in the history of the address no more. */
  left(address: number, tx: number): void {
    this.#statements.run(
      `INSERT OR IGNORE INTO former_use SELECT ?1, txid FROM tx WHERE id = ?2 AND ${HAS_ROOM}`,
      address,
      tx,
    );
  }

  /** Transactions came into the history of the address: they count there. */
  came(address: number): void {
    this.#statements.run(
      `DELETE FROM former_use WHERE address = ?1 AND EXISTS (
        SELECT 1 FROM tx JOIN history AS h ON h.tx = tx.id AND h.address = ?1 WHERE tx.txid = former_use.txid)`,
      address,
    );
  }

  /** A hub is about to be asked to take it. */
  noteSending({ txid, raw }: SentTransaction): void {
    for (const address of this.#filing.ownAddresses(txid, raw)) {
      this.#statements.run(`INSERT OR IGNORE INTO former_use SELECT ?1, ?2 WHERE ${HAS_ROOM}`, address, txid);
      this.came(address);
    }
  }

  /** Certainly not accepted by any hub. */
  forgetSending({ txid, raw }: SentTransaction): void {
    for (const address of this.#filing.ownAddresses(txid, raw))
      this.#statements.run('DELETE FROM former_use WHERE address = ? AND txid = ?', address, txid);
  }
}
