/**
 * Announcements of other nodes that have a blob. They are stored in memory for 24 hours, bounded in number.
 * Source: lbry-sdk lbry/dht/protocol/data_store.py `DictDataStore`.
 */
import type { Clock } from '../base/clock.js';
import type { Contact } from './contact.js';
import { ANNOUNCEMENT_MS } from './kademlia.js';
import type { PeerBook } from './peerBook.js';

/** Maximum numbers of announcements: in total, and for one key. lbry-sdk has no limits. An announcement uses about 400 bytes. */
const LIMITS = { total: 100_000, perKey: 1000 } as const;
/** When the total limit is reached, this fraction (1/FREED_PART) of the announcements of one address is removed. */
const FREED_PART = 100;

interface Announcement {
  /** Hash of the blob as a text with one character per byte (latin1). */
  readonly key: string;
  readonly contact: Contact;
  tcpPort: number;
  atMs: number;
}

/** A node, with the TCP port at which it serves the announced blob. */
export interface AnnouncingPeer {
  readonly contact: Contact;
  readonly tcpPort: number;
}

export interface AnnouncementLimits {
  readonly total: number;
  readonly perKey: number;
}

type ByContact = Map<string, Announcement>;

function oldestOf(peers: ByContact): Announcement {
  return [...peers.values()].reduce((oldest, other) => (other.atMs < oldest.atMs ? other : oldest));
}

export class Announcements {
  readonly #clock: Clock;
  readonly #book: PeerBook;
  readonly #limits: AnnouncementLimits;
  readonly #byKey = new Map<string, ByContact>();
  /** Announcements by address, the oldest first. */
  readonly #byAddress = new Map<string, Set<Announcement>>();
  #total = 0;

  constructor(clock: Clock, book: PeerBook, limits: AnnouncementLimits = LIMITS) {
    this.#clock = clock;
    this.#book = book;
    this.#limits = limits;
  }

  /** Number of stored announcements. */
  get total(): number {
    return this.#total;
  }

  /** Hashes (48 bytes) of the blobs that other nodes announced. */
  keys(): Buffer[] {
    return Array.from(this.#byKey.keys(), (key) => Buffer.from(key, 'latin1'));
  }

  /** Returns the stored keys that begin with this byte. */
  keysBeginningWith(byte: number): Buffer[] {
    const near = [...this.#byKey.keys()].filter((key) => key.charCodeAt(0) === byte);
    return near.map((key) => Buffer.from(key, 'latin1'));
  }

  /**
   * Stores or renews the announcement. If a key has too many announcements, its oldest announcement is removed. If there are
   * too many announcements in total, the oldest announcements of the address with the most announcements are removed, so
   * that a flood only removes its own announcements.
   */
  add(hash: Buffer, contact: Contact, tcpPort: number): void {
    const key = hash.toString('latin1');
    const atMs = this.#clock.nowMs();
    const known = this.#byKey.get(key)?.get(contact.key);
    if (known !== undefined) {
      known.atMs = atMs;
      known.tcpPort = tcpPort;
      // Moves the announcement to the end of the list for its address. The position in the list for the key does not
      // change.
      const ofAddress = this.#byAddress.get(contact.address)!;
      ofAddress.delete(known);
      ofAddress.add(known);
      return;
    }
    if (this.#total >= this.#limits.total) this.#makeRoom();
    const peers = this.#byKey.get(key);
    if (peers !== undefined && peers.size >= this.#limits.perKey) this.#remove(oldestOf(peers));
    const announcement = { key, contact, tcpPort, atMs };
    const ofKey: ByContact = this.#byKey.get(key) ?? new Map<string, Announcement>();
    this.#byKey.set(key, ofKey.set(contact.key, announcement));
    const ofAddress = this.#byAddress.get(contact.address) ?? new Set<Announcement>();
    this.#byAddress.set(contact.address, ofAddress.add(announcement));
    this.#total++;
  }

  /** Returns the nodes that announced the blob, except for bad nodes. */
  peersOf(hash: Buffer): AnnouncingPeer[] {
    const announcements = this.#byKey.get(hash.toString('latin1'));
    if (announcements === undefined) return [];
    return [...announcements.values()]
      .filter((announcement) => this.#isLive(announcement))
      .map(({ contact, tcpPort }) => ({ contact, tcpPort: this.#book.tcpPortOf(contact) ?? tcpPort }));
  }

  /** Returns all nodes that have announced at least one blob. */
  contacts(): Contact[] {
    const byContact = new Map<string, Contact>();
    for (const peers of this.#byKey.values())
      for (const { contact } of peers.values()) byContact.set(contact.key, contact);
    return [...byContact.values()];
  }

  /** Removes announcements that are older than 24 hours or come from bad nodes. */
  expire(): void {
    for (const peers of this.#byKey.values())
      for (const announcement of peers.values()) if (!this.#isLive(announcement)) this.#remove(announcement);
  }

  #isLive({ atMs, contact }: Announcement): boolean {
    return atMs + ANNOUNCEMENT_MS > this.#clock.nowMs() && this.#book.goodness(contact) !== 'bad';
  }

  #remove(announcement: Announcement): void {
    const { key, contact } = announcement;
    const peers = this.#byKey.get(key)!;
    peers.delete(contact.key);
    if (peers.size === 0) this.#byKey.delete(key);
    const ofAddress = this.#byAddress.get(contact.address)!;
    ofAddress.delete(announcement);
    if (ofAddress.size === 0) this.#byAddress.delete(contact.address);
    this.#total--;
  }

  #makeRoom(): void {
    let most: Set<Announcement> = new Set();
    for (const ofAddress of this.#byAddress.values()) if (ofAddress.size > most.size) most = ofAddress;
    const count = Math.ceil(most.size / FREED_PART);
    for (const announcement of [...most].slice(0, count)) this.#remove(announcement);
  }
}
