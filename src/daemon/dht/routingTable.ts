/**
 * The routing table: contacts in buckets by their distance to the node's own id. Source: lbry-sdk
 * lbry/dht/protocol/routing_table.py `TreeRoutingTable`, `KBucket`.
 */
import type { Clock, DaemonRandom } from '../base/clock.js';
import { compareDistance } from './addresses.js';
import { endpointKey, type Contact } from './contact.js';
import { ID_BYTES } from './datagrams.js';
import { K } from './kademlia.js';
import type { PeerBook } from './peerBook.js';

const ID_BITS = BigInt(ID_BYTES * 8);
/** Capacity of the first bucket of a bootstrap node. lbry-sdk has no limit here. The limit bounds the memory. */
const BOOTSTRAP_CAPACITY = 65_536;
/** Milliseconds after a reply during which a contact is not probed for replacement. */
const RECENT_MS = 60_000;
/** If fewer buckets than this contain nodes, a refresh also looks up random ids. */
const FEW_BUCKETS = 3;

const toNumber = (id: Buffer): bigint => BigInt(`0x${id.toString('hex')}`);
const toId = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(ID_BYTES * 2, '0'), 'hex');

/**
 * A bucket of the routing table: contacts whose distance is at least `min` and less than `max`, sorted by the time of their
 * last messages.
 */
export interface Bucket {
  readonly min: bigint;
  readonly max: bigint;
  readonly contacts: readonly Contact[];
}

interface MutableBucket extends Bucket {
  min: bigint;
  max: bigint;
  contacts: Contact[];
  readonly capacity: number;
}

/** Pings the contact. Resolves to whether the contact answered. */
export type Probe = (contact: Contact) => Promise<boolean>;

export interface RoutingTableOptions {
  readonly ownId: Buffer;
  readonly clock: Clock;
  readonly book: PeerBook;
  /** Buckets with an index below this number are always split when they are full. */
  readonly splitUnder: number;
  readonly isBootstrap: boolean;
}

/** Returns the `count` contacts nearest to the key, sorted by distance. */
function nearestTo(key: Buffer, contacts: Iterable<Contact>, count: number): Contact[] {
  const nearest: Contact[] = [];
  for (const contact of contacts) {
    const last = nearest.at(-1);
    if (nearest.length >= count && compareDistance(key, contact.nodeId, last!.nodeId) >= 0) continue;
    let at = nearest.length;
    while (at > 0 && compareDistance(key, contact.nodeId, nearest[at - 1]!.nodeId) < 0) at--;
    nearest.splice(at, 0, contact);
    if (nearest.length > count) nearest.pop();
  }
  return nearest;
}

export class RoutingTable {
  readonly #options: RoutingTableOptions;
  readonly #ownNumber: bigint;
  readonly #buckets: MutableBucket[];
  readonly #byEndpoint = new Map<string, Contact>();

  constructor(options: RoutingTableOptions) {
    this.#options = options;
    this.#ownNumber = toNumber(options.ownId);
    const capacity = options.isBootstrap ? BOOTSTRAP_CAPACITY : K;
    this.#buckets = [{ min: 0n, max: 1n << ID_BITS, contacts: [], capacity }];
  }

  get buckets(): readonly Bucket[] {
    return this.#buckets;
  }

  get size(): number {
    return this.#byEndpoint.size;
  }

  contacts(): Contact[] {
    return this.#buckets.flatMap(({ contacts }) => contacts);
  }

  get(nodeId: Buffer): Contact | null {
    return this.#bucketOf(nodeId).contacts.find((contact) => contact.nodeId.equals(nodeId)) ?? null;
  }

  /** Returns the contacts nearest to the key, sorted by distance. The node with the id `without` is left out. */
  closest(key: Buffer, count: number = K, without: Buffer | null = null): Contact[] {
    const contacts = this.contacts();
    return nearestTo(
      key,
      without === null ? contacts : contacts.filter(({ nodeId }) => !nodeId.equals(without)),
      count,
    );
  }

  /** Whether a node with this id could be added without replacing another node. */
  hasRoomFor(nodeId: Buffer): boolean {
    const index = this.indexOf(nodeId);
    const bucket = this.#buckets[index]!;
    return bucket.contacts.length < bucket.capacity || this.#shouldSplit(index, nodeId);
  }

  /** Returns the index of the bucket for the id. */
  indexOf(nodeId: Buffer): number {
    const distance = toNumber(nodeId) ^ this.#ownNumber;
    const index = this.#buckets.findIndex(({ max }) => distance < max);
    return index < 0 ? this.#buckets.length - 1 : index;
  }

