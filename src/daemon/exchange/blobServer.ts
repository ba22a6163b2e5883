/**
 * Server of the blob exchange. It reports which blobs are available and sends them, within limits.
 * Source: lbry-sdk lbry/blob_exchange/server.py `BlobServer`, `BlobServerProtocol`.
 */
import type { JsonOut } from '../../util/json/jsonWrite.js';
import { BlobUnavailableError } from '../base/blobUnavailable.js';
import type { Clock, Timer } from '../base/clock.js';
import type { Bandwidth } from './bandwidth.js';
import { JsonMessages, ProtocolError } from './jsonMessages.js';
import { answerBytes, readRequest, REQUEST_LIMIT_BYTES, type BlobRequest } from './messages.js';
import { PieceBuffers } from './pieceBuffers.js';
import type { BlobReader, OpenBlob } from './ports.js';
import type { RateLimiter } from './rateLimiter.js';
import { SharedReads } from './sharedReads.js';
import { SocketReader, TcpServer, writeBytes, type ConnectionLimits, type Served } from './tcpServer.js';
import { PeerBlobs, WholeBlobs, type WholeBlob } from './wholeBlobs.js';

/** Time in ms after which an idle connection is closed, counted from its start or its last transfer. Source: `idle_timeout`. */
const IDLE_MS = 30_000;
/** Source: `transfer_timeout`. */
const TRANSFER_MS = 60_000;
/** Maximum number of transfers at which each transfer reads ahead. Arbitrary. */
const READ_AHEAD_TRANSFERS = 16;
/** Maximum number of whole blobs in memory, for all peers together. Arbitrary: bounds the memory to 48 MiB. */
const HELD_BLOBS = 24;

export interface BlobServerDeps {
  readonly blobs: BlobReader;
  /** The address to which peers may pay; null without a wallet. */
  readonly address: () => string | null | Promise<string | null>;
  readonly limits: () => ConnectionLimits;
  /** Rate limit that all peers share. */
  readonly rate: RateLimiter;
  readonly bandwidth: Pick<Bandwidth, 'sent' | 'received'>;
  readonly clock: Clock;
  readonly idleMs?: number;
  readonly transferMs?: number;
  /** Receives errors that ended a connection and were not caused by the peer, such as an unreadable blob. */
  readonly onFailure: (error: unknown) => void;
}

/** A piece of a blob that is being read into a buffer. */
interface PieceRead {
  readonly buffer: Uint8Array;
  readonly reading: Promise<Uint8Array>;
}

/** A connection, and the blobs that were read for it. */
interface Peer extends Served {
  readonly wholes: PeerBlobs;
}

export class BlobServer {
  readonly #deps: BlobServerDeps;
  readonly #server: TcpServer;
  readonly #reads: SharedReads;
  readonly #buffers = new PieceBuffers();
  readonly #wholes: WholeBlobs;
  #transfers = 0;
  #port: number | null = null;

  constructor(deps: BlobServerDeps) {
    this.#deps = deps;
    this.#reads = new SharedReads(deps.blobs, HELD_BLOBS);
    this.#wholes = new WholeBlobs(deps.blobs, deps.clock);
    const { limits, onFailure } = deps;
    this.#server = new TcpServer({ limits, onFailure, serve: (served) => this.#serve(served) });
  }

  /** See `TcpServer.listen`. */
  async listen(port: number, host: string, words: { what: string; settings: string }): Promise<number> {
    this.#port = await this.#server.listen(port, host, words);
    return this.#port;
  }

  /** The listening port; null until the server listens. */
  get port(): number | null {
    return this.#port;
  }

  status(): JsonOut {
    return {
      port: this.#port,
      connections: this.#server.connectionCount,
      refused_connections: this.#server.refused,
      transfers: this.#transfers,
    };
  }

  async close(): Promise<void> {
    await this.#server.close();
    this.#wholes.close();
    this.#port = null;
  }

