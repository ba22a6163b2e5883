/**
 * Lookups: query the nodes near a key for nodes that are nearer to it, five at a time, until no node is left. Source:
 * lbry-sdk lbry/dht/protocol/iterative_find.py.
 */
import { compareDistance } from './addresses.js';
import { DhtChannel } from './channel.js';
import { endpointKey, type Contact, type Target } from './contact.js';
import { ALPHA, K } from './kademlia.js';
import type { PeerBook } from './peerBook.js';
import { RequestFailure, type BlobPeer, type FoundValue } from './rpc.js';

/** Maximum number of requests of a lookup, so that dishonest nodes cannot extend it forever. */
const MAX_PROBES = 400;
/** Maximum number of contacts that a lookup stores. Above it, only the contacts nearest to the key are stored. */
const MAX_KNOWN = 512;
/** Maximum number of peers that a search for a blob returns. */
const MAX_PEERS = 5000;

export interface LookupDeps {
  readonly ownId: Buffer;
  readonly book: PeerBook;
  /** Whether the address is that of this node. */
  readonly isSelf: (address: string, udpPort: number) => boolean;
}

/**
 * Result of one request: the contacts in the answer, and whether the node must be asked for a further page or the lookup can
 * end.
 */
interface ProbeResult {
  readonly contacts: readonly Contact[];
  readonly again?: boolean;
  readonly isEnough?: boolean;
}

class Lookup {
  readonly #deps: LookupDeps;
  readonly #key: Buffer;
  readonly #probe: (target: Target) => Promise<ProbeResult>;
  readonly #signal: AbortSignal;
  /** Known contacts, sorted by distance from the key. */
  readonly #known: Contact[] = [];
  readonly #contacted = new Set<string>();
  #running = 0;
  #probes = 0;
  #isEnded = false;
  #end: () => void = () => undefined;

  constructor(
    deps: LookupDeps,
    key: Buffer,
    probe: (target: Target) => Promise<ProbeResult>,
    signal: AbortSignal,
  ) {
    this.#deps = deps;
    this.#key = key;
    this.#probe = probe;
    this.#signal = signal;
  }

  /** Runs the lookup. Resolves to the contacts that did not fail, sorted by distance from the key. */
  async run(seeds: readonly Target[]): Promise<readonly Contact[]> {
    if (this.#signal.aborted) return [];
    const ended = new Promise<void>((resolve) => {
      this.#end = (): void => {
        this.#isEnded = true;
        resolve();
      };
    });
    this.#signal.addEventListener('abort', this.#end, { once: true });
    for (const seed of seeds)
      if (seed.nodeId === null) void this.#ask(seed, endpointKey(seed.address, seed.udpPort));
      else this.#learn(seed);
    this.#round();
    await ended;
    this.#signal.removeEventListener('abort', this.#end);
    return this.#known;
  }

