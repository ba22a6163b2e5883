/**
 * Connection to a hub: JSON lines over TCP, numbered calls, and notifications. It ends when the hub sends an invalid
 * message, too much data at once, or nothing for too long. Source: lbry-sdk lbry/wallet/network.py `ClientSession`.
 */
import { connect, type Socket } from 'node:net';
import { decodeUtf8InSlices, JsonScanner, MAX_JSON_VALUES } from '../../../util/json/jsonParse.js';
import { toPlain } from '../../../util/json/json.js';
import { joinHostPort, type HostPort } from '../../../util/network/hostPort.js';
import { LineReader } from '../../../util/text/lineReader.js';
import { SerialQueue } from '../../../scheduler/serialQueue.js';
import { inSlices } from '../../../scheduler/slices.js';
import { AT_ONCE_SIZE } from '../../../util/slices.js';
import { HubGone, HubLie, HubRefusal } from './hubErrors.js';

export interface HubLimits {
  /** Time limit in ms for connecting. */
  readonly connectTimeoutMs: number;
  /** Milliseconds for which a hub may send nothing during a call, and within which each call must be answered. */
  readonly callTimeoutMs: number;
  /** Milliseconds without traffic after which the hub is pinged. */
  readonly keepAliveMs: number;
  /** Maximum number of concurrent calls to a hub; further calls wait. */
  readonly concurrency: number;
  readonly maxLineBytes: number;
}

/**
 * The time limits and the concurrency are those of lbry-sdk. `maxLineBytes` is arbitrary, above the size of any history or
 * of 100 transactions.
 */
export const HUB_LIMITS: HubLimits = {
  connectTimeoutMs: 6_000,
  callTimeoutMs: 30_000,
  keepAliveMs: 60_000,
  concurrency: 32,
  maxLineBytes: 64 << 20,
};

export type HubParams = readonly unknown[] | Readonly<Record<string, unknown>>;

export interface HubListener {
  notified(method: string, params: readonly unknown[]): void;
  /** Called once. */
  ended(reason: Error): void;
}

