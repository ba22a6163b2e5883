/**
 * Publishes blocks, transactions and claim events by ZeroMQ. Manages the PUB sockets and the sequence number of each
 * notifier. Each address has one socket, which several notifiers may share. Messages have three parts: topic, body, and the
 * sequence number as 4 bytes little endian. If the queue of a subscriber is full, a message is dropped for this subscriber.
 * The subscriber can detect this by the gap in the sequence numbers. Source: lbrycrd zmq/zmqnotificationinterface.cpp,
 * zmqpublishnotifier.cpp.
 */
import type { Publisher } from 'zeromq';
import { formatBlock, parseBlockBytes } from '../primitives/block.js';
import { inNextRound } from '../scheduler/rounds.js';
import type { Bytes } from '../util/bytes.js';
import type { Logger } from '../util/logging.js';
import type { BlockNotice } from './notifications/blockNotice.js';
import type { AddedTransaction, NotificationListener, TipNotice } from './notifications/stream.js';
import { serializedTx } from './notifications/transactionNotice.js';
import { withoutWitness } from '../net/rawTransaction.js';
import { txidAt } from '../primitives/blockView.js';
import { OperatorError } from '../util/text/operatorError.js';

/** Notifier options and their topics, in the order in which the notifiers send one event. */
export const ZMQ_TOPICS = {
  pubhashblock: 'hashblock',
  pubhashtx: 'hashtx',
  pubrawblock: 'rawblock',
  pubrawtx: 'rawtx',
  pubclaim: 'claim',
} as const;
export type ZmqType = keyof typeof ZMQ_TOPICS;

export interface ZmqNotifierOptions {
  readonly type: ZmqType;
  /** ZeroMQ address, such as `tcp://127.0.0.1:28332` or `ipc:///path`. */
  readonly address: string;
  /**
   * Maximum number of messages that wait for a slow subscriber; 0 for no limit. If notifiers share a socket, the largest of
   * their values applies.
   */
  readonly highWaterMark: number;
}

export interface ZmqOptions {
  readonly notifiers: readonly ZmqNotifierOptions[];
  /** Whether raw blocks and transactions include their witness (`-rpcserialversion`). */
  readonly serializeWitness: boolean;
}

/** Error: an address cannot be used. The message is for the operator. */
export class ZmqStartError extends OperatorError {
  override readonly name = 'ZmqStartError';
}

/** Maximum time in ms for which one slice of sending blocks the event loop. */
const SLICE_MS = 10;

interface Notifier extends ZmqNotifierOptions {
  readonly socket: Publisher;
  sequence: number;
}

export class ZmqPublisher implements NotificationListener {
  private notifiers: Notifier[] = [];
  private readonly serializeWitness: boolean;
  private readonly log: Logger;
  /** The block that was connected last. It is kept until the change of the tip is reported. */
  private connected: BlockNotice | null = null;
  /** Messages that are being sent, and behind them the queued messages. */
  private readonly waiting: Generator<void>[] = [];
  private readonly settling: (() => void)[] = [];

  private constructor({ serializeWitness }: ZmqOptions, log: Logger) {
    this.serializeWitness = serializeWitness;
    this.log = log;
  }

  /**
   * Creates a publisher and binds every address. If an address cannot be bound, rejects with `ZmqStartError`, and no address
   * stays bound.
   */
  static async open(options: ZmqOptions, log: Logger): Promise<ZmqPublisher> {
    const publisher = new ZmqPublisher(options, log);
    try {
      await publisher.bind(options.notifiers);
    } catch (error) {
      publisher.close();
      throw error;
    }
    return publisher;
  }

  private async bind(wanted: readonly ZmqNotifierOptions[]): Promise<void> {
    // The package is loaded on demand, because loading it is slow.
    const { Publisher } = await import('zeromq').catch((error: unknown) => {
      throw new ZmqStartError(`ZeroMQ is not available: ${textOf(error)}`);
    });
    const sockets = new Map<string, Publisher>();
    for (const options of wanted) {
      const { type, address } = options;
      let socket = sockets.get(address);
      if (socket) this.log.debug('zmq', `Reusing socket for address ${address}`);
      else {
        socket = new Publisher({
          sendHighWaterMark: highestMark(wanted.filter((other) => other.address === address)),
          // With a timeout of 0 every send succeeds or fails immediately.
          sendTimeout: 0,
          linger: 0,
          ipv6: address.includes('['),
        });
        sockets.set(address, socket);
        await bindTo(socket, options);
      }
      this.notifiers.push({ ...options, socket, sequence: 0 });
      this.log.info(`ZeroMQ: publishing ${ZMQ_TOPICS[type]} at ${address}`);
    }
  }

  /** Returns the notifiers that have not failed. */
  active(): readonly Pick<ZmqNotifierOptions, 'type' | 'address'>[] {
    return this.notifiers.map(({ type, address }) => ({ type, address }));
  }

  blockChanged(block: BlockNotice): void {
    this.publish(this.blockMessages(block));
  }

