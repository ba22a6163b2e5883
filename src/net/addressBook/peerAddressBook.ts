/**
 * Known addresses of peers in two tables of fixed size: "new" for addresses that were not tried yet, and "tried" for
 * addresses that were connected successfully. A keyed hash of an address's group and its source's group determines the slot
 * of the address. So one network range can neither fill the address book nor evict all addresses of other ranges. This class
 * uses no files and no connections. Source: Core addrman.{h,cpp}.
 *
 * Deviation: if another address claims its slot in the tried table, an address loses the slot after 40 minutes even if it
 * could not be tested, as in later releases of Core. Thus unreachable addresses do not block new ones forever.
 */
import type { Logger } from '../../util/logging.js';
import type { AddressEntry } from '../messages/addr.js';
import { formatNetAddress, isRoutable, type NetAddress } from '../netAddress.js';
import type { RandomSource } from '../messageHandler.js';
import { addressOf, ipKey, isTerrible, selectionChance, type PeerBookEntry } from './entry.js';
import {
  GETADDR_MAX,
  GETADDR_PERCENT,
  MAX_COLLISIONS,
  NEW_PLACES_PER_ADDRESS,
  REPLACEMENT_SEC,
  TEST_WINDOW_SEC,
} from './limits.js';
import { BookTables, type BookSnapshot } from './tables.js';

/** Minimum number of seconds between two updates of the time of a connected address. */
const CONNECTED_INTERVAL_SEC = 20 * 60;
const KEY_BYTES = 32;
const HOUR_SEC = 3600;
const DAY_SEC = 86_400;

export interface PeerAddressBookDeps {
  readonly random: RandomSource;
  /** Network time. */
  readonly nowSec: () => number;
  readonly log: Logger;
}

/** An address that was selected for a connection. */
export interface SelectedAddress extends AddressEntry {
  /** Time of the last attempt to connect, in seconds since 1970; 0 if there was none since the start of the node. */
  readonly lastTrySec: number;
}

export class PeerAddressBook {
  private readonly deps: PeerAddressBookDeps;
  private tables: BookTables;
  /** Addresses that are reachable, but whose slot in the table of tried addresses is occupied by another address. */
  private readonly collisions = new Set<PeerBookEntry>();
  /**
   * Time of the last successful connection to any address. The initial value is 1, so that the value 0 ("never") of an entry
   * is earlier.
   */
  private lastGoodSec = 1;

  constructor(deps: PeerAddressBookDeps) {
    this.deps = deps;
    this.tables = new BookTables(deps.random.bytes(KEY_BYTES));
  }

  /** Number of addresses in the address book. */
  get size(): number {
    return this.tables.list.length;
  }
  get triedCount(): number {
    return this.tables.tried.occupiedCount;
  }
  get newCount(): number {
    return this.size - this.triedCount;
  }

  /** Removes all addresses and creates a new key. */
  clear(): void {
    this.use(new BookTables(this.deps.random.bytes(KEY_BYTES)));
  }

  private use(tables: BookTables): void {
    this.tables = tables;
    this.collisions.clear();
    this.lastGoodSec = 1;
  }

  /**
   * Adds addresses announced by `source` (its port is ignored). Their times are set `timePenaltySec` earlier than announced.
   * Returns the number of addresses that were not known before.
   */
  add(records: readonly AddressEntry[], source: NetAddress, timePenaltySec = 0): number {
    let added = 0;
    for (const record of records) if (this.addOne(record, source, timePenaltySec)) added++;
    if (added > 0) {
      const { log } = this.deps;
      log.debug(
        'addrman',
        () =>
          `Added ${added} addresses from ${formatNetAddress(source)}: ${this.triedCount} tried, ${this.newCount} new`,
      );
    }
    return added;
  }

  private addOne(record: AddressEntry, source: NetAddress, penaltySec: number): boolean {
    if (!isRoutable(record.address)) return false;
    const ip = ipKey(record.address);
    const sourceIp = ipKey(source);
    // A peer that announces its own address gets no time penalty.
    const timePenaltySec = ip === sourceIp ? 0 : penaltySec;
    const known = this.tables.get(ip);
    if (known !== null && !this.update(known, record, timePenaltySec)) return false;
    const entry = known ?? this.create(record, sourceIp, timePenaltySec);
    const isKept = this.placeNew(entry, sourceIp);
    return known === null && isKept;
  }

