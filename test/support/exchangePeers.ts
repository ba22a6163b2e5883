/** Blobs in memory and scripted peers over loopback, for tests of the blob exchange. */
import { randomBytes } from 'node:crypto';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { blobHashOf } from '../../src/daemon/content/blobHash.js';
import type { ReceivedBlob } from '../../src/daemon/content/incomingBlob.js';
import type { BlobKeeper } from '../../src/daemon/exchange/ports.js';

export class MemoryBlobs implements BlobKeeper {
  readonly blobs = new Map<string, Uint8Array>();
  readonly finished = new Set<string>();
  reads = 0;

  /** A new blob of random bytes. */
  add(sizeBytes: number): string {
    return this.put(randomBytes(sizeBytes));
  }

  put(bytes: Uint8Array): string {
    const hash = blobHashOf(bytes);
    this.blobs.set(hash, bytes);
    this.finished.add(hash);
    return hash;
  }

  read(hash: string): Promise<Uint8Array | null> {
    this.reads++;
    return Promise.resolve(this.finished.has(hash) ? this.blobs.get(hash)! : null);
  }

  receive(hash: string, blob: ReceivedBlob): Promise<boolean> {
    if (blobHashOf(blob.bytes) !== hash) return Promise.resolve(false);
    this.put(blob.bytes);
    return Promise.resolve(true);
  }
}

/** A raw connection from which a test reads bytes. */
export class RawPeer {
  readonly socket: Socket;
  private received: Buffer[] = [];
  private isClosed = false;
  private wake: () => void = () => undefined;

  constructor(port: number, host = '127.0.0.1') {
    this.socket = connect(port, host);
    this.socket.setNoDelay(true);
    this.socket.on('error', () => undefined);
    this.socket.on('data', (bytes) => {
      this.received.push(bytes as Buffer);
      this.wake();
    });
    this.socket.on('close', () => {
      this.isClosed = true;
      this.wake();
    });
  }

  send(text: string | Uint8Array): void {
    this.socket.write(text);
  }

  /** Resolves to the next `count` bytes when they have arrived, and removes them. */
  async take(count: number): Promise<Buffer> {
    await this.until(() => this.size >= count);
    const all = Buffer.concat(this.received);
    this.received = [all.subarray(count)];
    return all.subarray(0, count);
  }

  /** The next JSON object. Its end is found by its braces. */
  async takeJson(): Promise<Record<string, unknown>> {
    let text = '';
    for (;;) {
      text += (await this.take(1)).toString('latin1');
      if (!text.endsWith('}')) continue;
      try {
        return JSON.parse(text) as Record<string, unknown>;
      } catch {
        // The object is not complete yet.
      }
    }
  }

  private get size(): number {
    return this.received.reduce((sum, { length }) => sum + length, 0);
  }

  /** Resolves to all bytes that arrived before the peer closed. */
  async untilClosed(): Promise<Buffer> {
    await this.until(() => this.isClosed);
    return Buffer.concat(this.received);
  }

  private async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.isClosed) throw new Error(`closed after ${this.size} bytes`);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }

  close(): void {
    this.socket.destroy();
  }
}

/** A server that handles each connection by a function of the test. */
export class ScriptedServer {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  /** All requests as texts, in order. */
  readonly requests: string[] = [];
  connections = 0;

  /** `onRequest` receives each chunk. */
  constructor(onRequest: (socket: Socket, text: string, server: ScriptedServer) => void) {
    this.server = createServer({ noDelay: true }, (socket) => {
      this.connections++;
      this.sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.sockets.delete(socket));
      socket.on('data', (bytes) => {
        const text = bytes.toString('latin1');
        this.requests.push(text);
        onRequest(socket, text, this);
      });
    });
  }

  /** Number of open connections. */
  get open(): number {
    return this.sockets.size;
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => {
      this.server.listen(0, '127.0.0.1', resolve);
    });
    return (this.server.address() as AddressInfo).port;
  }

  close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    return new Promise((resolve) => {
      this.server.close(() => resolve());
    });
  }
}
