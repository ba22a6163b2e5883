/**
 * A peer that a test controls: its own socket, framing and handshake. It sends exactly the given bytes, valid or invalid. It
 * shares no code with the node. It answers pings by itself unless `answersPings` is false, and stores all other messages until
 * the test reads them.
 */
import { randomBytes } from 'node:crypto';
import { connect, createServer, type Socket } from 'node:net';
import { HANG_MS } from './node.js';
import { sha256d, u32, version, type VersionFields } from './rawMessages.js';

const MAGIC = Buffer.from('fae4aad1', 'hex');
const HEAD = 24;
/** Protocol version up to which pings are not answered. */
const LAST_WITHOUT_PONG = 60_000;

export interface RawMessage {
  command: string;
  payload: Buffer;
}

export interface FrameChanges {
  magic?: Buffer;
  checksum?: Buffer;
  /** Length in the header instead of the payload's length. */
  length?: number;
}

export function frame(command: string | Buffer, payload: Buffer, changes: FrameChanges = {}): Buffer {
  const name = Buffer.alloc(12);
  name.set(typeof command === 'string' ? Buffer.from(command, 'latin1') : command);
  return Buffer.concat([
    changes.magic ?? MAGIC,
    name,
    u32(changes.length ?? payload.length),
    changes.checksum ?? sha256d(payload).subarray(0, 4),
    payload,
  ]);
}

const NOTHING = Buffer.alloc(0);