  #learn(contact: Contact): void {
    const { ownId, isSelf } = this.#deps;
    if (contact.nodeId.equals(ownId) || isSelf(contact.address, contact.udpPort)) return;
    if (this.#contacted.has(contact.key)) return;
    let at = this.#known.length;
    for (; at > 0; at--) {
      const order = compareDistance(this.#key, contact.nodeId, this.#known[at - 1]!.nodeId);
      if (order === 0 && this.#known[at - 1]!.key === contact.key) return;
      if (order >= 0) break;
    }
    this.#known.splice(at, 0, contact);
    if (this.#known.length > MAX_KNOWN) this.#known.pop();
  }

  #round(): void {
    if (this.#isEnded) return;
    for (const [index, contact] of this.#known.entries()) {
      if (this.#contacted.has(contact.key)) continue;
      if (this.#running >= ALPHA || index > K + this.#running || this.#probes >= MAX_PROBES) break;
      void this.#ask(contact, contact.key);
    }
    if (this.#running === 0) this.#end();
  }

  async #ask(target: Target, key: string): Promise<void> {
    this.#contacted.add(key);
    this.#running++;
    this.#probes++;
    try {
      const { contacts, again = false, isEnough = false } = await this.#probe(target);
      if (this.#isEnded) return;
      for (const contact of contacts) if (this.#deps.book.goodness(contact) !== 'bad') this.#learn(contact);
      if (again) this.#contacted.delete(key);
      if (isEnough) this.#end();
    } catch (error) {
      if (!(error instanceof RequestFailure)) throw error;
      const at = this.#known.findIndex((contact) => contact.key === key);
      if (at >= 0) this.#known.splice(at, 1);
    } finally {
      this.#running--;
      this.#round();
    }
  }
}

type NodeLookupDeps = LookupDeps & {
  readonly findNode: (target: Target, key: Buffer) => Promise<Contact[]>;
};

/** A lookup of nodes that ends early when it finds the node whose id is the key. */
function nodeLookup(deps: NodeLookupDeps, key: Buffer, signal: AbortSignal): Lookup {
  const probe = async (target: Target): Promise<ProbeResult> => {
    const contacts = await deps.findNode(target, key);
    const isFound = !key.equals(deps.ownId) && contacts.some(({ nodeId }) => nodeId.equals(key));
    return { contacts, isEnough: isFound };
  };
  return new Lookup(deps, key, probe, signal);
}

/**
 * Finds the nodes nearest to the key that answered recently, sorted by distance. The lookup starts at `seeds`. It ends early
 * when it finds the node whose id is the key.
 */
export async function lookUpNodes(
  deps: NodeLookupDeps,
  key: Buffer,
  { seeds, count, signal }: { seeds: readonly Target[]; count: number; signal: AbortSignal },
): Promise<Contact[]> {
  const known = await nodeLookup(deps, key, signal).run(seeds);
  return known.filter((contact) => deps.book.goodness(contact) === 'good').slice(0, count);
}

/**
 * Finds the endpoints that other nodes report for the node with this id. The node itself was not asked, so several endpoints
 * may be reported, and some may be wrong.
 */
export async function lookUpNode(
  deps: NodeLookupDeps,
  nodeId: Buffer,
  { seeds, signal }: { seeds: readonly Target[]; signal: AbortSignal },
): Promise<Contact[]> {
  const known = await nodeLookup(deps, nodeId, signal).run(seeds);
  return known.filter((contact) => contact.nodeId.equals(nodeId));
}

/**
 * Finds peers that have announced the hash. Yields them in groups as they are found, each peer once. Peers in `known` come
 * first.
 */
export function lookUpPeers(
  deps: LookupDeps & {
    readonly findValue: (target: Target, key: Buffer, page: number) => Promise<FoundValue>;
  },
  key: Buffer,
  { known, seeds, signal }: { known: readonly BlobPeer[]; seeds: readonly Target[]; signal: AbortSignal },
): AsyncIterable<readonly BlobPeer[]> {
  const found = new DhtChannel<readonly BlobPeer[]>();
  const given = new Set<string>();
  const pages = new Map<string, { next: number; readonly seen: Set<string> }>();
  const give = (peers: readonly BlobPeer[]): void => {
    const fresh = peers.filter((peer) => !given.has(peerKey(peer)) && given.size < MAX_PEERS);
    for (const peer of fresh) given.add(peerKey(peer));
    if (fresh.length > 0) found.push(fresh);
  };
  give(known);
  const probe = async (target: Target): Promise<ProbeResult> => {
    const place = endpointKey(target.address, target.udpPort);
    const { next: page, seen } = pages.get(place) ?? { next: 0, seen: new Set<string>() };
    const answer = await deps.findValue(target, key, page);
    const repeats = answer.peers.some((peer) => seen.has(peerKey(peer)));
    for (const peer of answer.peers) seen.add(peerKey(peer));
    give(answer.peers);
    // lbry-sdk reports too few pages from 17 peers on, so the page after the last reported one is requested too.
    const again = !repeats && answer.peers.length >= K && page < answer.pages && given.size < MAX_PEERS;
    pages.set(place, { next: page + 1, seen });
    return { contacts: answer.contacts, again };
  };
  const ended = new Lookup(deps, key, probe, signal).run(seeds);
  void ended.then(() => found.end());
  return found;
}

const peerKey = ({ nodeId, address, tcpPort }: BlobPeer): string =>
  `${nodeId.toString('latin1')}@${address}:${tcpPort}`;
