/**
 * Server on a reflector's port for uploads. Source: reflector.go reflector/server.go; lbry-sdk
 * lbry/stream/reflector/server.py.
 */
import type { Clock } from '../base/clock.js';
import { isBlobHash, MAX_BLOB_BYTES } from '../content/blobHash.js';
import { IncomingBlob, type ReceivedBlob } from '../content/incomingBlob.js';
import type { Bandwidth } from './bandwidth.js';
import { JsonMessages, ProtocolError, type JsonMembers } from './jsonMessages.js';
import type { RateLimiter } from './rateLimiter.js';
import type { BlobRefusal, ReflectorStore } from './reflectorStore.js';
import { SocketReader, TcpServer, writeBytes, type ConnectionLimits, type Served } from './tcpServer.js';

/** Time limit for each message and each blob. Source: reflector.go cmd/reflector.go `DefaultTimeout`. */
const STEP_MS = 180_000;
/**
 * Maximum number of hashes in one list of needed blobs. Clients accept a response of at most 2,000,000 bytes; afterwards
 * they ask for the remaining blobs.
 */
const MAX_LISTED = 10_000;
/** Maximum size of a request in bytes; most requests have 150. Arbitrary. */
const REQUEST_LIMIT_BYTES = 1200;
/** Protocol versions. Version 1 adds lists of needed blobs. Source: `protocolVersion1`, `protocolVersion2`. */
const VERSIONS: readonly unknown[] = [0, 1];

const REFUSALS: Readonly<Record<BlobRefusal, string>> = {
  blocked: 'the stream is blocked',
  full: 'the quota of the reflector is used up',
  busy: 'the reflector accepts no blobs now: its blob store does not answer, and its disk space is used up',
};

export interface ReflectorServerDeps {
  readonly store: ReflectorStore;
  readonly limits: () => ConnectionLimits;
  /** Rate limit that all uploads to this reflector share. */
  readonly rate: RateLimiter;
  readonly bandwidth: Pick<Bandwidth, 'sent' | 'received'>;
  readonly clock: Clock;
  readonly stepMs?: number;
  /** Called with an error that ended a connection and is not the client's fault, such as a full disk. */
  readonly onFailure: (error: unknown) => void;
}

interface Offer {
  readonly hash: string;
  readonly sizeBytes: number;
  readonly isDescriptor: boolean;
}

export class ReflectorServer {
  readonly #deps: ReflectorServerDeps;
  readonly #server: TcpServer;
  /** Number of blobs accepted since the start. */
  received = 0;
  #port: number | null = null;

  constructor(deps: ReflectorServerDeps) {
    this.#deps = deps;
    const { limits, onFailure } = deps;
    this.#server = new TcpServer({
      limits,
      onFailure,
      serve: (served) => new Upload(served, this.#deps, this).run(),
    });
  }

  get port(): number | null {
    return this.#port;
  }

  get connectionCount(): number {
    return this.#server.connectionCount;
  }

  /** See `TcpServer.listen`. */
  async listen(port: number, host: string, words: { what: string; settings: string }): Promise<number> {
    this.#port = await this.#server.listen(port, host, words);
    return this.#port;
  }

  async close(): Promise<void> {
    await this.#server.close();
    this.#port = null;
  }
}

/** State of one connection of a client that uploads. */
class Upload {
  readonly #served: Served;
  readonly #deps: ReflectorServerDeps;
  readonly #server: { received: number };
  readonly #reader: SocketReader;
  readonly #messages = new JsonMessages(REQUEST_LIMIT_BYTES);

  constructor(served: Served, deps: ReflectorServerDeps, server: { received: number }) {
    this.#served = served;
    this.#deps = deps;
    this.#server = server;
    this.#reader = new SocketReader(served.socket);
  }

  async run(): Promise<void> {
    try {
      const hello = await this.#message();
      if (hello === null) return;
      const { version } = hello;
      if (!VERSIONS.includes(version)) throw new ProtocolError('unsupported protocol version');
      await this.#answer({ version: version as number });
      for (;;) {
        const request = await this.#message();
        if (request === null || !(await this.#take(offerIn(request)))) return;
      }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
    }
  }

  async #answer(members: object): Promise<boolean> {
    const { socket, peer } = this.#served;
    const bytes = Buffer.from(JSON.stringify(members));
    this.#deps.bandwidth.sent(peer, bytes.length);
    return writeBytes(socket, bytes);
  }

  /** Runs a step, and closes the connection if it exceeds the time limit. */
  async #inTime<T>(step: () => Promise<T>): Promise<T> {
    const { clock, stepMs = STEP_MS } = this.#deps;
    const timer = clock.after(stepMs, () => void this.#served.socket.destroy());
    try {
      return await step();
    } finally {
      timer.cancel();
    }
  }

  async #next(): Promise<Buffer | null> {
    const { rate, bandwidth } = this.#deps;
    const bytes = await this.#reader.next();
    if (bytes === null) return null;
    bandwidth.received(this.#served.peer, bytes.length);
    return (await rate.take(bytes.length, this.#served.closed)) ? bytes : null;
  }

  /** Reads the next message; null when the client has disconnected. */
  #message(): Promise<JsonMembers | null> {
    return this.#inTime(async () => {
      for (;;) {
        const bytes = await this.#next();
        if (bytes === null) return null;
        const found = this.#messages.push(bytes);
        if (found === null) continue;
        this.#reader.unread(found.rest);
        return found.members;
      }
    });
  }

