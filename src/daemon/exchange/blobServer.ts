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

export class BlobServer {
  readonly #deps: BlobServerDeps;
  readonly #server: TcpServer;
  readonly #reads: SharedReads;
  readonly #buffers = new PieceBuffers();
  #transfers = 0;
  #port: number | null = null;

  constructor(deps: BlobServerDeps) {
    this.#deps = deps;
    this.#reads = new SharedReads(deps.blobs, HELD_BLOBS);
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
    this.#port = null;
  }

  async #serve({ socket, peer, closed }: Served): Promise<void> {
    const { clock, bandwidth, blobs, idleMs = IDLE_MS } = this.#deps;
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
        if (request.requestedBlobs !== null && request.requestedBlobs.length > 1) {
          blobs.prepare?.(request.requestedBlobs);
          blobs.verifyAhead?.(request.requestedBlobs.filter((hash) => hash !== request.requestedBlob));
        }
        if (!(await this.#transfer({ socket, peer, closed }, request, request.requestedBlob))) return;
        idle = startIdle();
      }
    } catch (error) {
      if (!(error instanceof ProtocolError)) throw error;
    } finally {
      idle.cancel();
    }
  }

  async #answer(
    { requestedBlobs, asksForRate, asksForAddress }: BlobRequest,
    blob: readonly [hash: string, open: OpenBlob] | null,
  ): Promise<Buffer | null> {
    const { blobs, address } = this.#deps;
    const shown = asksForAddress ? ((await address()) ?? true) : requestedBlobs === null ? undefined : true;
    return answerBytes({
      ...(blob !== null && { incomingBlob: { hash: blob[0], lengthBytes: blob[1].lengthBytes } }),
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
  async #transfer(served: Served, request: BlobRequest, hash: string): Promise<boolean> {
    const { clock, transferMs = TRANSFER_MS } = this.#deps;
    const { socket, peer, closed } = served;
    // This timer also limits the wait for free memory.
    const timer = clock.after(transferMs, () => socket.destroy());
    let open: OpenBlob | null = null;
    this.#transfers++;
    try {
      open = await this.#open(hash, closed);
      if (!(await this.#send(socket, peer, await this.#answer(request, open && [hash, open])))) return false;
      return open === null || (await this.#sendBlob(served, open));
    } finally {
      this.#transfers--;
      timer.cancel();
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
