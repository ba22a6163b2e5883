/**
 * Loads transactions of any party from the wallet's database, the cache, or a hub that proves their position. Unconfirmed
 * transactions cannot be verified. Proven transactions are cached. Source: lbry-sdk lbry/wallet/ledger.py `_tx_cache`,
 * `request_transactions`.
 */
import { parseTransaction } from '../../../primitives/transaction.js';
import { hashToHex } from '../../../util/bytes.js';
import { Reader } from '../../../util/reader.js';
import type { LedgerHeaders } from '../headers/ledgerHeaders.js';
import type { HubFollowing } from '../headers/hubFollowing.js';
import { HubLie } from '../hub/hubErrors.js';
import type { HubPool } from '../hub/hubPool.js';
import type { HubSession } from '../hub/hubSession.js';
import type { LedgerTransaction } from '../ledger.js';
import type { LedgerDatabase } from '../ledgerDatabase.js';
import { fetchChecked, MAX_BATCH, type CheckedTransaction } from './checkedTransactions.js';

/** Maximum number of transactions in the cache. Arbitrary. */
const MAX_KEPT = 2048;
/** Maximum size of all cached transactions in bytes. Arbitrary: some 2,000 claims of the usual size. */
const MAX_KEPT_BYTES = 2 << 20;

interface KeptTransaction {
  readonly one: LedgerTransaction;
  /** Size of the transaction in bytes. */
  readonly bytes: number;
}

export class AnyTransactions {
  readonly #pool: HubPool;
  readonly #database: LedgerDatabase;
  readonly #headers: LedgerHeaders;
  readonly #following: Pick<HubFollowing, 'follow' | 'mend' | 'rewinds'>;
  readonly #kept = new Map<string, KeptTransaction>();
  #keptBytes = 0;

  constructor(
    pool: HubPool,
    database: LedgerDatabase,
    headers: LedgerHeaders,
    following: Pick<HubFollowing, 'follow' | 'mend' | 'rewinds'>,
  ) {
    this.#pool = pool;
    this.#database = database;
    this.#headers = headers;
    this.#following = following;
  }

  /** Deletes all cached proofs after a reorganisation. */
  forget(): void {
    this.#kept.clear();
    this.#keptBytes = 0;
  }

  async get(txids: readonly Uint8Array[]): Promise<Map<string, LedgerTransaction>> {
    const found = new Map<string, LedgerTransaction>();
    const wanted = new Map(txids.map((txid) => [hashToHex(txid), txid]));
    for (const id of wanted.keys()) {
      const kept = this.#kept.get(id);
      if (!kept) continue;
      found.set(id, kept.one);
      wanted.delete(id);
    }
    const waiting = wanted.size > 0 ? await this.#fromDatabase(wanted, found) : [];
    const missing = [...wanted.values()];
    for (let at = 0; at < missing.length; at += MAX_BATCH)
      for (const { txid, raw, ...one } of await this.#fromHub(missing.slice(at, at + MAX_BATCH))) {
        found.set(hashToHex(txid), one);
        if (one.isVerified) this.#keep(hashToHex(txid), { one, bytes: raw.length });
      }
    for (const [id, one] of waiting) if (!found.has(id)) found.set(id, one);
    return found;
  }

  /**
   * Returns the txids that the database has no proof for. A hub must prove these transactions, because it is unknown which
   * hub reported the stored rows.
   */
  async #fromDatabase(
    wanted: Map<string, Uint8Array>,
    found: Map<string, LedgerTransaction>,
  ): Promise<[string, LedgerTransaction][]> {
    const waiting: [string, LedgerTransaction][] = [];
    const filter = { accountIds: null, txids: [...wanted.values()] };
    const { rewinds } = this.#following;
    for (const row of await this.#database.transactions(filter, {}, [])) {
      const id = hashToHex(row.txid);
      const { height, position, isVerified } = row;
      const one = { tx: parseTransaction(new Reader(row.raw)), height, position, isVerified };
      if (!isVerified) {
        waiting.push([id, one]);
        continue;
      }
      found.set(id, one);
      wanted.delete(id);
      // A reorganisation during the read may have removed the block of the row.
      if (rewinds % 2 === 0 && rewinds === this.#following.rewinds)
        this.#keep(id, { one, bytes: row.raw.length });
    }
    return waiting;
  }

  #fromHub(txids: readonly Uint8Array[]): Promise<readonly CheckedTransaction[]> {
    return this.#pool.ask(async (session) => {
      for (;;) {
        const { rewinds } = this.#following;
        const checked = await this.#checked(session, txids);
        // A merkle proof is discarded if a reorganisation may have removed its block during the request.
        if (rewinds % 2 === 0 && rewinds === this.#following.rewinds) return checked;
      }
    });
  }

  async #checked(session: HubSession, txids: readonly Uint8Array[]): Promise<readonly CheckedTransaction[]> {
    const first = await fetchChecked(session, txids, this.#headers);
    if (first.unchecked.length === 0) return first.checked;
    // Some transactions could not be verified, because the chain may have changed during the request. The headers are
    // synced and the transactions are requested again.
    const isLevel = await this.#following.follow(session);
    const again = await fetchChecked(
      session,
      first.unchecked.map(({ txid }) => txid),
      this.#headers,
    );
    const [bad] = again.unchecked;
    if (bad && isLevel) {
      if (await this.#following.mend(session)) return this.#checked(session, txids);
      throw new HubLie(`The hub ${session.name} sent invalid data: it ${bad.reason}`);
    }
    return [...first.checked, ...again.checked];
  }

  #keep(id: string, kept: KeptTransaction): void {
    this.#drop(id);
    this.#kept.set(id, kept);
    this.#keptBytes += kept.bytes;
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT && this.#keptBytes <= MAX_KEPT_BYTES) break;
      this.#drop(oldest);
    }
  }

  #drop(id: string): void {
    this.#keptBytes -= this.#kept.get(id)?.bytes ?? 0;
    this.#kept.delete(id);
  }
}
