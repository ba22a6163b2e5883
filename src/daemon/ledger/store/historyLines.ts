/**
 * Stored histories of addresses, read from the tables with a cache. The cache also has the hash state over the confirmed
 * part of long histories. A hub's status (a hash) is therefore compared without hashing the whole history again.
 */
import { createHash, type Hash } from 'node:crypto';
import { hashToHex } from '../../../util/bytes.js';
import type { Filing } from './filing.js';
import type { Statements } from '../../../sqlite/statements.js';

/** Maximum number of cached lines of histories, about 100 bytes each. Arbitrary: bounds the memory. */
const MAX_LINES = 100_000;
/** Maximum number of cached hash states, about 1000 bytes each. Arbitrary: bounds the memory. */
const MAX_HASHES = 1000;

/** Hash state over the confirmed beginning of a history. */
interface Settled {
  readonly count: number;
  readonly hash: Hash;
}

/**
 * How much of the stored history matches a hub's status: the whole history, or the history without its last transactions,
 * which the hub may not list yet. Null means no match.
 */
export type Agreement = 'whole' | 'without-last' | null;

interface Line {
  readonly digits: string;
  readonly height: number;
  readonly isVerified: boolean;
}

function parseLine(line: string): Line {
  const [digits, height, isVerified] = line.split(':');
  return { digits: digits!, height: Number(height), isVerified: isVerified === '1' };
}

/** A history in the text form of a status. Source: hub `address_status`. */
const statusText = ({ digits, height }: Line): string =>
  `${hashToHex(Buffer.from(digits, 'hex'))}:${height}:`;

export class HistoryLines {
  readonly #statements: Statements;
  readonly #filing: Filing;
  readonly #lines = new Map<number, readonly string[]>();
  readonly #settled = new Map<number, Settled>();
  #lineCount = 0;
  /** Value of `Filing.moves` when the cache was filled; another value invalidates the cache. */
  #moves = 0;

  constructor(statements: Statements, filing: Filing) {
    this.#statements = statements;
    this.#filing = filing;
  }

  /**
   * History of an address, by its number. Each line has the txid in the form of SQLite's `hex`, the height, and the verified
   * flag.
   */
  of(address: number): readonly string[] {
    this.#lookForMoves();
    const kept = this.#lines.get(address);
    if (kept) return kept;
    const lines = this.#read(address, 0);
    if (this.#lineCount + lines.length > MAX_LINES) this.#dropLines();
    this.#lines.set(address, lines);
    this.#lineCount += lines.length;
    return lines;
  }

  #read(address: number, from: number): string[] {
    const row = this.#statements.get(
      `SELECT group_concat(line, ' ') AS lines FROM (
        SELECT hex(tx.txid) || ':' || tx.height || ':' || tx.is_verified AS line
        FROM history h JOIN tx ON tx.id = h.tx WHERE h.address = ? AND h.n >= ? ORDER BY h.n)`,
      address,
      from,
    );
    const lines = row?.['lines'] as string | null | undefined;
    return lines ? lines.split(' ') : [];
  }

  /** Records that the history of an address changed from the index `from` on. */
  changed(address: number, from: number): void {
    this.#lineCount -= this.#lines.get(address)?.length ?? 0;
    this.#lines.delete(address);
    if ((this.#settled.get(address)?.count ?? 0) > from) this.#settled.delete(address);
  }

  /** Clears all caches, because they may differ from the tables. */
  forget(): void {
    this.#dropLines();
    this.#settled.clear();
  }

  #dropLines(): void {
    this.#lines.clear();
    this.#lineCount = 0;
  }

  #lookForMoves(): void {
    if (this.#moves === this.#filing.moves) return;
    this.#moves = this.#filing.moves;
    this.forget();
  }

  /**
   * Compares a hub's status with the stored history. `kept` contains the txids (hex) of transactions that the hub may not
   * list yet.
   */
  agreement(address: number, status: string | null, kept: ReadonlySet<string>): Agreement {
    this.#lookForMoves();
    const settled = this.#settled.get(address) ?? { count: 0, hash: createHash('sha256') };
    const lines = this.#read(address, settled.count).map(parseLine);
    const firstWaiting = lines.findIndex(({ isVerified }) => !isVerified);
    const waiting = firstWaiting < 0 ? [] : lines.slice(firstWaiting);
    const { count, hash } = this.#settle(address, settled, lines.slice(0, lines.length - waiting.length));
    // A history with an unproven confirmed transaction cannot match the hub's status yet.
    if (waiting.some(({ height }) => height > 0)) return null;
    const going = hash.copy();
    const certain = waiting.findLastIndex(({ digits }) => !kept.has(digits)) + 1;
    for (const line of waiting.slice(0, certain)) going.update(statusText(line), 'latin1');
    for (let n = certain; ; n++) {
      const digest = count + n === 0 ? null : going.copy().digest('hex');
      if (digest === status) return n === waiting.length ? 'whole' : 'without-last';
      if (n === waiting.length) return null;
      going.update(statusText(waiting[n]!), 'latin1');
    }
  }

  /** Extends the cached hash by further confirmed transactions. */
  #settle(address: number, { count, hash }: Settled, more: readonly Line[]): Settled {
    const settled = { count: count + more.length, hash: hash.copy() };
    if (more.length > 0) settled.hash.update(more.map(statusText).join(''), 'latin1');
    this.#settled.delete(address);
    if (settled.count > 0) this.#settled.set(address, settled);
    if (this.#settled.size > MAX_HASHES) this.#settled.delete(this.#settled.keys().next().value!);
    return settled;
  }
}