interface Call {
  readonly text: string;
  /** Send time of the call, and the total time since then in which lines that may be its response were arriving. */
  sentMs: number;
  arrivingMs: number;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Minimum rate in bytes per second at which a line counts as being received. Arbitrary. */
const LEAST_BYTES_PER_SEC = 1024;
/** Maximum time for receiving a response, as a multiple of `callTimeoutMs`. Arbitrary: 64 MiB at 200 KiB/s. */
const MAX_ARRIVING = 10;

/** Protocol version that is sent to hubs (lbry-sdk `__version__` 0.113.0), and the lowest version of a hub. */
const PROTOCOL = '0.113.0';
const LEAST_PROTOCOL = [0, 65, 0] as const;

async function parseLine(line: Buffer): Promise<unknown> {
  if (line.length <= AT_ONCE_SIZE * 4) return JSON.parse(line.toString('utf8'));
  const text = await inSlices(decodeUtf8InSlices(line));
  if (text === null) throw new Error('no UTF-8');
  const scanner = new JsonScanner(text, MAX_JSON_VALUES);
  const value = await inSlices(scanner.readValueInSlices());
  if (!scanner.atEnd()) throw new Error('more than one value');
  return toPlain(value);
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export class HubSession {
  readonly server: HostPort;
  readonly name: string;
  /** Features that the hub reported (`server.features`). */
  features: Readonly<Record<string, unknown>> = {};
  /** Latency of the hub's first response in seconds. */
  latencySec = 0;
  readonly #socket: Socket;
  readonly #limits: HubLimits;
  readonly #lines: LineReader;
  readonly #order = new SerialQueue();
  readonly #calls = new Map<number, Call>();
  readonly #waiting: Call[] = [];
  readonly #timer: NodeJS.Timeout;
  #listener: HubListener | null = null;
  #lastId = 0;
  #receivedMs = performance.now();
  #ended: Error | null = null;
  /** Number of bytes that were read and wait to be parsed. */
  #heldBytes = 0;
  #watchedMs = performance.now();
  #watchedLineBytes = 0;

  private constructor(socket: Socket, server: HostPort, limits: HubLimits) {
    this.server = server;
    this.name = joinHostPort(server);
    this.#socket = socket;
    this.#limits = limits;
    this.#lines = new LineReader(limits.maxLineBytes);
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', (error) =>
      this.end(new HubGone(`The connection to the hub ${this.name} failed: ${error.message}`)),
    );
    socket.on('close', () => this.end(new HubGone(`The hub ${this.name} closed the connection`)));
    this.#timer = setInterval(() => this.#watch(), Math.max(10, Math.min(1000, limits.callTimeoutMs / 4)));
    this.#timer.unref();
  }

  /**
   * Connects, and checks the hub's protocol version and its genesis block (hex as printed). Throws `HubGone` and `HubLie`.
   */
  static async open(server: HostPort, genesis: string, limits: HubLimits): Promise<HubSession> {
    const session = new HubSession(await dial(server, limits.connectTimeoutMs), server, limits);
    try {
      await session.#greet(genesis);
      return session;
    } catch (error) {
      session.end(error as Error);
      if (error instanceof HubRefusal)
        throw new HubGone(`The hub ${session.name} refused the connection: ${error.message}`);
      throw error;
    }
  }

  async #greet(genesis: string): Promise<void> {
    const startMs = performance.now();
    const version = await this.call('server.version', [`LBRY SDK ${PROTOCOL}`, PROTOCOL]);
    this.latencySec = (performance.now() - startMs) / 1000;
    const spoken = Array.isArray(version) ? String(version[1]).split('.').map(Number) : [];
    if (!(compareVersions(spoken, LEAST_PROTOCOL) >= 0))
      throw new HubGone(
        `The hub ${this.name} uses the protocol version ${String(spoken.join('.'))}, which is too old`,
      );
    const features = await this.call('server.features', []);
    if (!isObject(features)) throw new HubLie(`The hub ${this.name} sent invalid features`);
    if (features['genesis_hash'] !== genesis)
      throw new HubLie(
        `The hub ${this.name} serves another chain: its genesis block is ` +
          `${String(features['genesis_hash']).slice(0, 64)}, ours ${genesis}`,
      );
    this.features = features;
  }

  /** Sets the listener for notifications. Notifications that arrived before are lost. */
  listen(listener: HubListener): void {
    this.#listener = listener;
    if (this.#ended) listener.ended(this.#ended);
  }

  get isOpen(): boolean {
    return this.#ended === null;
  }

  call(method: string, params: HubParams): Promise<unknown> {
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => {
      const text = JSON.stringify({ method, params }).slice(1);
      this.#waiting.push({ text, sentMs: 0, arrivingMs: 0, resolve, reject });
      this.#send();
    });
  }

  #send(): void {
    while (this.#calls.size < this.#limits.concurrency) {
      const call = this.#waiting.shift();
      if (!call) return;
      const id = ++this.#lastId;
      call.sentMs = performance.now();
      if (this.#calls.size === 0) this.#receivedMs = call.sentMs;
      this.#calls.set(id, call);
      this.#socket.write(`{"jsonrpc":"2.0","id":${id},${call.text}\n`);
    }
  }