  async #serve(served: Served): Promise<void> {
    const { socket, peer } = served;
    const { clock, bandwidth, blobs, idleMs = IDLE_MS } = this.#deps;
    const wholes = new PeerBlobs(this.#wholes, clock);
    const reader = new SocketReader(socket);
    const messages = new JsonMessages(REQUEST_LIMIT_BYTES);
    const startIdle = (): Timer => clock.after(idleMs, () => socket.destroy());
    let idle = startIdle();
    try {
      for (;;) {
        const bytes = await reader.next();
        if (bytes === null) return;
        bandwidth.received(peer, bytes.length);
        const found = messages.push(bytes);
        if (found === null) continue;
        // QUIRK: lbry-sdk's server accepts no second request before it has answered the first.
        if (found.rest.toString('latin1').trim() !== '') throw new ProtocolError('two requests at once');
        const request = readRequest(found.members);
        await blobs.seek?.([...(request.requestedBlobs ?? []), request.requestedBlob ?? []].flat());
        if (request.requestedBlob === null || !blobs.finished.has(request.requestedBlob)) {
          // A request that does not lead to a transfer does not extend the idle time of the connection.
          if (!(await this.#send(socket, peer, await this.#answer(request, null)))) return;
          continue;
        }
        idle.cancel();
        if (request.requestedBlobs !== null && request.requestedBlobs.length > 1)
          blobs.prepare?.(request.requestedBlobs);
        if (!(await this.#transfer({ ...served, wholes }, request, request.requestedBlob))) return;
        idle = startIdle();
      }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
    } finally {
      idle.cancel();
      wholes.close();
    }
  }

  async #answer(
    { requestedBlobs, asksForRate, asksForAddress }: BlobRequest,
    incomingBlob: { readonly hash: string; readonly lengthBytes: number } | null,
  ): Promise<Buffer | null> {
    const { blobs, address } = this.#deps;
    const shown = asksForAddress ? ((await address()) ?? true) : requestedBlobs === null ? undefined : true;
    return answerBytes({
      ...(incomingBlob !== null && { incomingBlob }),
      acceptsRate: asksForRate,
      ...(requestedBlobs !== null && {
        availableBlobs: [...new Set(requestedBlobs)].filter((hash) => blobs.finished.has(hash)),
      }),
      ...(shown !== undefined && { address: shown }),
    });
  }

  /** Sends the answer. Sends nothing if the request was only for a blob that is missing, as lbry-sdk does. */
  async #send(socket: Served['socket'], peer: string, bytes: Buffer | null): Promise<boolean> {
    if (bytes === null) return true;
    this.#deps.bandwidth.sent(peer, bytes.length);
    return writeBytes(socket, bytes);
  }

  /** Sends a blob. Returns false if the caller must close the connection. */
  async #transfer(peer: Peer, request: BlobRequest, hash: string): Promise<boolean> {
    const { clock, rate, transferMs = TRANSFER_MS } = this.#deps;
    // This timer also limits the wait for free memory.
    const timer = clock.after(transferMs, () => peer.socket.destroy());
    this.#transfers++;
    try {
      const whole = rate.isLimited ? null : await peer.wholes.take(hash);
      if (whole !== null) return await this.#sendWhole(peer, request, hash, whole);
      return await this.#sendInPieces(peer, request, hash);
    } finally {
      this.#transfers--;
      timer.cancel();
    }
  }

  /** Sends the answer and the blob by one call. */
  async #sendWhole(
    { socket, peer, wholes }: Peer,
    request: BlobRequest,
    hash: string,
    { bytes, release }: WholeBlob,
  ): Promise<boolean> {
    let isSent = false;
    try {
      const next = request.requestedBlobs?.find((other) => other !== hash);
      if (next !== undefined) wholes.readAhead(next);
      const answer = (await this.#answer(request, { hash, lengthBytes: bytes.length }))!;
      this.#deps.bandwidth.sent(peer, answer.length + bytes.length);
      socket.cork();
      socket.write(answer);
      const sending = writeBytes(socket, bytes);
      socket.uncork();
      isSent = await sending;
      return isSent;
    } finally {
      // The operating system may still use the memory of an interrupted transfer.
      release(isSent);
    }
  }

  async #sendInPieces(served: Served, request: BlobRequest, hash: string): Promise<boolean> {
    const { socket, peer, closed } = served;
    let open: OpenBlob | null = null;
    try {
      open = await this.#open(hash, closed);
      const incomingBlob = open && { hash, lengthBytes: open.lengthBytes };
      if (!(await this.#send(socket, peer, await this.#answer(request, incomingBlob)))) return false;
      return open === null || (await this.#sendBlob(served, open));
    } finally {
      // The peer's next request does not wait until the file is closed.
      open?.close().catch(this.#deps.onFailure);
    }
  }

  /** Opens a blob. Null if the blob is missing or currently unavailable; the peer then downloads from another source. */
  async #open(hash: string, closed: AbortSignal): Promise<OpenBlob | null> {
    try {
      return await this.#reads.open(hash, closed);
    } catch (error) {
      if (error instanceof BlobUnavailableError) return null;
      throw error;
    }
  }

  /** Sends a blob in pieces. Unless there are many transfers, the next piece is read while the current piece is sent. */
  async #sendBlob(served: Served, blob: OpenBlob): Promise<boolean> {
    let next: PieceRead | null = null;
    for (let at = 0; at < blob.lengthBytes;) {
      const { buffer, reading }: PieceRead = next ?? this.#readPiece(blob, at);
      next = null;
      const piece = await reading;
      at += piece.length;
      const sending = this.#sendPiece(served, piece);
      if (at < blob.lengthBytes && this.#transfers <= READ_AHEAD_TRANSFERS) next = this.#readPiece(blob, at);
      // The operating system may still use the buffer of a piece whose sending was interrupted. Such a buffer is not
      // reused.
      if (!(await sending)) {
        await next?.reading.catch(() => undefined);
        return false;
      }
      this.#buffers.giveBack(buffer);
    }
    return true;
  }

  #readPiece(blob: OpenBlob, at: number): PieceRead {
    let size = PieceBuffers.pieceBytes(this.#transfers);
    // A piece that begins inside a chunk must end in that chunk, because two chunks would need more memory.
    while (at % size !== 0) size /= 2;
    const buffer = this.#buffers.take(size);
    const reading = blob.read(at, size, buffer);
    // The read may fail while the previous piece is being sent; the error is handled at the next await.
    reading.catch(() => undefined);
    return { buffer, reading };
  }

  async #sendPiece({ socket, peer, closed }: Served, piece: Uint8Array): Promise<boolean> {
    const { rate, bandwidth } = this.#deps;
    if (rate.isLimited && !(await rate.take(piece.length, closed))) return false;
    bandwidth.sent(peer, piece.length);
    return writeBytes(socket, piece);
  }
}
