/**
 * Peers for downloads from the DHT and trackers. A peer from the DHT is returned immediately if its node has replied
 * recently, otherwise after a successful ping. Source: lbry-sdk lbry/dht/node.py `_peers_for_value_producer`,
 * lbry/torrent/tracker.py `enqueue_tracker_search`.
 */
import { DhtChannel } from './channel.js';
import { contactAt, endpointFault, type Contact } from './contact.js';
import type { DhtNode } from './node.js';
import type { ContentPeer, PeerSource } from './peerSource.js';
import { RequestFailure, type BlobPeer } from './rpc.js';

/** Maximum number of concurrent pings during one search. */
const PINGS = 64;
/** Ranges of the default ports of early versions: TCP from 3333 on, UDP from 4444 on. */
const OLD_PORTS = { tcpFirst: 3333, tcpEnd: 3400, udpFirst: 4444 } as const;

/** Search for peers at trackers. Source: BEP 15. */
export interface TrackerSearch {
  /** Yields groups of peers, as the trackers answer. Never throws. */
  search(hash: Buffer, signal: AbortSignal): AsyncIterable<readonly ContentPeer[]>;
}

export interface PeerFinderDeps {
  /** The DHT node; null if the component is skipped. */
  readonly node: DhtNode | null;
  readonly trackers: TrackerSearch | null;
  readonly external: () => { readonly address: string | null; readonly tcpPort: number };
  readonly allowLocalhost?: boolean;
  /** Whether the result includes this daemon itself if a tracker reports it, as in `peer_list` of lbry-sdk. */
  readonly showsOwn?: boolean;
}

/** A peer with the fields that the answer of `peer_list` contains. */
export interface FoundPeer extends ContentPeer {
  readonly udpPort: number | null;
}

export function guessedUdpPort(tcpPort: number): number {
  const { tcpFirst, tcpEnd, udpFirst } = OLD_PORTS;
  return tcpPort >= tcpFirst && tcpPort < tcpEnd ? tcpPort - tcpFirst + udpFirst : tcpPort;
}

export class PeerFinder implements PeerSource {
  readonly #deps: PeerFinderDeps;

  constructor(deps: PeerFinderDeps) {
    this.#deps = deps;
  }

  async *peersFor(hash: string, signal: AbortSignal): AsyncGenerator<FoundPeer> {
    const key = Buffer.from(hash, 'hex');
    const found = new DhtChannel<FoundPeer>();
    const given = new Set<string>();
    const give = (peer: FoundPeer): void => {
      const place = `${peer.address}:${peer.tcpPort}`;
      if (given.has(place)) return;
      given.add(place);
      found.push(peer);
    };
    if (signal.aborted) return;
    const ending = new AbortController();
    const end = (): void => {
      ending.abort();
      found.end();
    };
    signal.addEventListener('abort', end);
    const searches = [this.#fromTrackers(key, ending.signal, give), this.#fromDht(key, ending.signal, give)];
    void Promise.all(searches).then(() => found.end());
    try {
      yield* found;
    } finally {
      signal.removeEventListener('abort', end);
      end();
    }
  }

  #isOwn({ address, tcpPort }: ContentPeer): boolean {
    const own = this.#deps.external();
    return own.address === address && own.tcpPort === tcpPort;
  }

  async #fromTrackers(hash: Buffer, signal: AbortSignal, give: (peer: FoundPeer) => void): Promise<void> {
    const { trackers } = this.#deps;
    if (trackers === null) return;
    for await (const peers of trackers.search(hash, signal))
      for (const peer of peers)
        if (this.#deps.showsOwn === true || !this.#isOwn(peer)) give({ ...peer, udpPort: null });
  }

  async #fromDht(key: Buffer, signal: AbortSignal, give: (peer: FoundPeer) => void): Promise<void> {
    const { node } = this.#deps;
    if (node === null) return;
    const waiting: (() => Promise<void>)[] = [];
    const running = new Set<Promise<void>>();
    const launch = (): void => {
      while (running.size < PINGS && waiting.length > 0 && !signal.aborted) {
        const task = waiting.shift()!().finally(() => {
          running.delete(task);
          launch();
        });
        running.add(task);
      }
    };
    for await (const peers of node.findPeers(key, signal)) {
      for (const peer of peers) {
        const contact = this.#contactOf(node, peer);
        if (this.#isOwn(peer) || contact === null) continue;
        const goodness = node.book.goodness(contact);
        const shown = { ...peer, udpPort: contact.udpPort };
        if (goodness === 'good') give(shown);
        else if (goodness === 'unknown')
          waiting.push(async () => {
            if (await isThere(node, contact)) give(shown);
          });
      }
      launch();
    }
    while (running.size > 0) await Promise.race(running);
  }

  /** Returns the UDP address of the peer's DHT node. If the node is unknown, guesses the UDP port from the TCP port. */
  #contactOf(node: DhtNode, { nodeId, address, tcpPort }: BlobPeer): Contact | null {
    const known = node.book.contactOf(nodeId);
    if (known?.address === address) return known;
    const udpPort = guessedUdpPort(tcpPort);
    if (endpointFault(address, udpPort, this.#deps.allowLocalhost ?? false) !== null) return null;
    return contactAt(nodeId, address, udpPort);
  }
}

async function isThere(node: DhtNode, contact: Contact): Promise<boolean> {
  try {
    await node.rpc.ping(contact);
    return true;
  } catch (error) {
    if (error instanceof RequestFailure) return false;
    throw error;
  }
}
