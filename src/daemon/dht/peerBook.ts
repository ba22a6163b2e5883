/**
 * State of contacts: replies, failures, tokens, ports for blobs. The number of entries is bounded; the least recently used
 * entry is evicted. Source: lbry-sdk lbry/dht/peer.py `PeerManager`.
 */
import type { Clock } from '../base/clock.js';
import { endpointKey, type Contact, type UdpEndpoint } from './contact.js';
import { FAILURE_MS, GOOD_MS, TOKEN_MS } from './kademlia.js';
import { Lru } from '../../util/lru.js';

/** Source: `CACHE_SIZE`. */
const LIMIT = 16_384;

export type Goodness = 'good' | 'unknown' | 'bad';

interface Failures {
  readonly previousMs: number | null;
  readonly lastMs: number;
}

interface Token {
  readonly token: Buffer;
  readonly atMs: number;
}

const idKey = (nodeId: Buffer): string => nodeId.toString('latin1');

export class PeerBook {
  readonly #clock: Clock;
  readonly #failures = new Lru<string, Failures>(LIMIT);
  readonly #repliedMs = new Lru<string, number>(LIMIT);
  readonly #tokens = new Lru<string, Token>(LIMIT);
  readonly #tcpPorts = new Lru<string, number>(LIMIT);
  readonly #byId = new Lru<string, Contact>(LIMIT);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  noteFailure({ address, udpPort }: UdpEndpoint): void {
    const place = endpointKey(address, udpPort);
    const previousMs = this.#failures.get(place)?.lastMs ?? null;
    this.#failures.set(place, { previousMs, lastMs: this.#clock.nowMs() });
  }

  /**
   * Records an invalid datagram or request. If the endpoint has ever replied, this does not count as a failure, because the
   * source address may be forged.
   */
  noteNonsense(place: UdpEndpoint): void {
    if (this.lastRepliedMs(place) === null) this.noteFailure(place);
  }

  /** Records a reply. From now on the id belongs to the sender of the reply. */
  noteReply(contact: Contact): void {
    this.#repliedMs.set(endpointKey(contact.address, contact.udpPort), this.#clock.nowMs());
    this.#byId.set(idKey(contact.nodeId), contact);
  }

  lastRepliedMs({ address, udpPort }: UdpEndpoint): number | null {
    return this.#repliedMs.get(endpointKey(address, udpPort)) ?? null;
  }

  /** Contact from which the last reply of the node with this id came. */
  contactOf(nodeId: Buffer): Contact | null {
    return this.#byId.get(idKey(nodeId)) ?? null;
  }

  /**
   * Good: replied within `GOOD_MS`, and after its last failure. Bad: failed after its last reply, within `FAILURE_MS`; or
   * failed twice without ever replying, within `GOOD_MS`. Source: `contact_triple_is_good`. QUIRK: lbry-sdk never forgets
   * failures, against its intention.
   */
  goodness({ address, udpPort }: UdpEndpoint): Goodness {
    const place = endpointKey(address, udpPort);
    const nowMs = this.#clock.nowMs();
    const repliedMs = this.#repliedMs.get(place);
    const failures = this.#failures.get(place);
    if (repliedMs !== undefined) {
      const hasFailedSince = failures !== undefined && failures.lastMs >= repliedMs;
      if (!hasFailedSince) return repliedMs > nowMs - GOOD_MS ? 'good' : 'unknown';
      return failures.lastMs > nowMs - FAILURE_MS ? 'bad' : 'unknown';
    }
    const isBad = failures !== undefined && failures.previousMs !== null && failures.lastMs > nowMs - GOOD_MS;
    return isBad ? 'bad' : 'unknown';
  }

  setToken(nodeId: Buffer, token: Buffer): void {
    this.#tokens.set(idKey(nodeId), { token, atMs: this.#clock.nowMs() });
  }

  clearToken(nodeId: Buffer): void {
    this.#tokens.delete(idKey(nodeId));
  }

  /** The token that the node gave within the last five minutes; null if there is none. */
  tokenOf(nodeId: Buffer): Buffer | null {
    const known = this.#tokens.get(idKey(nodeId));
    return known !== undefined && known.atMs > this.#clock.nowMs() - TOKEN_MS ? known.token : null;
  }

  setTcpPort(contact: Contact, tcpPort: number): void {
    this.#tcpPorts.set(contact.key, tcpPort);
  }

  /** TCP port at which the node serves blobs; null if unknown. */
  tcpPortOf(contact: Contact): number | null {
    return this.#tcpPorts.get(contact.key) ?? null;
  }

  /** Deletes all records of replies and failures, so that all contacts are tried again. Source: `PeerManager.reset`. */
  reset(): void {
    this.#failures.clear();
    this.#repliedMs.clear();
  }
}
