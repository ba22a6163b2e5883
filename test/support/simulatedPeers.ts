/** Peers of the blob exchange in simulated time: good, slow, silent, lying and dead ones. */
import type { Clock } from '../../src/daemon/base/clock.js';
import type { ContentPeer } from '../../src/daemon/dht/peerSource.js';
import type { Dial, LinkEvents } from '../../src/daemon/exchange/links.js';
import type { NamedPeerSource } from '../../src/daemon/exchange/ports.js';

export type PeerKind =
  /** Sends the blobs that it has. */
  | 'good'
  /** Refuses connections. */
  | 'refusing'
  /** Never accepts a connection. */
  | 'unreachable'
  /** Accepts a connection and never answers. */
  | 'silent'
  /** Starts to send and stops. */
  | 'stalling'
  /** Sends other bytes. */
  | 'lying'
  /** Has no blob. */
  | 'empty'
  /** Closes after the request. */
  | 'closing';

export interface SimulatedPeer {
  readonly kind: PeerKind;
  /** Blobs of `good` peers; default: all. */
  readonly has?: ReadonlySet<string>;
  /** 0: at once. */
  readonly bytesPerSecond?: number;
}

const PIECE_BYTES = 64 * 1024;

export class SimulatedPeers {
  private readonly clock: Clock;
  private readonly blobs: ReadonlyMap<string, Uint8Array>;
  private readonly peers = new Map<string, SimulatedPeer>();
  readonly latencyMs: number;
  /** Requests in order. */
  readonly requests: {
    readonly peer: string;
    readonly hash: string;
    /** The other blobs in the request. */
    readonly others: readonly string[];
    readonly atMs: number;
  }[] = [];
  readonly requestSizes: number[] = [];
  private readonly stalled = new Set<string>();
  open = 0;
  mostOpen = 0;
  sentBytes = 0;

  constructor(clock: Clock, blobs: ReadonlyMap<string, Uint8Array>, latencyMs = 50) {
    this.clock = clock;
    this.blobs = blobs;
    this.latencyMs = latencyMs;
  }

  add(peer: SimulatedPeer): ContentPeer {
    const place = { address: `10.0.${this.peers.size >> 8}.${this.peers.size & 255}`, tcpPort: 4444 };
    this.peers.set(place.address, peer);
    return place;
  }

  change(place: ContentPeer, peer: SimulatedPeer): void {
    this.peers.set(place.address, peer);
  }

  /** The peer sends nothing from now on. */
  stall({ address }: ContentPeer): void {
    this.stalled.add(address);
  }

  /** Returns the peers for each lookup, after a delay. */
  source(peers: () => readonly ContentPeer[], delayMs = 100): NamedPeerSource & { lookups: number } {
    const clock = this.clock;
    const source = {
      name: 'DHT',
      lookups: 0,
      async *peersFor(): AsyncIterable<ContentPeer> {
        source.lookups++;
        await new Promise<void>((resolve) => clock.after(delayMs, resolve));
        yield* peers();
      },
    };
    return source;
  }

  readonly dial: Dial = ({ host }, events, signal) =>
    new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      const peer = this.peers.get(host)!;
      if (peer.kind === 'unreachable') return;
      this.clock.after(this.latencyMs, () => {
        if (peer.kind === 'refusing') reject(new Error('refused'));
        else if (!signal.aborted) resolve(this.link(host, events));
      });
    });

  private link(host: string, events: LinkEvents) {
    let isOpen = true;
    let freeAtMs = -Infinity;
    /** Delay until the client gets the start of an answer. The peer sends it for `tookMs` after all former answers. */
    const begin = (tookMs: number): number => {
      const atMs = Math.max(this.clock.nowMs() + this.latencyMs, freeAtMs);
      freeAtMs = atMs + tookMs;
      return atMs + this.latencyMs - this.clock.nowMs();
    };
    this.mostOpen = Math.max(this.mostOpen, ++this.open);
    const close = (): void => {
      if (isOpen) this.open--;
      isOpen = false;
    };
    const deliver = (bytes: Uint8Array, afterMs: number): void => {
      this.clock.after(afterMs, () => {
        if (!isOpen || this.stalled.has(host)) return;
        this.sentBytes += bytes.length;
        events.onData(Buffer.from(bytes));
      });
    };
    return {
      send: (bytes: Uint8Array) => {
        this.requestSizes.push(bytes.length);
        const request = JSON.parse(Buffer.from(bytes).toString()) as Record<string, unknown>;
        const hash = request['requested_blob'] as string;
        const others = (request['requested_blobs'] as string[]).filter((one) => one !== hash);
        this.requests.push({ peer: host, hash, others, atMs: this.clock.nowMs() });
        this.answer(this.peers.get(host)!, request, hash, deliver, begin, () => {
          if (!isOpen) return;
          close();
          events.onClose();
        });
        return Promise.resolve(true);
      },
      pause: () => undefined,
      resume: () => undefined,
      close,
    };
  }

  private answer(
    peer: SimulatedPeer,
    request: Record<string, unknown>,
    hash: string,
    deliver: (bytes: Uint8Array, afterMs: number) => void,
    begin: (tookMs: number) => number,
    hangUp: () => void,
  ): void {
    if (peer.kind === 'silent') return;
    if (peer.kind === 'closing') {
      this.clock.after(this.latencyMs, hangUp);
      return;
    }
    const has = (one: string): boolean =>
      peer.kind !== 'empty' && this.blobs.has(one) && (peer.has?.has(one) ?? true);
    const available = (request['requested_blobs'] as string[]).filter(has);
    const common = `"blob_data_payment_rate": "RATE_ACCEPTED", "available_blobs": ${JSON.stringify(available)}`;
    if (!has(hash)) {
      deliver(Buffer.from(`{${common}}`), begin(0));
      return;
    }
    const right = this.blobs.get(hash)!;
    const blob = peer.kind === 'lying' ? Buffer.alloc(right.length, 7) : right;
    const head = `{"incoming_blob": {"blob_hash": "${hash}", "length": ${blob.length}}, ${common}}`;
    const end = peer.kind === 'stalling' ? Math.floor(blob.length / 2) : blob.length;
    const rate = peer.bytesPerSecond ?? 0;
    const beginMs = begin(rate === 0 ? 0 : (end * 1000) / rate);
    deliver(Buffer.from(head), beginMs);
    for (let at = 0; at < end; at += PIECE_BYTES) {
      const piece = blob.subarray(at, Math.min(end, at + PIECE_BYTES));
      const took = rate === 0 ? 0 : ((at + piece.length) * 1000) / rate;
      deliver(piece, beginMs + took);
    }
  }
}