  private create(record: AddressEntry, source: string, timePenaltySec: number): PeerBookEntry {
    return this.tables.enlist({
      ip: ipKey(record.address),
      port: record.address.port,
      services: record.services,
      timeSec: Math.max(0, record.timeSec - timePenaltySec),
      source,
      lastSuccessSec: 0,
      attempts: 0,
    });
  }

  /**
   * Updates a known address with the data of an announcement. Returns whether the address may get an additional slot in the
   * table of new addresses.
   */
  private update(entry: PeerBookEntry, { timeSec, services }: AddressEntry, timePenaltySec: number): boolean {
    const isOnline = this.deps.nowSec() - timeSec < DAY_SEC;
    const intervalSec = isOnline ? HOUR_SEC : DAY_SEC;
    if (timeSec !== 0 && (entry.timeSec === 0 || entry.timeSec < timeSec - intervalSec - timePenaltySec)) {
      entry.timeSec = Math.max(0, timeSec - timePenaltySec);
    }
    entry.services |= services;
    if (timeSec === 0 || (entry.timeSec !== 0 && timeSec <= entry.timeSec)) return false;
    if (entry.isTried || entry.newSlots.length >= NEW_PLACES_PER_ADDRESS) return false;
    // For each slot that the address has, the probability of an additional slot is halved.
    const odds = 2 ** entry.newSlots.length;
    return odds === 1 || this.deps.random.int(odds) === 0;
  }

  /**
   * Puts an entry into its slot for this source, if the slot is free or the entry in the slot is bad (see `isTerrible`).
   * Returns whether the entry has a slot afterwards.
   */
  private placeNew(entry: PeerBookEntry, source: string): boolean {
    const { fresh, placement } = this.tables;
    const slot = placement.newSlot(entry, source);
    const present = fresh.get(slot);
    if (present === entry) return true;
    const isReplaceable =
      present === null ||
      isTerrible(present, this.deps.nowSec()) ||
      (present.newSlots.length > 1 && entry.newSlots.length === 0);
    if (isReplaceable) {
      this.tables.placeNew(slot, entry);
    } else if (entry.newSlots.length === 0) {
      this.tables.forget(entry);
      return false;
    }
    return true;
  }

  /**
   * Called after a successful connection to an address. Moves the address to the tried table, unless its slot is occupied by
   * an address that must be tested first.
   */
  good(address: NetAddress, nowSec = this.deps.nowSec(), testBeforeEvict = true): void {
    this.lastGoodSec = nowSec;
    const entry = this.find(address);
    if (entry === null) return;
    entry.lastSuccessSec = nowSec;
    entry.lastTrySec = nowSec;
    entry.attempts = 0;
    // The time of the entry is not updated, because peers that receive the entry could conclude from it which connections
    // this node has.
    if (entry.isTried || entry.newSlots.length === 0) return;
    const { log } = this.deps;
    if (testBeforeEvict && this.contender(entry) !== null) {
      log.debug(
        'addrman',
        () =>
          `Collision inserting element into tried table, moving ${formatNetAddress(address)} to m_tried_collisions=${this.collisions.size}`,
      );
      if (this.collisions.size < MAX_COLLISIONS) this.collisions.add(entry);
      return;
    }
    log.debug('addrman', () => `Moving ${formatNetAddress(address)} to tried`);
    this.tables.makeTried(entry);
  }

  /** Records an attempt to connect. `countsFailure` is false if a failure may be caused by the network of this node. */
  attempt(address: NetAddress, countsFailure: boolean, nowSec = this.deps.nowSec()): void {
    const entry = this.find(address);
    if (entry === null) return;
    entry.lastTrySec = nowSec;
    if (countsFailure && entry.lastCountedAttemptSec < this.lastGoodSec) {
      entry.lastCountedAttemptSec = nowSec;
      entry.attempts++;
    }
  }

  /** Updates the time of an address after the connection to it has ended. */
  connected(address: NetAddress, nowSec = this.deps.nowSec()): void {
    const entry = this.find(address);
    if (entry !== null && nowSec - entry.timeSec > CONNECTED_INTERVAL_SEC) entry.timeSec = nowSec;
  }

  setServices(address: NetAddress, services: bigint): void {
    const entry = this.find(address);
    if (entry !== null) entry.services = services;
  }

  /** Selects an address to connect to, from either table with equal probability; null if there is none. */
  select(newOnly = false): SelectedAddress | null {
    const { random } = this.deps;
    if (this.size === 0 || (newOnly && this.newCount === 0)) return null;
    const useTried = !newOnly && this.triedCount > 0 && (this.newCount === 0 || random.int(2) === 0);
    const table = useTried ? this.tables.tried : this.tables.fresh;
    const nowSec = this.deps.nowSec();
    for (let factor = 1; ; factor *= 1.2) {
      const entry = table.random(random);
      if (random.int(2 ** 30) < factor * selectionChance(entry, nowSec) * 2 ** 30) return selected(entry);
    }
  }

