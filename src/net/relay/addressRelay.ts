/**
 * Relays node addresses. Adds announced addresses to the address book, relays fresh addresses to one or two peers, sends
 * part of the address book on request, and announces the address of this node periodically. Stores, for each peer, the
 * addresses that the peer knows and those to be sent to the peer. Source: Core net_processing.cpp `ProcessMessage` (addr,
 * getaddr, version), `RelayAddress`, `SendMessages`; net.h `PushAddress`.
 */
import type { Chain } from '../../chain/chain.js';
import { sha256d } from '../../crypto/hash.js';
import type { Logger } from '../../util/logging.js';
import { Writer } from '../../util/writer.js';
import type { PeerAddressBook } from '../addressBook/peerAddressBook.js';
import type { RollingBloomFilter } from '../bloom/rollingBloomFilter.js';
import { sipHash, SIP_KEY_SIZE_BYTES } from '../../crypto/sipHash.js';
import type { LocalAddresses } from '../localAddresses.js';
import { MAX_ADDRESSES, type AddressEntry } from '../messages/addr.js';
import type { Payload } from '../messages/table.js';
import { addressKey, formatNetAddress, isRoutable, isValid, type NetAddress } from '../netAddress.js';
import type { Networks } from '../networks.js';
import type { MessageHandler, Peer, RandomSource } from '../messageHandler.js';
import { hasDesirableServices, mayKnowAddresses } from '../services.js';
import { poissonNextMs } from './poisson.js';
import { rollingFilter } from './rollingFilter.js';

export interface AddressRelayDeps {
  readonly book: Pick<PeerAddressBook, 'add' | 'getAddresses'>;
  readonly local: Pick<LocalAddresses, 'best' | 'toAdvertise'>;
  readonly networks: Pick<Networks, 'isLimited'>;
  readonly chain: Pick<Chain, 'isInitialDownload'>;
  /** Returns the address of this node as the peer sees it, or null if the peer did not report it. */
  readonly seenUsAt: (peer: Peer) => NetAddress | null;
  readonly localServices: () => bigint;
  /** Returns the network-adjusted time in seconds. */
  readonly adjustedTimeSec: () => number;
  readonly random: RandomSource;
  readonly log: Logger;
}

interface PeerAddresses {
  readonly known: RollingBloomFilter;
  toSend: AddressEntry[];
  nextSendMs: number;
  nextLocalMs: number;
  /**
   * Whether this node has sent `getaddr` to the peer and the response is incomplete. Addresses received during that time are
   * not relayed.
   */
  isAnswering: boolean;
  /** Whether this node has answered a `getaddr` of the peer. */
  wasAnnounced: boolean;
}

const KNOWN_ITEMS = 5000;
const KNOWN_FALSE_POSITIVE_RATE = 0.001;
/**
 * Maximum number of addresses that wait to be sent to one peer. Above the limit, a new address replaces a random entry.
 * Source: `MAX_ADDR_TO_SEND`.
 */
const MAX_TO_SEND = 1000;
const SEND_INTERVAL_MS = 30_000;
const LOCAL_INTERVAL_MS = 24 * 60 * 60_000;
const MINUTE_SEC = 60;
const DAY_SEC = 24 * 60 * 60;
/** Maximum number of seconds since an address was last seen for which the address is fresh. */
const FRESH_SEC = 10 * MINUTE_SEC;
/** Earliest valid last seen time (Unix time). */
const FIRST_TIME_SEC = 100_000_000;
/** Age in seconds assumed for an address with an invalid last seen time. */
const UNKNOWN_AGE_SEC = 5 * DAY_SEC;
/** Seconds subtracted from the last seen time of an address that a peer announced, because the peer may be wrong. */
const HEARSAY_PENALTY_SEC = 2 * 60 * MINUTE_SEC;
/** Maximum number of addresses in a message that are relayed. A longer message is assumed to be a response to `getaddr`. */
const MAX_RELAYED_MESSAGE = 10;

export class AddressRelay implements MessageHandler {
  readonly handlers = {
    addr: (peer: Peer, { addresses }: Payload<'addr'>) => this.onAddr(peer, addresses),
    getaddr: (peer: Peer) => this.onGetAddr(peer),
  };
  private readonly deps: AddressRelayDeps;
  private readonly states = new Map<Peer, PeerAddresses>();
  /** Secret key of the hash that selects the peers to which an address is relayed, so that the selection is unpredictable. */
  private readonly relayKey: Buffer;

  constructor(deps: AddressRelayDeps) {
    this.deps = deps;
    this.relayKey = deps.random.bytes(SIP_KEY_SIZE_BYTES);
  }

  onReady(peer: Peer): void {
    const known = rollingFilter(KNOWN_ITEMS, KNOWN_FALSE_POSITIVE_RATE, this.deps.random);
    const isAsked = peer.kind !== 'inbound';
    const state: PeerAddresses = {
      known,
      toSend: [],
      nextSendMs: 0,
      nextLocalMs: 0,
      isAnswering: isAsked,
      wasAnnounced: false,
    };
    this.states.set(peer, state);
    if (!isAsked) return;
    if (!this.deps.chain.isInitialDownload()) this.introduce(peer, state);
    peer.send('getaddr', null);
  }

  onGone(peer: Peer): void {
    this.states.delete(peer);
  }