  /** Creates the messages of a block one by one, so that sending can pause between two messages. */
  private *blockMessages(block: BlockNotice): Generator<void> {
    this.connected = block.isConnected ? block : null;
    for (const tx of this.publishes('pubhashtx', 'pubrawtx') ? block.transactions() : []) {
      this.send('pubhashtx', () => shown(txidAt(block.parsed, tx)));
      this.send('pubrawtx', () => serializedTx(block, tx, this.serializeWitness));
      yield;
    }
    if (!this.publishes('pubclaim')) return;
    for (const { json } of block.claims) {
      this.send('pubclaim', () => Buffer.from(json));
      yield;
    }
  }

  transactionAdded(...added: AddedTransaction): void {
    this.publish(this.transactionMessages(...added));
  }

  private *transactionMessages(...[entry, bytes]: AddedTransaction): Generator<void> {
    this.send('pubhashtx', () => shown(entry.txid));
    this.send('pubrawtx', () => (this.serializeWitness ? bytes : withoutWitness(bytes)));
  }

  /** Publishes a new tip, except during the initial block download. Source: `CZMQNotificationInterface::UpdatedBlockTip`. */
  tipChanged(tip: TipNotice): void {
    this.publish(this.tipMessages(tip));
  }

  private *tipMessages({ id, forkId, hash, initialDownload }: TipNotice): Generator<void> {
    const block = this.connected;
    this.connected = null;
    if (initialDownload || id === forkId) return;
    this.send('pubhashblock', () => shown(hash));
    if (block?.id !== id) return;
    this.send('pubrawblock', () =>
      this.serializeWitness ? block.raw : formatBlock(parseBlockBytes(block.raw), false),
    );
  }

  /**
   * Sends messages immediately, or after the queued messages. A large block is sent in slices, so that it does not block the
   * event loop.
   */
  private publish(messages: Generator<void>): void {
    this.waiting.push(messages);
    if (this.waiting.length === 1) this.sendSlice();
  }

  private sendSlice(untilMs = performance.now() + SLICE_MS): void {
    for (let next = this.waiting[0]; next; next = this.waiting[0]) {
      try {
        while (next.next().done !== true) {
          if (performance.now() < untilMs) continue;
          inNextRound(() => this.sendSlice());
          return;
        }
      } catch (error) {
        this.log.error(`ZeroMQ: a notification failed: ${stackOf(error)}`);
      }
      this.waiting.shift();
    }
    for (const resolve of this.settling.splice(0)) resolve();
  }

  /** Resolves when all messages that are queued at the call are sent. The chain waits for this promise before it continues. */
  settled(): Promise<void> {
    if (this.waiting.length === 0) return Promise.resolve();
    return new Promise((resolve) => this.settling.push(resolve));
  }

  private publishes(...types: ZmqType[]): boolean {
    return this.notifiers.some(({ type }) => types.includes(type));
  }

  private send(type: ZmqType, makeBody: () => Buffer): void {
    let body: Buffer | null = null;
    for (const notifier of this.notifiers) {
      if (notifier.type !== type) continue;
      const sequence = Buffer.alloc(4);
      sequence.writeUInt32LE(notifier.sequence);
      notifier.sequence = (notifier.sequence + 1) >>> 0;
      notifier.socket
        .send([ZMQ_TOPICS[type], (body ??= makeBody()), sequence])
        .catch((error: unknown) => this.give(notifier, error));
    }
  }

  /** Disables a notifier after an error, as in the reference. */
  private give(notifier: Notifier, error: unknown): void {
    if (!this.notifiers.includes(notifier)) return;
    this.log.error(
      `ZeroMQ: publishing ${ZMQ_TOPICS[notifier.type]} at ${notifier.address} is stopped: ${textOf(error)}`,
    );
    this.notifiers = this.notifiers.filter((other) => other !== notifier);
    if (!this.notifiers.some(({ socket }) => socket === notifier.socket)) notifier.socket.close();
  }

  /** Closes the sockets. Messages that subscribers have not read yet are lost. */
  close(): void {
    this.sendSlice(Infinity);
    for (const socket of new Set(this.notifiers.map((notifier) => notifier.socket))) socket.close();
    this.notifiers = [];
  }
}

async function bindTo(socket: Publisher, { type, address }: ZmqNotifierOptions): Promise<void> {
  try {
    await socket.bind(address);
  } catch (error) {
    socket.close();
    throw new ZmqStartError(`Cannot publish at ${address} (-zmq${type}): ${textOf(error)}`);
  }
}

function highestMark(notifiers: readonly ZmqNotifierOptions[]): number {
  const marks = notifiers.map(({ highWaterMark }) => highWaterMark);
  return marks.includes(0) ? 0 : Math.max(...marks);
}

/** Returns a hash in the byte order of its displayed hex text, as ZeroMQ messages contain it. */
function shown(hash: Bytes): Buffer {
  return Buffer.from(hash).reverse();
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