  /** Selects a tried address that must be tested because another address claims its slot; null if there is none. */
  selectTriedCollision(): SelectedAddress | null {
    if (this.collisions.size === 0) return null;
    const newcomer = [...this.collisions][this.deps.random.int(this.collisions.size)]!;
    if (!this.tables.has(newcomer)) {
      this.collisions.delete(newcomer);
      return null;
    }
    const present = this.contender(newcomer);
    return present === null ? null : selected(present);
  }

  /**
   * Gives occupied slots of the tried table to the addresses that claim them, if the addresses in the slots have failed
   * their tests.
   */
  resolveCollisions(): void {
    const nowSec = this.deps.nowSec();
    for (const newcomer of this.collisions) {
      const outcome = this.judgeCollision(newcomer, nowSec);
      if (outcome === 'wait') continue;
      this.collisions.delete(newcomer);
      if (outcome === 'replace') this.good(addressOf(newcomer), nowSec, false);
    }
  }

  private judgeCollision(newcomer: PeerBookEntry, nowSec: number): 'wait' | 'keep' | 'replace' {
    if (!this.tables.has(newcomer) || newcomer.isTried) return 'keep';
    const present = this.contender(newcomer);
    if (present === null) return 'replace';
    if (nowSec - present.lastSuccessSec < REPLACEMENT_SEC) return 'keep';
    const sinceTestSec = nowSec - present.lastTrySec;
    const hasFailed = sinceTestSec < REPLACEMENT_SEC && sinceTestSec > 60;
    const isOverdue = sinceTestSec >= REPLACEMENT_SEC && nowSec - newcomer.lastSuccessSec > TEST_WINDOW_SEC;
    if (!hasFailed && !isOverdue) return 'wait';
    this.deps.log.debug(
      'addrman',
      () =>
        `Swapping ${formatNetAddress(addressOf(newcomer))} for ${formatNetAddress(addressOf(present))} in tried table`,
    );
    return 'replace';
  }

  /** Entry that occupies the slot for the given entry in the table of tried addresses; null if the slot is free. */
  private contender(entry: PeerBookEntry): PeerBookEntry | null {
    return this.tables.tried.get(this.tables.placement.triedSlot(entry));
  }

  /** A random selection of addresses, for the response to `getaddr`. */
  getAddresses(): AddressEntry[] {
    const { list } = this.tables;
    const { random } = this.deps;
    const nowSec = this.deps.nowSec();
    const wanted = Math.min(GETADDR_MAX, Math.floor((GETADDR_PERCENT * list.length) / 100));
    const found: AddressEntry[] = [];
    for (let at = 0; at < list.length && found.length < wanted; at++) {
      this.tables.swapListed(at, at + random.int(list.length - at));
      const entry = list[at]!;
      if (!isTerrible(entry, nowSec)) found.push(recordOf(entry));
    }
    return found;
  }

  /** Entry with this IP address and any port; null if there is none. */
  lookUp(address: NetAddress): SelectedAddress | null {
    const entry = this.tables.get(ipKey(address));
    return entry === null ? null : selected(entry);
  }

  /**
   * State of the address book, to be written to a file. The entries are not copied, so the caller must use them
   * synchronously.
   */
  snapshot(): BookSnapshot {
    return this.tables.snapshot();
  }

  /** Replaces the state of the book with a stored one. */
  restore(snapshot: BookSnapshot): void {
    this.use(BookTables.restore(snapshot));
    const lost = snapshot.fresh.length + snapshot.tried.length - this.size;
    if (lost > 0) this.deps.log.debug('addrman', `addrman lost ${lost} addresses due to collisions`);
  }

  /** Entry with exactly this IP address and port; null if there is none. */
  private find(address: NetAddress): PeerBookEntry | null {
    const entry = this.tables.get(ipKey(address));
    return entry === null || entry.port !== address.port ? null : entry;
  }
}

function recordOf(entry: PeerBookEntry): AddressEntry {
  return { address: addressOf(entry), services: entry.services, timeSec: entry.timeSec };
}

function selected(entry: PeerBookEntry): SelectedAddress {
  return { ...recordOf(entry), lastTrySec: entry.lastTrySec };
}
