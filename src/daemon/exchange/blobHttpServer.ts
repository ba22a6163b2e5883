/** Serves blobs over HTTP: `GET` and `HEAD /blob?hash=<hash>`. Source: reflector.go server/http/routes.go. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { EnvironmentError } from '../../util/text/environmentError.js';
import { BlobUnavailableError } from '../base/blobUnavailable.js';
import { isBlobHash } from '../content/blobHash.js';
import type { Bandwidth } from './bandwidth.js';
import type { BlobReader, OpenBlob } from './ports.js';
import type { RateLimiter } from './rateLimiter.js';
import { SharedReads } from './sharedReads.js';
import type { ConnectionLimits } from './tcpServer.js';

const HELD_BLOBS = 24;
const PIECE_BYTES = 128 * 1024;
/** Milliseconds within which a request must arrive, and for which a response may make no progress. */
const STEP_MS = 60_000;
/** Value of `Retry-After` in seconds for a blob that is not available at the moment. Arbitrary. */
const RETRY_AFTER_SEC = '30';

export interface BlobHttpDeps {
  readonly blobs: BlobReader;
  readonly limits: () => ConnectionLimits;
  readonly rate: RateLimiter;
  readonly bandwidth: Pick<Bandwidth, 'sent' | 'received'>;
  readonly onFailure: (error: unknown) => void;
}

export class BlobHttpServer {
  readonly #deps: BlobHttpDeps;
  readonly #server: Server;
  readonly #reads: SharedReads;
  #port: number | null = null;

  constructor(deps: BlobHttpDeps) {
    this.#deps = deps;
    this.#reads = new SharedReads(deps.blobs, HELD_BLOBS);
    this.#server = createServer(
      { requestTimeout: STEP_MS, headersTimeout: STEP_MS, keepAliveTimeout: STEP_MS, maxHeaderSize: 16_384 },
      (request, response) => {
        this.#serve(request, response).catch((error: unknown) => {
          deps.onFailure(error);
          response.destroy();
        });
      },
    );
    this.#server.setTimeout(STEP_MS, (socket) => socket.destroy());
  }

  get port(): number | null {
    return this.#port;
  }

  /** Starts to listen. Resolves to the port. Throws `EnvironmentError`. */
  async listen(
    port: number,
    host: string,
    { what, settings }: { what: string; settings: string },
  ): Promise<number> {
    this.#server.maxConnections = this.#deps.limits().total;
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error) =>
        reject(
          new EnvironmentError(
            `The ${what} cannot listen at TCP ${host}:${port}: ${error.message} (${settings}).`,
          ),
        ),
      );
      this.#server.listen(port, host, resolve);
    });
    this.#port = (this.#server.address() as AddressInfo).port;
    return this.#port;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
    this.#server.closeAllConnections();
    await closed;
    this.#port = null;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { blobs } = this.#deps;
    const { method = '', url = '', socket } = request;
    if (!URL.canParse(url, 'http://any')) return void response.writeHead(400).end();
    const { pathname, searchParams } = new URL(url, 'http://any');
    const hash = searchParams.get('hash');
    if (method !== 'GET' && method !== 'HEAD')
      return void response.writeHead(405, { allow: 'GET, HEAD' }).end();
    if (pathname !== '/blob' || !isBlobHash(hash)) return void response.writeHead(404).end();
    await blobs.seek?.([hash]);
    if (!blobs.finished.has(hash)) return void response.writeHead(404).end();
    if (method === 'HEAD') return void response.writeHead(204).end();
    const closed = new AbortController();
    response.once('close', () => closed.abort());
    const blob = await this.#open(hash, closed.signal);
    if (blob === 'unavailable') return void response.writeHead(503, { 'retry-after': RETRY_AFTER_SEC }).end();
    if (blob === null) return void response.writeHead(404).end();
    try {
      response.writeHead(200, {
        'content-type': 'application/octet-stream',
        'content-length': blob.lengthBytes,
        'content-disposition': `filename=${hash}`,
        'cache-control': 'public, max-age=31536000, immutable',
      });
      const peer = `${socket.remoteAddress ?? ''}:${socket.remotePort ?? 0}`;
      await this.#send(response, blob, peer, closed.signal);
    } finally {
      await blob.close();
    }
  }

  async #open(hash: string, closed: AbortSignal): Promise<OpenBlob | null | 'unavailable'> {
    try {
      return await this.#reads.open(hash, closed);
    } catch (error) {
      if (error instanceof BlobUnavailableError) return 'unavailable';
      throw error;
    }
  }

  async #send(response: ServerResponse, blob: OpenBlob, peer: string, closed: AbortSignal): Promise<void> {
    const { rate, bandwidth } = this.#deps;
    for (let at = 0; at < blob.lengthBytes; at += PIECE_BYTES) {
      const piece = await blob.read(at, PIECE_BYTES);
      if (rate.isLimited && !(await rate.take(piece.length, closed))) return;
      bandwidth.sent(peer, piece.length);
      const isTaken = await new Promise<boolean>((resolve) => {
        const onClose = (): void => resolve(false);
        closed.addEventListener('abort', onClose, { once: true });
        response.write(piece, (error) => {
          closed.removeEventListener('abort', onClose);
          resolve(!error);
        });
      });
      if (!isTaken || closed.aborted) return;
    }
    response.end();
  }
}