export class RawPeer {
  readonly socket: Socket;
  /** Received messages that the test has not read yet, in order, without pings. */
  inbox: RawMessage[] = [];
  answersPings = true;
  isClosed = false;
  /** Number of received bytes. */
  receivedBytes = 0;
  private buffered: Buffer[] = [];
  private bufferedBytes = 0;
  private readonly wakers = new Set<() => void>();

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.take(chunk));
    // A reset counts as an end.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.isClosed = true;
      this.wake();
    });
    socket.on('end', () => socket.end());
  }

  /** Connects and sends nothing. */
  static async open(port: number): Promise<RawPeer> {
    const socket = connect({ port, host: '127.0.0.1' });
    const peer = new RawPeer(socket);
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return peer;
  }

  /** Connects and completes the handshake. */
  static async greet(port: number, fields: VersionFields = {}): Promise<RawPeer> {
    const peer = await RawPeer.open(port);
    await peer.handshake(fields);
    return peer;
  }

  /** The address of this peer in `getpeerinfo`. */
  get address(): string {
    return `127.0.0.1:${this.socket.localPort}`;
  }

  private wake(): void {
    for (const waker of [...this.wakers]) waker();
  }

  private take(chunk: Buffer): void {
    this.receivedBytes += chunk.length;
    this.buffered.push(chunk);
    this.bufferedBytes += chunk.length;
    while (this.bufferedBytes >= HEAD) {
      if (this.buffered[0]!.length < HEAD) this.buffered = [Buffer.concat(this.buffered)];
      const length = this.buffered[0]!.readUInt32LE(16);
      if (this.bufferedBytes < HEAD + length) break;
      const all = Buffer.concat(this.buffered);
      this.receive(all.subarray(0, HEAD + length));
      this.bufferedBytes -= HEAD + length;
      this.buffered = this.bufferedBytes > 0 ? [all.subarray(HEAD + length)] : [];
    }
    this.wake();
  }

  private receive(bytes: Buffer): void {
    const payload = Buffer.from(bytes.subarray(HEAD));
    const command = bytes.toString('latin1', 4, 16).replace(/\0+$/, '');
    const isWhole = sha256d(payload).subarray(0, 4).equals(bytes.subarray(20, HEAD));
    if (!isWhole || !bytes.subarray(0, 4).equals(MAGIC))
      throw new Error(`the node sent a damaged ${command}`);
    if (command !== 'ping') this.inbox.push({ command, payload });
    else if (this.answersPings) this.send('pong', payload);
  }

  send(command: string | Buffer, payload: Buffer = NOTHING, changes?: FrameChanges): void {
    this.sendBytes(frame(command, payload, changes));
  }

  sendBytes(bytes: Buffer): void {
    if (!this.socket.destroyed) this.socket.write(bytes);
  }

  /** Sends. Resolves when the system has accepted the bytes, or the connection has ended. */
  async flood(bytes: Buffer): Promise<void> {
    if (this.socket.destroyed || this.socket.write(bytes)) return;
    await this.until(() => this.isClosed || this.socket.writableLength === 0, 'the node to read', Infinity);
  }

  /** Waits until `holds` returns true. It is called again after bytes were received or sent, and at the end. */
  private async until(holds: () => boolean, what: string, patienceMs = HANG_MS): Promise<void> {
    const end = Date.now() + patienceMs;
    while (!holds()) {
      if (Date.now() > end) throw new Error(`waited ${patienceMs} ms for ${what}; came: ${this.commands()}`);
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          this.wakers.delete(done);
          this.socket.off('drain', done);
          resolve();
        };
        const timer = setTimeout(done, 1000);
        this.socket.once('drain', done);
        this.wakers.add(done);
      });
    }
  }

  commands(): string {
    return this.inbox.map(({ command }) => command).join(' ') || 'nothing';
  }

  /** Resolves to the payload of the next message with the command. Earlier messages with other commands remain stored. */
  async next(command: string): Promise<Buffer> {
    return (await this.nextOf((message) => message.command === command, command)).payload;
  }

  async nextOf(matches: (message: RawMessage) => boolean, what: string): Promise<RawMessage> {
    await this.until(() => this.isClosed || this.inbox.some(matches), what);
    const at = this.inbox.findIndex(matches);
    if (at < 0) throw new Error(`the connection ended before ${what}; came: ${this.commands()}`);
    return this.inbox.splice(at, 1)[0]!;
  }

  /** Exchanges version and verack. Resolves when the node has processed ours. */
  async handshake(fields: VersionFields = {}): Promise<void> {
    this.send('version', version(fields));
    await this.next('version');
    await this.next('verack');
    this.send('verack');
    if ((fields.version ?? Infinity) > LAST_WITHOUT_PONG) await this.handled();
  }

  /** Waits until the node has processed everything that was sent so far. Messages received meanwhile are stored. */
  async handled(): Promise<void> {
    const nonce = randomBytes(8);
    this.send('ping', nonce);
    const isPong = ({ command, payload }: RawMessage): boolean => command === 'pong' && payload.equals(nonce);
    await this.nextOf(isPong, 'pong');
  }

  /** Like `handled`, but returns all stored messages and removes them. */
  async settled(): Promise<RawMessage[]> {
    await this.handled();
    return this.inbox.splice(0);
  }

  /** The messages after a sent message, including those that the node sends by itself. */
  async answersTo(command: string, payload?: Buffer): Promise<RawMessage[]> {
    await this.settled();
    this.send(command, payload);
    return this.settled();
  }

  /** Waits for the node to end the connection. */
  closed(): Promise<void> {
    return this.until(() => this.isClosed, 'the end of the connection');
  }

  close(): void {
    this.socket.destroy();
  }
}

export interface RawListener {
  /** `host:port`, for `addnode`. */
  readonly address: string;
  /** Nodes that connected, in order. */
  next(): Promise<RawPeer>;
  close(): void;
}

/** A scripted peer that accepts connections. */
export async function listen(): Promise<RawListener> {
  const came: RawPeer[] = [];
  const waiting: ((peer: RawPeer) => void)[] = [];
  const server = createServer((socket) => {
    const peer = new RawPeer(socket);
    const waiter = waiting.shift();
    if (waiter) waiter(peer);
    else came.push(peer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const bound = server.address();
  if (bound === null || typeof bound === 'string') throw new Error('no port');
  return {
    address: `127.0.0.1:${bound.port}`,
    next: () => {
      const peer = came.shift();
      return peer ? Promise.resolve(peer) : new Promise((resolve) => waiting.push(resolve));
    },
    close: () => server.close(),
  };
}