  #watch(): void {
    const nowMs = performance.now();
    this.#watchCalls(nowMs);
    if (this.#ended) return;
    const silentMs = nowMs - this.#receivedMs;
    if (this.#calls.size > 0) {
      if (silentMs > this.#limits.callTimeoutMs && this.#heldBytes === 0)
        this.end(new HubGone(`The hub ${this.name} sent nothing for ${Math.round(silentMs / 1000)} seconds`));
    } else if (silentMs > this.#limits.keepAliveMs) this.call('server.ping', []).catch(() => undefined);
  }

  /**
   * Checks the time limits of the calls. The limit of each call starts when it is sent, independent of other messages. While
   * a response arrives, its time limit is extended.
   */
  #watchCalls(nowMs: number): void {
    const passedMs = nowMs - this.#watchedMs;
    const lineBytes = this.#lines.heldBytes;
    const grownBytes = lineBytes - this.#watchedLineBytes;
    const isArriving = this.#heldBytes > 0 || grownBytes * 1000 >= LEAST_BYTES_PER_SEC * passedMs;
    this.#watchedMs = nowMs;
    this.#watchedLineBytes = lineBytes;
    const { callTimeoutMs } = this.#limits;
    for (const call of this.#calls.values()) {
      if (isArriving) call.arrivingMs += Math.min(passedMs, nowMs - call.sentMs);
      const arrivingMs = Math.min(call.arrivingMs, callTimeoutMs * MAX_ARRIVING);
      if (nowMs - call.sentMs - arrivingMs <= callTimeoutMs) continue;
      const seconds = Math.round((nowMs - call.sentMs) / 1000);
      this.end(new HubGone(`The hub ${this.name} did not answer a request for ${seconds} seconds`));
      return;
    }
  }

  #receive(chunk: Buffer): void {
    if (this.#ended) return;
    this.#receivedMs = performance.now();
    this.#lines.push(chunk);
    for (let line = this.#lines.next(); line !== null; line = this.#lines.next()) this.#take(line);
    if (this.#lines.isTooLong)
      this.end(
        new HubLie(
          `The hub ${this.name} sent an answer of more than ${this.#limits.maxLineBytes >> 20} MiB, which is too large`,
        ),
      );
  }

  #take(line: Buffer): void {
    const { length } = line;
    this.#heldBytes += length;
    if (this.#heldBytes > this.#limits.maxLineBytes) this.#socket.pause();
    void this.#order.run(async () => {
      try {
        if (!this.#ended) this.#message(await parseLine(line));
      } catch {
        this.end(new HubLie(`The hub ${this.name} sent invalid JSON`));
      }
      this.#heldBytes -= length;
      if (this.#heldBytes <= this.#limits.maxLineBytes) this.#socket.resume();
    });
  }

  #message(message: unknown): void {
    if (Array.isArray(message)) {
      for (const one of message) this.#message(one);
      return;
    }
    if (!isObject(message)) throw new Error('no object');
    const { method, params, id } = message;
    if (typeof method === 'string') {
      if (Array.isArray(params)) this.#listener?.notified(method, params as unknown[]);
      return;
    }
    const call = typeof id === 'number' ? this.#calls.get(id) : undefined;
    if (!call) return;
    this.#calls.delete(id as number);
    const { error } = message;
    if (isObject(error)) call.reject(new HubRefusal(Number(error['code']) || 0, String(error['message'])));
    else call.resolve(message['result'] ?? null);
    this.#send();
  }

  /** Ends the connection. Pending calls reject with the reason. */
  end(reason: Error): void {
    if (this.#ended) return;
    this.#ended = reason;
    clearInterval(this.#timer);
    this.#socket.destroy();
    for (const call of [...this.#calls.values(), ...this.#waiting.splice(0)]) call.reject(reason);
    this.#calls.clear();
    this.#listener?.ended(reason);
  }
}

function compareVersions(version: readonly number[], least: readonly number[]): number {
  for (const [n, wanted] of least.entries()) {
    const part = version[n] ?? 0;
    if (part !== wanted) return part - wanted;
  }
  return 0;
}

function dial({ host, port }: HostPort, timeoutMs: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port });
    const name = joinHostPort({ host, port });
    const fail = (reason: string): void => {
      clearTimeout(timer);
      socket.destroy();
      reject(new HubGone(`The hub ${name} cannot be reached: ${reason}`));
    };
    const timer = setTimeout(() => fail(`no answer in ${timeoutMs / 1000} seconds`), timeoutMs);
    const failed = (error: Error): void => fail(error.message);
    socket.once('error', failed);
    socket.once('connect', () => {
      clearTimeout(timer);
      socket.off('error', failed);
      resolve(socket);
    });
  });
}
