/**
 * Client of UDP trackers: announces hashes and requests peers. Each tracker is asked once per hash in the interval that it
 * states; its answer is cached for that time, if the cache has space. Source: BEP 15; lbry-sdk lbry/torrent/tracker.py
 * `TrackerClient`, `UDPTrackerClientProtocol`.
 */
import type { Clock, DaemonRandom, Timer } from '../../base/clock.js';
import { TaskSlots } from '../../../scheduler/taskSlots.js';
import { isPublicAddress } from '../addresses.js';
import { DecodeError } from '../bencode.js';
import { DhtChannel } from '../channel.js';
import { Lru } from '../../../util/lru.js';
import {
  ACTION,
  ANNOUNCE_EVENT,
  announceKey,
  answerHead,
  decodeAnnounceResponse,
  decodeConnectResponse,
  decodeTrackerError,
  encodeAnnounce,
  encodeConnect,
  type TrackerPeer,
} from './trackerPackets.js';
import type { UdpPort } from '../udpPort.js';

const TIMEOUT_MS = 10_000;
const TIMEOUT = 'timeout';
/**
 * Delays in ms after which a request without an answer is sent again, because datagrams may be lost: other trackers may have
 * flooded the socket. BEP 15 retransmits after 15 s, longer than the timeout of lbry-sdk. Arbitrary.
 */
const RESEND_MS: readonly number[] = [1500, 4500];
/** Milliseconds for which a connection id is used. BEP 15 allows one minute. */
const CONNECTION_MS = 50_000;
/** Delay in ms before a tracker that did not answer is asked again. */
const SILENCE_MS = 60_000;
/** Bounds in seconds to which the interval of a tracker is clamped. */
const [SHORTEST_SEC, LONGEST_SEC] = [10, 86_400];
/** Maximum number of concurrent requests to one tracker, so that a silent tracker does not delay those to others. */
const MAX_REQUESTS = 100;
/** Maximum number of trackers whose connection ids and running requests are stored. */
const MAX_TRACKERS = 100;
/** Maximum number of stored times of next requests, one per file and tracker. Enough for a large library. */
const MAX_TIMES = 200_000;
/** Maximum number of tracker answers that are cached, and of peers in each answer. Arbitrary: bounds the memory. */
const [MAX_ANSWERS, MAX_PEERS] = [1000, 100];
/** Number of hashes that are announced concurrently. */
const GROUP = 200;
/** Lowest accepted port of a peer; peers with lower ports are dropped. Source: `announcement_to_kademlia_peers`. */
const MIN_PORT = 1025;
const INFO_HASH_BYTES = 20;

export type TrackerServer = readonly [host: string, port: number];

export interface TrackerClientDeps {
  readonly clock: Clock;
  readonly random: DaemonRandom;
  readonly port: UdpPort;
  /** 20 bytes. */
  readonly peerId: Buffer;
  /** TCP port at which this node serves blobs. */
  readonly announcedPort: () => number;
  /** Returns the trackers of the settings. Called at each use. */
  readonly servers: () => readonly TrackerServer[];
  /** Resolves a host name to an IPv4 address. Rejects if the name has no IPv4 address. */
  readonly resolve: (host: string) => Promise<string>;
}

/** Error: a tracker did not answer or returned an error. */
class TrackerFailure extends Error {
  override readonly name = 'TrackerFailure';

  get isTimeout(): boolean {
    return this.message === TIMEOUT;
  }
}

interface Waiting {
  readonly place: string;
  /** The timeout, and those that send the request again. */
  readonly timers: readonly Timer[];
  readonly resolve: (data: Buffer) => void;
  readonly reject: (failure: TrackerFailure) => void;
}

interface Answer {
  /** Time (monotonic, in ms) of the next request to the tracker for this hash. */
  readonly untilMs: number;
  readonly peers: readonly TrackerPeer[];
}

/**
 * Whether a peer in a tracker's answer may be used. A tracker at a public address must not direct this node to its own
 * machine or into its local network. Source: lbry-sdk lbry/dht/peer.py `make_kademlia_peer`.
 */
const isPeerOf = (trackerAddress: string, { address, port }: TrackerPeer): boolean =>
  port >= MIN_PORT && (isPublicAddress(address) || !isPublicAddress(trackerAddress));