  /**
   * Adds or renews the contact. If its bucket is full and cannot be split, one of its contacts is probed and removed if it
   * does not answer. Resolves to whether the contact is in the table. The table may change while a probe runs.
   */
  async add(contact: Contact, probe: Probe): Promise<boolean> {
    for (;;) {
      this.#removeOtherIdAt(contact);
      const index = this.indexOf(contact.nodeId);
      const bucket = this.#buckets[index]!;
      if (this.#put(bucket, contact)) {
        this.#joinEmptyBuckets();
        return true;
      }
      if (this.#shouldSplit(index, contact.nodeId)) this.#split(index);
      else {
        const candidate = this.#candidate(bucket);
        if (candidate === null || (await probe(candidate))) {
          this.#joinEmptyBuckets();
          return false;
        }
        this.#takeOut(candidate);
      }
    }
  }

  remove(contact: Contact): void {
    if (this.#takeOut(contact)) this.#joinEmptyBuckets();
  }

  /**
   * Ids that a refresh looks up in order to fill the routing table: the middle of each bucket, and random ids while few
   * buckets contain nodes.
   */
  refreshIds(random: DaemonRandom): Buffer[] {
    const middles = this.#buckets.map(({ min, max }) => toId((min + (max - min) / 2n) ^ this.#ownNumber));
    const filled = this.#buckets.filter(({ contacts }) => contacts.length > 0);
    if (filled.length > FEW_BUCKETS) return middles;
    const randomIn = ({ min, max }: Bucket): Buffer =>
      toId((min + (toNumber(random.bytes(ID_BYTES)) % (max - min))) ^ this.#ownNumber);
    return [...middles, ...filled.flatMap((bucket) => [randomIn(bucket), randomIn(bucket)])];
  }

  #bucketOf(nodeId: Buffer): MutableBucket {
    return this.#buckets[this.indexOf(nodeId)]!;
  }

  /** Removes contacts with another id at the address of a contact, because a node with a new id replaces its former entry. */
  #removeOtherIdAt({ address, udpPort, nodeId }: Contact): void {
    const known = this.#byEndpoint.get(endpointKey(address, udpPort));
    if (known !== undefined && !known.nodeId.equals(nodeId)) this.remove(known);
  }

  #put(bucket: MutableBucket, contact: Contact): boolean {
    const at = bucket.contacts.findIndex(({ nodeId }) => nodeId.equals(contact.nodeId));
    if (at < 0 && bucket.contacts.length >= bucket.capacity) return false;
    if (at >= 0) this.#takeOut(bucket.contacts[at]!);
    bucket.contacts.push(contact);
    this.#byEndpoint.set(endpointKey(contact.address, contact.udpPort), contact);
    return true;
  }

  #takeOut({ key, nodeId, address, udpPort }: Contact): boolean {
    const { contacts } = this.#bucketOf(nodeId);
    const at = contacts.findIndex((contact) => contact.key === key);
    if (at < 0) return false;
    contacts.splice(at, 1);
    this.#byEndpoint.delete(endpointKey(address, udpPort));
    return true;
  }

  /**
   * Whether a full bucket must be split: the buckets near this node always, and any bucket if the new node is nearer than
   * the k-th nearest contact.
   */
  #shouldSplit(index: number, nodeId: Buffer): boolean {
    const { ownId, splitUnder } = this.#options;
    const { min, max } = this.#buckets[index]!;
    if (max - min < 2n) return false;
    if (index < splitUnder) return true;
    const kth = this.closest(ownId, K).at(-1);
    return kth !== undefined && compareDistance(ownId, nodeId, kth.nodeId) < 0;
  }

  #split(index: number): void {
    const lower = this.#buckets[index]!;
    const middle = lower.max - (lower.max - lower.min) / 2n;
    const upper: MutableBucket = { min: middle, max: lower.max, contacts: [], capacity: K };
    lower.max = middle;
    const isUpper = ({ nodeId }: Contact): boolean => (toNumber(nodeId) ^ this.#ownNumber) >= middle;
    upper.contacts = lower.contacts.filter(isUpper);
    lower.contacts = lower.contacts.filter((contact) => !isUpper(contact));
    this.#buckets.splice(index + 1, 0, upper);
  }

  /**
   * Returns the contact to probe before a new contact is added to the bucket: the contact with the oldest reply that is not
   * good. Null if all contacts replied recently.
   */
  #candidate({ contacts }: Bucket): Contact | null {
    const { book, clock } = this.#options;
    const isRecent = (contact: Contact): boolean => {
      const repliedMs = book.lastRepliedMs(contact);
      return repliedMs !== null && repliedMs + RECENT_MS > clock.nowMs();
    };
    const doubtful = contacts.find((contact) => book.goodness(contact) !== 'good' && !isRecent(contact));
    if (doubtful !== undefined) return doubtful;
    const [first] = contacts;
    return first === undefined || isRecent(first) ? null : first;
  }

  /**
   * Merges the range of an empty bucket into the adjacent buckets. QUIRK (copied, so that ranges agree): if the range is
   * split between two buckets, one distance between the halves is missing; the table assigns it to the upper one.
   */
  #joinEmptyBuckets(): void {
    for (;;) {
      const index = this.#buckets.findIndex(({ contacts }) => contacts.length === 0);
      if (index < 0 || this.#buckets.length === 1) return;
      const { min, max } = this.#buckets[index]!;
      const [lower, upper] = [this.#buckets[index - 1], this.#buckets[index + 1]];
      if (lower !== undefined && upper !== undefined) {
        const middle = min + (max - min) / 2n;
        lower.max = middle - 1n;
        upper.min = middle;
      } else if (lower !== undefined) lower.max = max;
      else upper!.min = min;
      this.#buckets.splice(index, 1);
    }
  }
}
