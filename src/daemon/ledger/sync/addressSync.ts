/**
 * Syncs the histories of the wallet's addresses with the hub in use: subscribes to the addresses, fetches changed histories,
 * and verifies and stores them. Each round processes many addresses, so that a large wallet needs few requests and writes. A
 * reorganisation restarts the round. Source of the process: lbry-sdk lbry/wallet/ledger.py `subscribe_addresses`,
 * `update_history`.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Transaction } from '../../../primitives/transaction.js';
import { hashToHex } from '../../../util/bytes.js';
import type { Logger } from '../../../util/logging.js';
import type { LedgerHeaders } from '../headers/ledgerHeaders.js';
import type { HubFollowing } from '../headers/hubFollowing.js';
import { HubGone, HubLie } from '../hub/hubErrors.js';
import type { LedgerSyncState } from '../ledger.js';
import type { HubSession } from '../hub/hubSession.js';
import { STALE_STATUS, type ChangedTransaction, type HistoryUpdate } from '../store/histories.js';
import type { LedgerStorePort } from '../store/openStore.js';
import { fetchChecked, MAX_BATCH, type CheckedTransaction } from './checkedTransactions.js';
import type { AddressPrefixes } from '../../../script/address.js';
import { scriptHashOf, subscribeAddresses } from '../hub/hubAddresses.js';
import { fetchHistory, parseStatus, type AddressHistoryEntry } from './histories.js';

/** Maximum number of addresses per subscription request. Source: hub `address_subscribe`. */
const MAX_SUBSCRIBED_AT_ONCE = 1000;
/** Number of addresses whose histories are fetched in one round. Arbitrary. */
const ROUND = 400;
/**
 * Maximum number of history entries per round. Arbitrary: bounds the memory, since an entry uses some hundred bytes; more
 * than the longest known history.
 */
const MAX_ENTRIES = 500_000;
/** Maximum number of fetched transactions in memory. Arbitrary: bounds the memory. */
const MAX_FETCHED = 1000;
/** Maximum number of concurrent batch requests to a hub. Arbitrary. */
const PARALLEL_BATCHES = 4;
/**
 * Maximum number of rounds in which the hub's data about an address may fail verification before the hub counts as a liar. A
 * few failures are allowed, because the chain may change between requests. Arbitrary.
 */
const MAX_ATTEMPTS = 4;
/** Milliseconds before the next round if data could not be verified. Arbitrary: a hub follows its node within 0.1 s. */
const AGAIN_MS = 250;

export interface SavedTransaction extends ChangedTransaction {
  readonly tx: Transaction;
  readonly height: number;
}

export interface AddressSyncPort {
  readonly store: LedgerStorePort;
  readonly headers: LedgerHeaders;
  readonly log: Logger;
  readonly addressPrefixes: AddressPrefixes;
  readonly following: Pick<HubFollowing, 'follow' | 'mend' | 'rewinds' | 'idle'>;
  /** Txids of own broadcasts that a hub has accepted but that its histories need not contain yet. */
  kept(): readonly Uint8Array[];
  /** Txids of `kept`, plus broadcasts that a caller waits to see in a history. */
  awaited(): readonly Uint8Array[];
  /**
   * Called with the addresses whose histories were stored. Resolves to new addresses, if fewer unused ones than the gap
   * remain.
   */
  used(addresses: readonly string[]): Promise<readonly string[]>;
  saved(transactions: readonly SavedTransaction[]): void;
  /** Called when more history data was fetched or stored. */
  progressed(): void;
  /** Called with the printed txids of all transactions in the received histories. */
  announced(ids: Iterable<string>): void;
  /** Maximum number of history entries per round; for tests. */
  readonly maxEntries?: number;
}

interface AnnouncedHistory {
  readonly address: string;
  readonly history: readonly AddressHistoryEntry[];
  readonly status: string | null;
}

/** Transactions that one round stored, by printed txid. */
type Saved = Map<string, { readonly tx: Transaction; readonly height: number }>;