  /** Announces an address of this node to an outbound peer. */
  private introduce(peer: Peer, state: PeerAddresses): void {
    const { local } = this.deps;
    this.tellLocal(peer, state, local.best(peer.remote) ?? this.localFor(peer));
  }

  private localFor(peer: Peer): NetAddress | null {
    return this.deps.local.toAdvertise(peer.remote, this.deps.seenUsAt(peer));
  }

  private tellLocal(peer: Peer, state: PeerAddresses, address: NetAddress | null): void {
    if (address === null) return;
    const { adjustedTimeSec, localServices, log } = this.deps;
    log.debug('net', () => `advertising address ${formatNetAddress(address)} to peer=${peer.id}`);
    this.push(state, { address, services: localServices(), timeSec: adjustedTimeSec() });
  }

  /** Queues an address for a peer, unless the peer is known to have it. */
  private push({ known, toSend }: PeerAddresses, entry: AddressEntry): void {
    if (!isValid(entry.address) || known.contains(keyOf(entry))) return;
    if (toSend.length < MAX_TO_SEND) toSend.push(entry);
    else toSend[this.deps.random.int(toSend.length)] = entry;
  }

  private onAddr(peer: Peer, addresses: readonly AddressEntry[]): void {
    const state = this.states.get(peer);
    if (!state) return;
    if (addresses.length > MAX_ADDRESSES) {
      peer.punish(20, `message addr size() = ${addresses.length}`);
      return;
    }
    const nowSec = this.deps.adjustedTimeSec();
    const isNews = !state.isAnswering && addresses.length <= MAX_RELAYED_MESSAGE;
    const reachable: AddressEntry[] = [];
    for (const announced of addresses) {
      if (!mayKnowAddresses(announced.services) && !hasDesirableServices(announced.services)) continue;
      const entry = { ...announced, timeSec: plausibleTime(announced.timeSec, nowSec) };
      state.known.insert(keyOf(entry));
      const isReachable = !this.deps.networks.isLimited(entry.address);
      const isFresh = entry.timeSec > nowSec - FRESH_SEC;
      if (isNews && isFresh && isRoutable(entry.address)) this.relay(entry, isReachable, nowSec);
      if (isReachable) reachable.push(entry);
    }
    this.deps.book.add(reachable, peer.remote, HEARSAY_PENALTY_SEC);
    if (addresses.length < MAX_ADDRESSES) state.isAnswering = false;
    if (peer.kind === 'oneShot') peer.disconnect('addresses received');
  }

  /**
   * Relays an address to one or two peers. The selection stays the same for a day, so that a peer does not receive the
   * address twice and the address does not circulate forever.
   */
  private relay(entry: AddressEntry, isReachable: boolean, nowSec: number): void {
    const hash = sha256d(entry.address.ip).readBigUInt64LE(0);
    const day = BigInt.asUintN(64, BigInt(nowSec) + hash) / BigInt(DAY_SEC);
    const chosen = [...this.states]
      .map(([peer, state]) => ({ state, rank: this.rank(hash, day, peer) }))
      .sort((a, b) => (a.rank > b.rank ? -1 : a.rank < b.rank ? 1 : 0))
      .slice(0, isReachable ? 2 : 1);
    for (const { state } of chosen) this.push(state, entry);
  }

  private rank(addressHash: bigint, day: bigint, peer: Peer): bigint {
    const data = new Writer(24).u64(addressHash).u64(day).u64(BigInt(peer.id)).finish();
    return sipHash(this.relayKey, data);
  }

  /**
   * Answers `getaddr`, only for inbound peers and only once. Otherwise an attacker could send addresses to this node and
   * later recognise the node at another address by requesting them.
   */
  private onGetAddr(peer: Peer): void {
    const state = this.states.get(peer);
    const { book, log } = this.deps;
    if (!state) return;
    if (peer.kind !== 'inbound') {
      log.debug('net', `Ignoring "getaddr" from outbound connection. peer=${peer.id}`);
    } else if (state.wasAnnounced) {
      log.debug('net', `Ignoring repeated "getaddr". peer=${peer.id}`);
    } else {
      state.wasAnnounced = true;
      state.toSend = [];
      for (const entry of book.getAddresses()) this.push(state, entry);
    }
  }

  onTick(peer: Peer, nowMs: number): void {
    const state = this.states.get(peer);
    if (!state) return;
    const { chain, random } = this.deps;
    if (state.nextLocalMs < nowMs && !chain.isInitialDownload()) {
      this.tellLocal(peer, state, this.localFor(peer));
      state.nextLocalMs = poissonNextMs(nowMs, LOCAL_INTERVAL_MS, random);
    }
    if (state.nextSendMs < nowMs) {
      state.nextSendMs = poissonNextMs(nowMs, SEND_INTERVAL_MS, random);
      this.sendAll(peer, state);
    }
  }

  private sendAll(peer: Peer, state: PeerAddresses): void {
    const addresses = state.toSend.filter((entry) => {
      const key = keyOf(entry);
      if (state.known.contains(key)) return false;
      state.known.insert(key);
      return true;
    });
    state.toSend = [];
    if (addresses.length > 0) peer.send('addr', { addresses });
  }
}

function keyOf({ address }: AddressEntry): Buffer {
  return Buffer.from(addressKey(address), 'latin1');
}

function plausibleTime(timeSec: number, nowSec: number): number {
  return timeSec <= FIRST_TIME_SEC || timeSec > nowSec + FRESH_SEC ? nowSec - UNKNOWN_AGE_SEC : timeSec;
}