interface TrackerConnection {
  readonly untilMs: number;
  readonly id: Promise<bigint>;
}

export class TrackerClient {
  readonly #deps: TrackerClientDeps;
  readonly #waiting = new Map<number, Waiting>();
  readonly #connections = new Lru<string, TrackerConnection>(MAX_TRACKERS);
  readonly #untilMs = new Lru<string, number>(MAX_TIMES);
  readonly #peers = new Lru<string, readonly TrackerPeer[]>(MAX_ANSWERS);
  /**
   * Times until which trackers that did not answer get no further announcements. Otherwise the announcements of a large
   * library would wait for each of its files.
   */
  readonly #silent = new Lru<string, number>(MAX_TRACKERS);
  readonly #slots = new Lru<string, TaskSlots>(MAX_TRACKERS);
  #isOpen = true;

  constructor(deps: TrackerClientDeps) {
    this.#deps = deps;
    deps.port.listen((data, address, port) => this.#receive(data, `${address}:${port}`));
  }

  async close(): Promise<void> {
    this.#isOpen = false;
    for (const id of [...this.#waiting.keys()]) this.#taken(id)?.reject(new TrackerFailure('stopped'));
    await this.#deps.port.close();
  }

  /**
   * Announces blobs to all trackers by the first 20 bytes of their hashes. Skips hashes for which the announcement interval
   * of the tracker is not over. Never throws.
   */
  async announce(hashes: readonly Buffer[]): Promise<void> {
    const port = this.#deps.announcedPort();
    for (let at = 0; at < hashes.length && this.#isOpen; at += GROUP)
      await Promise.all(
        hashes
          .slice(at, at + GROUP)
          .flatMap((hash) => this.#deps.servers().map((server) => this.#peersOf(server, hash, port, false))),
      );
  }

  /**
   * Yields groups of peers, as the trackers answer. With `announces` the request also announces this node. Ends when all
   * trackers answered or timed out, or when the signal aborts.
   */
  async *search(
    hash: Buffer,
    signal: AbortSignal,
    { announces }: { readonly announces: boolean },
  ): AsyncGenerator<readonly { readonly address: string; readonly tcpPort: number }[]> {
    const found = new DhtChannel<readonly TrackerPeer[]>();
    const port = announces ? this.#deps.announcedPort() : 0;
    const asked = this.#deps.servers().map(async (server) => {
      const peers = await this.#peersOf(server, hash, port, true);
      if (peers.length > 0) found.push(peers);
    });
    void Promise.all(asked).then(() => found.end());
    const onAbort = (): void => found.end();
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      if (signal.aborted) return;
      for await (const peers of found)
        yield peers.map(({ address, port: tcpPort }) => ({ address, tcpPort }));
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  /**
   * Peers of a tracker; empty if it fails. A request without a port does not count as an announcement. With `needsPeers` the
   * tracker is asked even before the time of the next request, if its peers are not cached.
   */
  async #peersOf(
    [host, trackerPort]: TrackerServer,
    hash: Buffer,
    port: number,
    needsPeers: boolean,
  ): Promise<readonly TrackerPeer[]> {
    const { clock, resolve } = this.#deps;
    const infoHash = hash.subarray(0, INFO_HASH_BYTES);
    try {
      const address = await resolve(host);
      const key = `${address}:${trackerPort} ${port} ${infoHash.toString('latin1')}`;
      const known = this.#peers.get(key);
      if ((this.#untilMs.get(key) ?? 0) > clock.nowMs() && (known !== undefined || !needsPeers))
        return known ?? [];
      if (!needsPeers && (this.#silent.get(`${address}:${trackerPort}`) ?? 0) > clock.nowMs()) return [];
      const { untilMs, peers } = await this.#announceAt(address, trackerPort, infoHash, port);
      this.#untilMs.set(key, untilMs);
      this.#peers.set(key, peers);
      return peers;
    } catch {
      // A host name that could not be resolved is resolved again at the next use.
      return [];
    }
  }

  async #announceAt(address: string, trackerPort: number, infoHash: Buffer, port: number): Promise<Answer> {
    const { clock, peerId } = this.#deps;
    try {
      const connectionId = await this.#connectionTo(address, trackerPort);
      const transactionId = this.#transactionId();
      const data = await this.#request(
        encodeAnnounce({
          connectionId,
          transactionId,
          infoHash,
          peerId,
          event: ANNOUNCE_EVENT.completed,
          key: announceKey(infoHash, peerId, port),
          peersWanted: -1,
          port,
        }),
        transactionId,
        [address, trackerPort],
        ACTION.announce,
      );
      const { intervalSec, peers } = decodeAnnounceResponse(data);
      const waitSec = Math.min(LONGEST_SEC, Math.max(SHORTEST_SEC, intervalSec));
      return {
        untilMs: clock.nowMs() + waitSec * 1000,
        peers: peers.filter((peer) => isPeerOf(address, peer)).slice(0, MAX_PEERS),
      };
    } catch (error) {
      if (!(error instanceof TrackerFailure) && !(error instanceof DecodeError)) throw error;
      const place = `${address}:${trackerPort}`;
      this.#connections.delete(place);
      if (error instanceof TrackerFailure && error.isTimeout)
        this.#silent.set(place, clock.nowMs() + SILENCE_MS);
      return { untilMs: clock.nowMs() + SILENCE_MS, peers: [] };
    }
  }

  /** Requests a connection id from a tracker, or returns the id that is still valid. Concurrent requests share the id. */
  #connectionTo(address: string, port: number): Promise<bigint> {
    const { clock } = this.#deps;
    const place = `${address}:${port}`;
    const known = this.#connections.get(place);
    if (known !== undefined && known.untilMs > clock.nowMs()) return known.id;
    const transactionId = this.#transactionId();
    const id = this.#request(
      encodeConnect(transactionId),
      transactionId,
      [address, port],
      ACTION.connect,
    ).then((data) => decodeConnectResponse(data).connectionId);
    this.#connections.set(place, { untilMs: clock.nowMs() + CONNECTION_MS, id });
    return id;
  }

  #transactionId(): number {
    return this.#deps.random.bytes(4).readUInt32BE(0);
  }

  /** Sends a request to a tracker and resolves to the answer. Rejects with `TrackerFailure`. */
  async #request(
    data: Buffer,
    transactionId: number,
    [address, port]: readonly [string, number],
    action: number,
  ): Promise<Buffer> {
    const place = `${address}:${port}`;
    const slots = this.#slots.get(place) ?? new TaskSlots(MAX_REQUESTS);
    this.#slots.set(place, slots);
    // The queue has no limit, so the request is never refused.
    const answer = (await slots.run(() => this.#answerTo(data, transactionId, [address, port])))!;
    const answered = answerHead(answer)!.action;
    if (answered === ACTION.error)
      throw new TrackerFailure(decodeTrackerError(answer).message.toString('utf8'));
    if (answered !== action) throw new TrackerFailure('the answer does not match the request');
    return answer;
  }

  #answerTo(
    data: Buffer,
    transactionId: number,
    [address, port]: readonly [string, number],
  ): Promise<Buffer> {
    const { clock, port: udp } = this.#deps;
    return new Promise((resolve, reject) => {
      if (!this.#isOpen) return reject(new TrackerFailure('stopped'));
      const send = (): void => udp.send(data, address, port);
      const onTimeout = (): void => this.#taken(transactionId)?.reject(new TrackerFailure(TIMEOUT));
      const timers = [
        clock.after(TIMEOUT_MS, onTimeout),
        ...RESEND_MS.map((delayMs) => clock.after(delayMs, send)),
      ];
      this.#waiting.set(transactionId, { place: `${address}:${port}`, timers, resolve, reject });
      return send();
    });
  }

  #taken(transactionId: number): Waiting | null {
    const waiting = this.#waiting.get(transactionId);
    if (waiting === undefined) return null;
    this.#waiting.delete(transactionId);
    for (const timer of waiting.timers) timer.cancel();
    return waiting;
  }

  /** An answer counts only if it comes from the tracker that received the request. */
  #receive(data: Buffer, place: string): void {
    const head = answerHead(data);
    if (head === null || this.#waiting.get(head.transactionId)?.place !== place) return;
    this.#taken(head.transactionId)?.resolve(data);
  }
}
