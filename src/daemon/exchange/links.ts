/** Interface of connections to peers, and its implementation over TCP. Tests use simulated connections and simulated time. */
import { connect } from 'node:net';
import { writeBytes } from './tcpServer.js';

export interface LinkEvents {
  /** Called with received bytes, which are valid only during the call. */
  onData(bytes: Buffer): void;
  /** Returns the buffer for the next bytes. Null selects a buffer of the link. */
  target?(): Buffer | null;
  /** Called once when this side or the other side has closed the connection. */
  onClose(): void;
}

export interface Link {
  /** Resolves to true when the system accepted the bytes, or to false when the link is closed. Never rejects. */
  send(bytes: Uint8Array): Promise<boolean>;
  /** Pauses reading, which slows the peer down. */
  pause(): void;
  resume(): void;
  close(): void;
}

export interface BlobPlace {
  /** Address or host name of the peer. */
  readonly host: string;
  readonly port: number;
}

export const placeText = ({ host, port }: BlobPlace): string => `${host}:${port}`;

/** Number of bytes read at a time. Arbitrary. A smaller buffer would need more reads for a blob. */
const READ_BYTES = 128 * 1024;

/** Opens a connection. Rejects if the connection fails or the signal aborts; after a rejection no event is called. */
export type Dial = (place: BlobPlace, events: LinkEvents, signal: AbortSignal) => Promise<Link>;

export const dialTcp: Dial = ({ host, port }, events, signal) =>
  new Promise((resolve, reject) => {
    signal.throwIfAborted();
    // Shared buffer for all reads. Allocating a buffer for each read would dominate the work of the event loop.
    const shared = Buffer.allocUnsafeSlow(READ_BYTES);
    const onread = {
      buffer: (): Buffer => events.target?.() ?? shared,
      callback: (count: number, buffer: Uint8Array): boolean => {
        events.onData((buffer as Buffer).subarray(0, count));
        return true;
      },
    };
    const socket = connect({ host, port, noDelay: true, onread });
    const abort = (): void => void socket.destroy(new Error('the connection was aborted'));
    signal.addEventListener('abort', abort, { once: true });
    socket.once('error', reject);
    socket.once('connect', () => {
      signal.removeEventListener('abort', abort);
      socket.off('error', reject);
      socket.on('error', () => undefined);
      socket.once('close', () => events.onClose());
      resolve({
        send: (bytes) => writeBytes(socket, bytes),
        pause: () => void socket.pause(),
        resume: () => void socket.resume(),
        close: () => void socket.destroy(),
      });
    });
    socket.once('close', () => signal.removeEventListener('abort', abort));
  });
