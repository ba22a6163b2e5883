/** Peers and HTTP blob servers that violate the protocol of the blob exchange, each in one way. */
import { randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { ScriptedServer } from '../../support/exchangePeers.js';

const BLOB_BYTES = 2 * 1024 * 1024;
/** Length of the announced blobs. */
const LENGTH = 1024 * 1024;
const PIECE = Buffer.alloc(64 * 1024, 0x7b);
/** Pause between the bytes of a slow peer. */
const DRIP_MS = 300;

export interface HostileServer {
  readonly port: number;
  /** Number of requests. */
  readonly requests: () => number;
  /** Number of open connections. */
  readonly connections: () => number;
  close(): Promise<void>;
}

const header = (hash: string, length: number | string): string =>
  `{"blob_data_payment_rate": "RATE_ACCEPTED", "available_blobs": ["${hash}"], "lbrycrd_address": "b", ` +
  `"incoming_blob": {"blob_hash": "${hash}", "length": ${length}}}`;

/** Writes until the peer closes, as fast as the peer reads. Yields between the chunks. */
function pour(socket: Socket | ServerResponse, piece: Buffer = PIECE): void {
  let isOver = false;
  const more = (): void => {
    if (isOver || socket.destroyed) return;
    if (socket.write(piece)) setImmediate(more);
    else socket.once('drain', more);
  };
  socket.once('close', () => (isOver = true));
  more();
}

/** Writes one byte at a time with pauses, until the peer closes. */
function drip(socket: Socket | ServerResponse): void {
  const timer = setInterval(() => socket.write('x'), DRIP_MS);
  socket.on('close', () => clearInterval(timer));
}

/** By name: the reaction to a request for the blob. */
export const PEER_VIOLATIONS: Readonly<Record<string, (socket: Socket, hash: string) => void>> = {
  'wrong bytes': (socket, hash) => {
    socket.write(header(hash, LENGTH));
    socket.write(randomBytes(LENGTH));
  },
  'more bytes than announced': (socket, hash) => {
    socket.write(header(hash, LENGTH));
    socket.write(randomBytes(LENGTH + 1_000_000));
  },
  'bytes without end after the blob': (socket, hash) => {
    socket.write(header(hash, LENGTH));
    pour(socket);
  },
  'an answer without end': (socket) => pour(socket),
  'a name without end': (socket) => {
    socket.write('{"');
    pour(socket);
  },
  'blanks without end': (socket) => pour(socket, Buffer.alloc(64 * 1024, ' ')),
  'bytes one by one': (socket, hash) => {
    socket.write(header(hash, LENGTH));
    drip(socket);
  },
  'an answer byte by byte': (socket) => drip(socket),
  'half of the blob': (socket, hash) => {
    socket.write(header(hash, LENGTH));
    socket.end(randomBytes(LENGTH >> 1));
  },
  'an empty blob': (socket, hash) => void socket.write(header(hash, 0)),
  'a negative length': (socket, hash) => void socket.write(header(hash, -16)),
  'a length above a blob': (socket, hash) => {
    socket.write(header(hash, BLOB_BYTES + 1));
    pour(socket);
  },
  'a length beyond numbers': (socket, hash) => void socket.write(header(hash, '1e999')),
  'a length in text': (socket, hash) => void socket.write(header(hash, '"2097152"')),
  'another blob': (socket, hash) => void socket.write(header(`${hash.slice(1)}0`, LENGTH)),
  'lists within lists': (socket) => void socket.write(`{"a":${'['.repeat(8000)}`),
  silence: () => undefined,
  'a closed connection': (socket) => void socket.destroy(),
};

/** A peer that violates the protocol by one of `PEER_VIOLATIONS` at each request. */
export async function hostilePeer(violation: string): Promise<HostileServer> {
  const act = PEER_VIOLATIONS[violation]!;
  const server = new ScriptedServer((socket, text) => {
    const hash = /"requested_blob": "([0-9a-f]{96})"/.exec(text)?.[1];
    if (hash !== undefined) act(socket, hash);
  });
  const port = await server.listen();
  return {
    port,
    requests: () => server.requests.length,
    connections: () => server.open,
    close: () => server.close(),
  };
}

/** A small compressed body that expands to 300 MB. */
let bomb: Buffer | undefined;

export const HTTP_VIOLATIONS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  'wrong bytes over HTTP': (response) => void response.end(randomBytes(LENGTH)),
  'a body without end': (response) => pour(response),
  'a compressed body without end': (response) => {
    response.setHeader('content-encoding', 'gzip');
    bomb ??= gzipSync(Buffer.alloc(300_000_000));
    response.end(bomb);
  },
  'a body byte by byte': (response) => {
    response.writeHead(200);
    drip(response);
  },
  'a body shorter than its length': (response) => {
    response.writeHead(200, { 'content-length': LENGTH });
    response.write(randomBytes(LENGTH >> 1), () => response.destroy());
  },
  'a header without end': (response) => pour(response.socket!, Buffer.from(`x: ${'y'.repeat(60_000)}\r\n`)),
  'redirections without end': (response) => {
    response.writeHead(302, { location: response.req.url });
    response.end();
  },
  'an error with a body without end': (response) => {
    response.writeHead(500);
    pour(response);
  },
  'a missing blob with a body without end': (response) => {
    response.writeHead(404);
    pour(response);
  },
  'no answer': () => undefined,
};

/** An HTTP blob server that violates the protocol by one of `HTTP_VIOLATIONS` at each request. */
export async function hostileHttpServer(violation: string): Promise<HostileServer> {
  const act = HTTP_VIOLATIONS[violation]!;
  const sockets = new Set<Socket>();
  let requests = 0;
  const server = createServer((_request, response) => {
    requests++;
    response.on('error', () => undefined);
    act(response);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    requests: () => requests,
    connections: () => sockets.size,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** A peer that follows the protocol and has the given blobs, with any content. */
export async function blobPeer(blobs: ReadonlyMap<string, Uint8Array>): Promise<HostileServer> {
  const server = new ScriptedServer((socket, text) => {
    const hash = /"requested_blob": "([0-9a-f]{96})"/.exec(text)?.[1];
    const bytes = hash === undefined ? undefined : blobs.get(hash);
    if (bytes === undefined) {
      socket.write(
        '{"blob_data_payment_rate": "RATE_ACCEPTED", "available_blobs": [], "lbrycrd_address": "b"}',
      );
      return;
    }
    socket.write(header(hash!, bytes.length));
    socket.write(bytes);
  });
  const port = await server.listen();
  return {
    port,
    requests: () => server.requests.length,
    connections: () => server.open,
    close: () => server.close(),
  };
}
