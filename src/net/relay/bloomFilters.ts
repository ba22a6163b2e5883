/**
 * Bloom filters of peers (BIP37), and whether each peer wants transactions. `bloom/bloomFilter.ts` implements the filter
 * itself. Source: Core net_processing.cpp `ProcessMessage` (filterload, filteradd, filterclear); BIP111.
 */
import { BloomFilter, isWithinFilterLimits } from '../bloom/bloomFilter.js';
import { MAX_FILTER_ITEM_SIZE, type FilterAddMessage } from '../messages/filters/filteradd.js';
import type { FilterLoadMessage } from '../messages/filters/filterload.js';
import type { MessageHandler, Peer, PeerStateInfo } from '../messageHandler.js';

export interface BloomFilterPartOptions {
  /** `-peerbloomfilters`. */
  readonly servesFilters: boolean;
}

/** First protocol version with the service bit for bloom filters (BIP111). */
const NO_BLOOM_VERSION = 70_011;

const MATCH_ALL = BloomFilter.matchAll();

interface PeerFilter {
  relays: boolean;
  /** Bloom filter of the peer; null if all transactions match. */
  filter: BloomFilter | null;
}

export class BloomFilters implements MessageHandler {
  readonly handlers = {
    filterload: (peer: Peer, message: FilterLoadMessage) => this.onLoad(peer, message),
    filteradd: (peer: Peer, message: FilterAddMessage) => this.onAdd(peer, message),
    filterclear: (peer: Peer) => this.onClear(peer),
  };
  private readonly options: BloomFilterPartOptions;
  private readonly states = new Map<Peer, PeerFilter>();

  constructor(options: BloomFilterPartOptions) {
    this.options = options;
  }

  onVersion(peer: Peer): void {
    this.states.set(peer, { relays: peer.version!.relay, filter: null });
  }

  onGone(peer: Peer): void {
    this.states.delete(peer);
  }

  describe(peer: Peer): Partial<PeerStateInfo> {
    return { relaysTransactions: this.relaysTo(peer) };
  }

  /** Whether the peer wants transactions: its version message requests them, or the peer has set or cleared a filter since. */
  relaysTo(peer: Peer): boolean {
    return this.states.get(peer)?.relays ?? false;
  }

  /**
   * Returns the filter that the peer set, or null if the peer has no filter and wants all transactions. A match may change
   * the filter.
   */
  filterOf(peer: Peer): BloomFilter | null {
    return this.states.get(peer)?.filter ?? null;
  }

  /**
   * Returns the filter for merkleblock responses to the peer. QUIRK: in the reference each peer initially has a filter that
   * matches everything, so without a filter the response includes all transactions. Test:
   * test/unit/net/relay/bloomFilters.test.ts.
   */
  blockFilterOf(peer: Peer): BloomFilter {
    return this.filterOf(peer) ?? MATCH_ALL;
  }

  /**
   * Whether this node serves bloom filters. If not, a peer that sends a filter message is punished. A peer whose version
   * does not know the service bit is disconnected instead.
   */
  private isServed(peer: Peer, command: string): boolean {
    if (this.options.servesFilters) return true;
    if (peer.version!.protocolVersion >= NO_BLOOM_VERSION)
      peer.punish(100, `${command} without being offered`);
    else peer.disconnect(`${command} without being offered`);
    return false;
  }

  private onLoad(peer: Peer, message: FilterLoadMessage): void {
    const state = this.states.get(peer);
    if (!state || !this.isServed(peer, 'filterload')) return;
    if (!isWithinFilterLimits(message)) {
      peer.punish(100, 'too-large bloom filter');
      return;
    }
    state.filter = BloomFilter.parse(message);
    state.relays = true;
  }

  private onAdd(peer: Peer, { data }: FilterAddMessage): void {
    const state = this.states.get(peer);
    if (!state || !this.isServed(peer, 'filteradd')) return;
    if (data.length > MAX_FILTER_ITEM_SIZE) peer.punish(100, 'bad filteradd message');
    else state.filter?.insert(data);
  }

  private onClear(peer: Peer): void {
    const state = this.states.get(peer);
    if (!state) return;
    state.filter = null;
    state.relays = true;
  }
}