export class AddressSync {
  readonly #port: AddressSyncPort;
  readonly #session: HubSession;
  readonly #toSubscribe = new Set<string>();
  /** Witness addresses by script hash, the key that hubs use. */
  readonly #byScriptHash = new Map<string, string>();
  /** Addresses whose status changed, with the last status that the hub reported. */
  readonly #changed = new Map<string, string | null>();
  /** Number of rounds in which the history of an address could not be completed. */
  readonly #attempts = new Map<string, number>();
  /** Addresses whose stored history contains a transaction that the hub does not list. */
  readonly #stale = new Set<string>();
  #isLevel = true;
  /** Number of addresses to which the hub was subscribed. */
  #asked = 0;
  #subscribing = 0;
  #fetched = 0;
  /**
   * Number of addresses of the current round that count as fetched: the share of the round's transactions that are fetched,
   * times its number of addresses.
   */
  #ofRound = 0;

  constructor(session: HubSession, port: AddressSyncPort) {
    this.#session = session;
    this.#port = port;
  }

  subscribe(addresses: Iterable<string>): void {
    const before = this.#toSubscribe.size;
    for (const address of addresses) this.#toSubscribe.add(address);
    this.#asked += this.#toSubscribe.size - before;
  }

  /** Progress of fetching the histories of the subscribed addresses. */
  get progress(): Pick<LedgerSyncState, 'addresses' | 'addressesLeft' | 'fetched' | 'historyShare'> {
    const addresses = this.#asked;
    const addressesLeft = Math.min(
      addresses,
      this.#toSubscribe.size + this.#subscribing + this.#changed.size,
    );
    const done = Math.min(addresses, addresses - addressesLeft + this.#ofRound);
    const historyShare = addressesLeft === 0 ? 1 : done / addresses;
    return { addresses, addressesLeft, fetched: this.#fetched, historyShare };
  }

  /** Requests the histories with a stored transaction that the hub did not show a second time. */
  askAgain(): void {
    this.subscribe(this.#stale);
    this.#stale.clear();
  }

  /** Handles a hub's notification about an address. Throws `HubLie`. */
  notified([name, status]: readonly unknown[]): void {
    if (typeof name !== 'string') return;
    const address = this.#byScriptHash.get(name) ?? name;
    this.#changed.set(address, parseStatus(this.#session, status));
  }

  get isDone(): boolean {
    return this.#toSubscribe.size === 0 && this.#changed.size === 0;
  }

  /**
   * Runs rounds until all addresses are finished, or until the hub is not at the tip of the best chain. Throws `HubLie` and
   * `HubGone`.
   */
  async run(): Promise<void> {
    this.#isLevel = true;
    while (!this.isDone && this.#isLevel) {
      if (!this.#session.isOpen) throw new HubGone(`The hub ${this.#session.name} has disconnected`);
      if (this.#toSubscribe.size > 0) await this.#subscribeSome();
      else await this.#round();
    }
  }

  async #subscribeSome(): Promise<void> {
    const addresses = [...this.#toSubscribe].slice(0, MAX_SUBSCRIBED_AT_ONCE);
    for (const address of addresses) this.#toSubscribe.delete(address);
    this.#subscribing = addresses.length;
    const { addressPrefixes } = this.#port;
    for (const address of addresses) {
      const hash = scriptHashOf(address, addressPrefixes);
      if (hash !== null) this.#byScriptHash.set(hash, address);
    }
    const answer = await subscribeAddresses(this.#session, addresses, addressPrefixes);
    if (!Array.isArray(answer) || answer.length !== addresses.length)
      throw new HubLie(`The hub ${this.#session.name} did not answer for each address`);
    const statuses = addresses.map((address, n) => [address, parseStatus(this.#session, answer[n])] as const);
    const known = await this.#known(addresses);
    for (const [address, status] of statuses)
      if (known.get(address) !== status) this.#changed.set(address, status);
    this.#subscribing = 0;
  }

  async #known(addresses: readonly string[]): Promise<Map<string, string | null>> {
    const rows = await this.#port.store.statusesOf(addresses);
    return new Map(rows.map(({ address, status }) => [address, status]));
  }

  async #round(): Promise<void> {
    const wanted = new Map([...this.#changed].slice(0, ROUND));
    const known = await this.#known([...wanted.keys()]);
    const differing = [...wanted].flatMap(([address, status]) => {
      // An address that does not belong to an account is ignored.
      if (known.has(address) && known.get(address) !== status) return [address];
      if (this.#changed.get(address) === status) this.#changed.delete(address);
      return [];
    });
    if (differing.length === 0) return;
    const { following } = this.#port;
    // Addresses that were subscribed before a reorganisation are requested again after it.
    if (following.rewinds % 2 === 1) return following.idle();
    const { rewinds } = following;
    const agreed = await this.#agreed(
      differing.filter((address) => known.get(address) === STALE_STATUS),
      wanted,
    );
    const addresses = differing.filter((address) => !agreed.has(address));
    if (addresses.length === 0) return this.#port.progressed();
    const announced = await this.#histories(addresses);
    let isListed = false;
    const saved: Saved = new Map();
    try {
      await this.#reachHeaders(announced);
      const failed = await this.#fetch(announced, saved, rewinds);
      if (!this.#holds(rewinds)) return;
      const good = await this.#judged(announced, failed, rewinds);
      if (!this.#holds(rewinds)) return;
      await this.#write(good, saved);
      isListed = good.length === announced.length;
      for (const one of good) this.#end(one, wanted.get(one.address) ?? null);
    } finally {
      // If not every history was stored, transactions that no history contains must be removed here. Otherwise they would
      // stay forever.
      if (saved.size > 0 && !isListed) await this.#port.store.removeUnlisted();
      this.#ofRound = 0;
    }
    this.#port.progressed();
  }

  /**
   * Finishes addresses whose stored history matches the hub's status. An own broadcast is added to the stored history when a
   * hub accepts it, so a long history need not be fetched again because of it.
   */
  async #agreed(
    stale: readonly string[],
    wanted: ReadonlyMap<string, string | null>,
  ): Promise<ReadonlySet<string>> {
    if (stale.length === 0) return new Set();
    const statuses = stale.map((address) => ({ address, status: wanted.get(address) ?? null }));
    const port = this.#port;
    const { agreed, stale: still, shown } = await port.store.agree(statuses, port.kept(), port.awaited());
    for (const address of still) this.#stale.add(address);
    this.#port.announced(shown.map(hashToHex));
    for (const address of agreed) {
      if (this.#changed.get(address) !== wanted.get(address)) continue;
      this.#changed.delete(address);
      this.#attempts.delete(address);
    }
    return new Set(agreed);
  }

  /** Whether the chain was not reorganised since `rewinds` was read. Data about removed blocks must not be written. */
  #holds(rewinds: number): boolean {
    return rewinds === this.#port.following.rewinds;
  }

  /** Fetches the histories of addresses until the limit of entries per round is reached. */
  async #histories(addresses: readonly string[]): Promise<AnnouncedHistory[]> {
    const room = { left: this.#port.maxEntries ?? MAX_ENTRIES };
    const announced = await Promise.all(
      addresses.map(async (address): Promise<AnnouncedHistory | null> => {
        const history = await fetchHistory(this.#session, address, room, this.#port.addressPrefixes);
        return history && { address, history: history.entries, status: history.status };
      }),
    );
    return announced.filter((one) => one !== null);
  }

  /** Waits for the headers of the blocks in the histories, because the hub may report a block before its header. */
  async #reachHeaders(announced: readonly AnnouncedHistory[]): Promise<void> {
    let highest = 0;
    for (const { history } of announced)
      for (const { height } of history) highest = Math.max(highest, height);
    if (highest > this.#port.headers.height) this.#isLevel = await this.#port.following.follow(this.#session);
  }

  /**
   * Fetches and stores the transactions in the histories that are unknown or changed. Resolves to the reason why it is
   * unverifiable for each such transaction.
   */
  async #fetch(
    announced: readonly AnnouncedHistory[],
    saved: Saved,
    rewinds: number,
  ): Promise<Map<string, string>> {
    const wanted = await this.#missing(announced);
    const announcedHeights = heightsOf(announced);
    const failed = new Map<string, string>();
    for (let at = 0; at < wanted.length; at += MAX_FETCHED) {
      const checked = await this.#fetchBatches(wanted.slice(at, at + MAX_FETCHED), failed);
      if (!this.#holds(rewinds)) break;
      const filed = checked.map((one) => ({ ...one, height: heightOf(one, announcedHeights) }));
      for (const { txid, tx, height } of filed) saved.set(hashToHex(txid), { tx, height });
      await this.#port.store.saveTransactions(
        filed.map(({ txid, raw, height, position, isVerified }) => ({
          txid,
          raw,
          height,
          position,
          isVerified,
        })),
      );
      this.#fetched += filed.length;
      this.#ofRound = (announced.length * Math.min(wanted.length, at + MAX_FETCHED)) / wanted.length;
      this.#port.progressed();
    }
    return failed;
  }

  async #missing(announced: readonly AnnouncedHistory[]): Promise<Buffer[]> {
    const entries = new Map<string, AddressHistoryEntry>();
    for (const { address, history } of announced) {
      const others = await this.#port.store.unlike(address, txidsOf(history), heightsIn(history));
      for (const n of others) {
        const entry = history[n]!;
        const other = entries.get(entry.id);
        if (!other || other.height < entry.height) entries.set(entry.id, entry);
      }
    }
    const known = await this.#port.store.known([...entries.values()].map(({ txid }) => txid));
    for (const { txid, height, isVerified } of known) {
      const id = hashToHex(txid);
      const isSame = entries.get(id)?.height === height && isVerified === height > 0;
      if (isSame) entries.delete(id);
    }
    return [...entries.values()].sort((a, b) => a.height - b.height).map(({ txid }) => txid);
  }

  async #fetchBatches(txids: readonly Buffer[], failed: Map<string, string>): Promise<CheckedTransaction[]> {
    const batches: Buffer[][] = [];
    for (let at = 0; at < txids.length; at += MAX_BATCH) batches.push(txids.slice(at, at + MAX_BATCH));
    const all: CheckedTransaction[] = [];
    for (let at = 0; at < batches.length; at += PARALLEL_BATCHES) {
      const some = batches.slice(at, at + PARALLEL_BATCHES);
      const results = await Promise.all(
        some.map((batch) => fetchChecked(this.#session, batch, this.#port.headers)),
      );
      for (const { checked, unchecked, unknown } of results) {
        all.push(...checked);
        for (const { txid, reason } of unchecked) failed.set(hashToHex(txid), reason);
        for (const txid of unknown) {
          const id = hashToHex(txid);
          failed.set(id, `announces the transaction ${id}, which it does not have`);
        }
      }
    }
    return all;
  }

  /**
   * Returns the histories that do not contradict the headers. The remaining histories are requested again up to
   * `MAX_ATTEMPTS` times; after that the hub counts as a liar.
   */
  async #judged(
    announced: readonly AnnouncedHistory[],
    failed: ReadonlyMap<string, string>,
    rewinds: number,
  ): Promise<AnnouncedHistory[]> {
    const good: AnnouncedHistory[] = [];
    const doubts: [string, string][] = [];
    for (const one of announced) {
      const bad = one.history.find(({ id }) => failed.has(id));
      const reason = bad ? failed.get(bad.id)! : await this.#contradiction(one);
      if (reason === null) good.push(one);
      else doubts.push([one.address, reason]);
    }
    if (doubts.length > 0) this.#isLevel = await this.#port.following.follow(this.#session);
    if (doubts.length === 0 || !this.#isLevel || !this.#holds(rewinds)) return good;
    for (const [address, reason] of doubts) {
      const attempts = (this.#attempts.get(address) ?? 0) + 1;
      this.#attempts.set(address, attempts);
      if (attempts < MAX_ATTEMPTS) continue;
      if (await this.#port.following.mend(this.#session)) {
        this.#attempts.clear();
        return good;
      }
      throw new HubLie(`The hub ${this.#session.name} sent invalid data: it ${reason}`);
    }
    await sleep(AGAIN_MS);
    return good;
  }

  /**
   * Returns the reason if a hub's history contradicts a stored merkle proof: the history lacks a transaction that is proven
   * in a block of the chain, or contains it with another height. Null without a contradiction.
   */
  async #contradiction({ address, history }: AnnouncedHistory): Promise<string | null> {
    const missing = await this.#port.store.missingFrom(address, txidsOf(history), heightsIn(history));
    if (missing) {
      const named = `the transaction ${hashToHex(missing.txid)} of block ${missing.height}`;
      const announced = history.find(({ txid }) => txid.equals(missing.txid));
      return announced === undefined
        ? `omits ${named} from the history of ${address}`
        : `announces ${named} at height ${announced.height} in the history of ${address}`;
    }
    return null;
  }

  async #write(good: readonly AnnouncedHistory[], saved: Saved): Promise<void> {
    if (good.length === 0) return;
    const { store } = this.#port;
    const updates = good.map(({ address, history, status }): HistoryUpdate => ({
      address,
      status,
      txids: txidsOf(history),
    }));
    const fetched = [
      ...new Map(good.flatMap(({ history }) => history.map(({ id, txid }) => [id, txid] as const))),
    ]
      .filter(([id]) => saved.has(id))
      .map(([, txid]) => txid);
    const { changed, removed, stale } = await store.saveHistories(updates, fetched, this.#port.kept());
    for (const address of stale) this.#stale.add(address);
    for (const txid of removed)
      this.#port.log.info(`The transaction ${hashToHex(txid)} was removed from the mempool`);
    for (const { history } of good) this.#port.announced(history.map(({ id }) => id));
    this.#port.saved(changed.map((one) => ({ ...one, ...saved.get(hashToHex(one.txid))! })));
    this.subscribe(
      await this.#port.used(good.filter(({ history }) => history.length > 0).map(({ address }) => address)),
    );
  }

  /** Finishes an address, unless the hub reported another status during the round. */
  #end({ address, status }: AnnouncedHistory, wanted: string | null): void {
    const latest = this.#changed.get(address) ?? null;
    if (latest === status) {
      this.#changed.delete(address);
      this.#attempts.delete(address);
      return;
    }
    if (latest !== wanted) return;
    const attempts = (this.#attempts.get(address) ?? 0) + 1;
    this.#attempts.set(address, attempts);
    if (attempts < MAX_ATTEMPTS) return;
    // The address is finished although the status differs, because some hubs report mempool transactions in a different
    // order each time.
    this.#changed.delete(address);
    this.#attempts.delete(address);
    this.#port.log.warn(
      `The hub ${this.#session.name} reports a status of ${address} that does not match its history`,
    );
  }
}

/** Txids of a history, concatenated, 32 bytes each. */
const txidsOf = (history: readonly AddressHistoryEntry[]): Uint8Array =>
  Buffer.concat(history.map(({ txid }) => txid));

const heightsIn = (history: readonly AddressHistoryEntry[]): Int32Array =>
  Int32Array.from(history, ({ height }) => height);

function heightsOf(announced: readonly AnnouncedHistory[]): Map<string, number> {
  return new Map(announced.flatMap(({ history }) => history.map(({ id, height }) => [id, height] as const)));
}

/**
 * Height for the transaction's row. For a mempool transaction, the hub's history contains -1 if its inputs are unconfirmed,
 * else 0.
 */
function heightOf({ txid, height }: CheckedTransaction, announced: ReadonlyMap<string, number>): number {
  return height > 0 ? height : Math.min(0, announced.get(hashToHex(txid)) ?? 0);
}