  /** Reads the bytes of a blob; null if the client disconnected before all bytes arrived. */
  #bytes(sizeBytes: number): Promise<ReceivedBlob | null> {
    return this.#inTime(async () => {
      const blob = new IncomingBlob(sizeBytes);
      while (!blob.isFull) {
        const bytes = await this.#next();
        if (bytes === null) return null;
        this.#reader.unread(bytes.subarray(blob.add(bytes)));
      }
      return blob.end();
    });
  }

  /** Responds to an offer and receives the blob. Returns false if the connection must be closed. */
  async #take(offer: Offer): Promise<boolean> {
    const { store } = this.#deps;
    const answer = offer.isDescriptor
      ? await this.#answerStream(offer.hash)
      : await this.#answerBlob(offer.hash);
    if (answer !== 'wanted') return answer === 'known';
    const reservation = store.reserve(offer.hash, offer.sizeBytes);
    if (reservation === null) {
      await this.#refuse('full');
      return false;
    }
    try {
      return await this.#receive(offer);
    } finally {
      store.unreserve(reservation);
    }
  }

  async #receive({ hash, sizeBytes, isDescriptor }: Offer): Promise<boolean> {
    const { store } = this.#deps;
    await this.#answer(isDescriptor ? { send_sd_blob: true } : { send_blob: true });
    const blob = await this.#bytes(sizeBytes);
    let isTaken = false;
    try {
      isTaken = blob !== null && (await store.put(hash, blob, isDescriptor));
    } finally {
      blob?.release();
      await this.#answer(isDescriptor ? { received_sd_blob: isTaken } : { received_blob: isTaken });
    }
    if (isTaken) this.#server.received++;
    return isTaken;
  }

  /** Responds to the offer of a descriptor, except if the reflector wants it. */
  async #answerStream(sdHash: string): Promise<'wanted' | 'known' | 'refused'> {
    const offer = await this.#deps.store.offerStream(sdHash);
    switch (offer.kind) {
      case 'wanted':
        return 'wanted';
      case 'known':
        // Without the member `send_sd_blob` an older client sends nothing more; reflector.go behaves in the same way.
        await this.#answer({
          send_sd_blob: false,
          ...(offer.missing.length > 0 && { needed_blobs: offer.missing.slice(0, MAX_LISTED) }),
        });
        return 'known';
      default:
        return this.#refuse(offer.kind);
    }
  }

  /** Responds to the offer of a data blob, except if the reflector wants it. */
  async #answerBlob(hash: string): Promise<'wanted' | 'known' | 'refused'> {
    const offer = await this.#deps.store.offerBlob(hash);
    if (offer !== 'wanted' && offer !== 'known') return this.#refuse(offer);
    if (offer === 'known') await this.#answer({ send_blob: false });
    return offer;
  }

  /** The response has the member `error` only. Clients check `send_sd_blob` or `send_blob`, so none treats it as success. */
  async #refuse(kind: BlobRefusal): Promise<'refused'> {
    await this.#answer({ error: REFUSALS[kind] });
    return 'refused';
  }
}

function offerIn(members: JsonMembers): Offer {
  const isDescriptor = typeof members['sd_blob_hash'] === 'string' && members['sd_blob_hash'] !== '';
  const [hash, sizeBytes] = isDescriptor
    ? [members['sd_blob_hash'], members['sd_blob_size']]
    : [members['blob_hash'], members['blob_size']];
  if (!isBlobHash(hash)) throw new ProtocolError('invalid blob hash');
  const isPossible =
    Number.isInteger(sizeBytes) && (sizeBytes as number) > 0 && (sizeBytes as number) <= MAX_BLOB_BYTES;
  if (!isPossible) throw new ProtocolError('an impossible size');
  return { hash, sizeBytes: sizeBytes as number, isDescriptor };
}
