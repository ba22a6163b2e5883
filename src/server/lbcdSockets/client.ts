/**
 * One WebSocket client of lbcd's protocol: its authentication, its calls and its subscriptions. Enforces the client's
 * limits: concurrent calls, queued bytes, and the time to authenticate. Source: lbcd rpcwebsocket.go `wsClient`.
 */
import { randomBytes } from 'node:crypto';
import type { WebSocket } from 'ws';
import type { RpcDispatcher, RpcReply } from '../../rpc/call/dispatch.js';
import { RPC_ERROR, RpcError, rpcError } from '../../rpc/declare/errors.js';
import { AT_ONCE_BYTES, checkBatchSyntax, readElement, readWhole } from '../../rpc/call/requestText.js';
import type { RpcServices } from '../../interfaces/services.js';
import type { AddressPrefixes } from '../../script/address.js';
import { JsonObject, isJsonNumber, type JsonValue } from '../../util/json/json.js';
import { decodeUtf8, decodeUtf8InSlices, JsonParseError, JsonScanner } from '../../util/json/jsonParse.js';
import { stringifyJson } from '../../util/json/jsonStream.js';
import { type JsonOut } from '../../util/json/jsonWrite.js';
import type { JobQueue } from '../../scheduler/jobQueue.js';
import type { Logger } from '../../util/logging.js';
import { inSlices } from '../../scheduler/slices.js';
import { CallOrigin } from './callOrigin.js';
import { commandHelp, commandUsages, isCommand, runCommand, type CommandClient } from './commands.js';
import { relevantTransaction, relevantTxAccepted, type NotedBlock } from './notices.js';
import { Outgoing } from './outgoing.js';
import { readCommandParams } from './parameters.js';
import { tellSpenders } from './spenders.js';
import type { WatchedTransaction } from './watchedTransaction.js';
import { WatchLimitError, Watches, type WatchCount } from './watches.js';

/** Maximum milliseconds for a client to close the connection after a close message. */
const CLOSE_GRACE_MS = 2000;
/** WebSocket close codes. Codes from 4000 on are defined by this program. */
export const CLOSE_CODE = { goingAway: 1001, refused: 1008, tooSlow: 4000 } as const;

const AUTHENTICATE_PARAMS = [
  { name: 'username', kind: 'string' },
  { name: 'passphrase', kind: 'string' },
] as const;

export interface LbcdClientLimits {
  /** Maximum number of concurrent calls of one client. */
  readonly maxConcurrent: number;
  /** Maximum number of bytes that wait to be sent to the client. */
  readonly maxQueueBytes: number;
  /** Maximum milliseconds after the connection within which a client must authenticate. */
  readonly authenticateMs: number;
}

export interface LbcdClientDeps {
  readonly dispatcher: RpcDispatcher;
  readonly services: RpcServices;
  readonly prefixes: AddressPrefixes;
  readonly queue: JobQueue;
  readonly watchCount: WatchCount;
  readonly logger: Logger;
}

/** The remote side of a WebSocket connection. */
export interface SocketCaller {
  /** Address and port of the client, for the log. */
  readonly peer: string;
  /** Whether the request that opened the connection had a correct `Authorization` header. */
  readonly isKnown: boolean;
  /** Checks the value of an `Authorization` header. */
  authenticate(authorization: string): Promise<boolean>;
}

/** Thrown if the client must be disconnected, because it did not authenticate or authenticated twice. */
class Disconnect extends Error {}

type Reply = string | AsyncIterable<string>;

/** The members of a request that the reply repeats: the JSON-RPC version and the id. */
interface Head {
  readonly version: '1.0' | '2.0';
  readonly id: JsonValue;
}

export class LbcdClient implements CommandClient {
  readonly sessionId = String(randomBytes(6).readUIntBE(0, 6) + 1);
  readonly watches: Watches;
  wantsBlocks = false;
  wantsTransactions: CommandClient['wantsTransactions'] = 'no';
  private readonly socket: WebSocket;
  private readonly caller: SocketCaller;
  private readonly limits: LbcdClientLimits;
  private readonly deps: LbcdClientDeps;
  private readonly outgoing: Outgoing;
  private readonly goneControl = new AbortController();
  private isKnown: boolean;
  private isAlive = true;
  private running = 0;
  private arrived: Buffer[] = [];
  private readonly tooLate: NodeJS.Timeout | null;

  constructor(socket: WebSocket, caller: SocketCaller, limits: LbcdClientLimits, deps: LbcdClientDeps) {
    this.socket = socket;
    this.caller = caller;
    this.limits = limits;
    this.deps = deps;
    this.watches = new Watches(deps.watchCount);
    this.isKnown = caller.isKnown;
    this.outgoing = new Outgoing(socket, limits.maxQueueBytes, {
      onTooSlow: () =>
        this.drop(`more than ${limits.maxQueueBytes} bytes are queued for it`, CLOSE_CODE.tooSlow),
      onTaken: () => (this.isAlive = true),
      onFailure: (error) => {
        if (!this.isGone)
          deps.logger.debug('http', () => `The response to ${caller.peer} was interrupted: ${String(error)}`);
        socket.terminate();
      },
    });
    const late = (): void => this.drop('it did not authenticate in time', CLOSE_CODE.refused);
    this.tooLate = this.isKnown ? null : setTimeout(late, limits.authenticateMs);
    socket.on('pong', () => (this.isAlive = true));
    socket.on('message', (data: Buffer) => this.receive(data));
    socket.once('close', () => this.leave());
  }

  get isGone(): boolean {
    return this.socket.readyState !== this.socket.OPEN;
  }

  notify(text: string): void {
    if (!this.isGone) this.outgoing.push(text);
  }

  /** Sends a long notification. It is serialized piece by piece while it is sent. */
  notifyInPieces(pieces: () => AsyncIterable<string>, sizeBytes: number): void {
    if (!this.isGone) this.outgoing.push(pieces(), sizeBytes);
  }

  drained(): Promise<void> {
    return this.outgoing.drained();
  }

  /** Matches a transaction against the watched items, and notifies the client. `block` is null for a mempool transaction. */
  look(transaction: WatchedTransaction, block: NotedBlock | null): void {
    this.withinLimit(() => {
      if (this.watches.isEmpty) return;
      const { redeems, receives, outputs } = this.watches.look(transaction, block !== null);
      const place = block && { block, index: transaction.index };
      if (redeems) this.notify(relevantTransaction('redeemingtx', transaction.hex, place));
      if (outputs.length > 0) tellSpenders(this, outputs, this.deps.services);
      if (receives) this.notify(relevantTransaction('recvtx', transaction.hex, place));
    });
  }

  /** Matches a new mempool transaction against the client's transaction filter, and notifies the client. */
  filter(transaction: WatchedTransaction): void {
    this.withinLimit(() => {
      if (this.watches.filters(transaction)) this.notify(relevantTxAccepted(transaction.hex));
    });
  }

  /** The transactions of a block, as hex, that match the client's transaction filter. */
  filtered(transactions: Iterable<WatchedTransaction>): string[] {
    const found: string[] = [];
    if (this.watches.hasFilter) {
      this.withinLimit(() => {
        for (const transaction of transactions)
          if (this.watches.filters(transaction)) found.push(transaction.hex);
      });
    }
    return found;
  }

  /** Closes the connection, and terminates it if the client does not respond. */
  close(code: number, reason: string): void {
    if (this.isGone) return;
    this.socket.close(code, reason);
    this.leave();
    const cut = setTimeout(() => this.socket.terminate(), CLOSE_GRACE_MS);
    this.socket.once('close', () => clearTimeout(cut));
  }

  /** Sends a ping. Disconnects the client if it has sent nothing since the previous ping. */
  checkLife(): void {
    if (!this.isAlive) {
      this.deps.logger.info(`WebSocket client ${this.caller.peer} does not answer pings: disconnected`);
      this.socket.terminate();
      return;
    }
    this.isAlive = false;
    this.socket.ping();
  }

  private drop(why: string, code: number): void {
    if (this.isGone) return;
    this.deps.logger.info(`WebSocket client ${this.caller.peer} disconnected: ${why}`);
    this.close(code, why);
  }

  private leave(): void {
    if (this.tooLate !== null) clearTimeout(this.tooLate);
    this.goneControl.abort();
    this.watches.clear();
    this.wantsBlocks = false;
    this.wantsTransactions = 'no';
    this.arrived = [];
    this.outgoing.clear();
  }

  /** Runs a match, which can add outputs to the watched items. Disconnects the client if too many items are watched. */
  private withinLimit(look: () => void): void {
    try {
      look();
    } catch (error) {
      if (!(error instanceof WatchLimitError)) throw error;
      this.drop(error.message, CLOSE_CODE.tooSlow);
    }
  }

  private receive(data: Buffer): void {
    this.isAlive = true;
    this.arrived.push(data);
    this.startNext();
  }

  /** Starts queued calls up to the limit of concurrent calls. Further data stays unread in the connection. */
  private startNext(): void {
    const max = this.isKnown ? this.limits.maxConcurrent : 1;
    while (this.running < max) {
      const data = this.arrived.shift();
      if (data === undefined) break;
      this.running++;
      void this.serve(data).finally(() => {
        this.running--;
        if (this.isGone) return;
        this.startNext();
      });
    }
    if (this.isGone) return;
    if (this.arrived.length > 0) this.socket.pause();
    else if (this.socket.isPaused) this.socket.resume();
  }

  private async serve(data: Buffer): Promise<void> {
    try {
      const text = data.length > AT_ONCE_BYTES ? await inSlices(decodeUtf8InSlices(data)) : decodeUtf8(data);
      const reply = await this.replyTo(text);
      if (reply !== null) await this.outgoing.send(reply);
    } catch (error) {
      if (error instanceof Disconnect) this.drop(error.message, CLOSE_CODE.refused);
      else {
        const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
        this.deps.logger.error(`A WebSocket call failed: ${trace}`);
        this.socket.terminate();
      }
    }
  }

  private async replyTo(text: string | null): Promise<Reply | null> {
    const isBatch = text?.startsWith('[') === true;
    let value: JsonValue = null;
    try {
      if (text === null) throw new JsonParseError('it is not valid UTF-8');
      const scanner = new JsonScanner(text);
      if (isBatch) {
        await checkBatchSyntax(text);
        return this.batch(scanner);
      }
      value = text.length > AT_ONCE_BYTES ? await inSlices(readWhole(scanner)) : scanner.readValue();
      if (!scanner.atEnd()) scanner.fail();
    } catch (error) {
      if (!(error instanceof JsonParseError)) throw error;
      return this.parseFailure(error.message, isBatch ? '2.0' : '1.0');
    }
    return this.answer(value, false);
  }

  private parseFailure(why: string, version: Head['version'] = '1.0'): string {
    if (!this.isKnown) throw new Disconnect('it sent a request before it authenticated');
    return errorText(
      { version, id: null },
      rpcError(RPC_ERROR.PARSE_ERROR, `Failed to parse request: ${why}`),
    );
  }

  /** Reply for an element of a batch whose members have wrong types. Source: `inHandler`. */
  private elementFailure(why: string): string {
    if (!this.isKnown) throw new Disconnect('it sent a request before it authenticated');
    return errorText(
      { version: '2.0', id: null },
      rpcError(RPC_ERROR.INVALID_REQUEST, `Invalid request: ${why}`),
    );
  }

  /** Runs the calls of a batch. Returns their replies in order; null if no call has a reply. */
  private async batch(scanner: JsonScanner): Promise<Reply | null> {
    scanner.take('[');
    if (scanner.peek() === ']') {
      if (!this.isKnown) throw new Disconnect('it sent a request before it authenticated');
      const error = rpcError(RPC_ERROR.INVALID_REQUEST, 'Invalid request: empty batch');
      return errorText({ version: '2.0', id: null }, error);
    }
    const replies = this.batchReplies(scanner);
    const first = await replies.next();
    return first.done === true ? null : joined(first.value, replies);
  }

  private async *batchReplies(scanner: JsonScanner): AsyncGenerator<Reply> {
    do {
      const reply = await this.answer(await readElement(scanner), true);
      if (reply !== null) yield reply;
    } while (!this.isGone && scanner.take(','));
  }

  /** Handles one request. Returns null if the request has no reply. */
  private async answer(value: JsonValue, isInBatch: boolean): Promise<Reply | null> {
    const fails = (why: string): string => (isInBatch ? this.elementFailure(why) : this.parseFailure(why));
    if (!(value instanceof JsonObject)) return fails('a request must be an object');
    const head = headOf(value);
    const version = value.get('jsonrpc') ?? '';
    const method = value.get('method') ?? '';
    const params = value.get('params') ?? [];
    if (typeof version !== 'string') return fails('the version must be a string');
    if (typeof method !== 'string') return fails('the method must be a string');
    if (!Array.isArray(params) && !(params instanceof JsonObject))
      return fails('the parameters must be an array');
    if (method === '')
      return errorText(head, rpcError(RPC_ERROR.INVALID_REQUEST, 'Invalid request: malformed'));
    if (head.id === null) {
      if (!this.isKnown) throw new Disconnect('it sent a request before it authenticated');
      return null;
    }
    // A request whose id is neither a text nor a number gets no reply. lbcd cannot serialize such an id either.
    if (typeof head.id !== 'string' && !isJsonNumber(head.id)) return null;
    if (method === 'authenticate') return this.authenticate(head, params);
    if (!this.isKnown) throw new Disconnect('its first request was not authenticate');
    if (isCommand(method)) return this.command(head, method, params);
    return method === 'help' ? this.help(head, params) : this.call(head, method, params);
  }

  private async authenticate(head: Head, params: JsonValue[] | JsonObject): Promise<string> {
    if (this.isKnown) throw new Disconnect('it is authenticated already');
    const given = Array.isArray(params) ? params : [];
    const [user, password] = given.length === 2 ? readCommandParams(AUTHENTICATE_PARAMS, given) : [];
    if (user === undefined) throw new Disconnect('it sent no user name and password');
    const header = `Basic ${Buffer.from(`${String(user)}:${String(password)}`).toString('base64')}`;
    if (!(await this.caller.authenticate(header))) throw new Disconnect('its user name or password is wrong');
    this.isKnown = true;
    if (this.tooLate !== null) clearTimeout(this.tooLate);
    return resultText(head, null);
  }

  private async command(head: Head, name: string, params: JsonValue[] | JsonObject): Promise<string> {
    const { dispatcher, services, prefixes, logger } = this.deps;
    logger.debug('rpc', () => `WebSocket command ${name} of ${this.caller.peer}`);
    try {
      if (!Array.isArray(params)) throw rpcError(RPC_ERROR.INVALID_PARAMS, 'the parameters must be an array');
      return resultText(
        head,
        await runCommand(name, this, params, { services, prefixes }, dispatcher.warmup),
      );
    } catch (error) {
      if (error instanceof RpcError) return errorText(head, error);
      throw error;
    }
  }

  /** Calls `help` of the node, and adds the WebSocket commands to its result. */
  private async help(head: Head, params: JsonValue[] | JsonObject): Promise<Reply> {
    const [name = ''] = Array.isArray(params) ? params : [];
    if (typeof name === 'string' && isCommand(name)) return resultText(head, commandHelp(name));
    const reply = await this.call(head, 'help', params);
    if (typeof reply !== 'string' || (name !== '' && name !== null)) return reply;
    const { result } = JSON.parse(reply) as { result: unknown };
    if (typeof result !== 'string') return reply;
    return resultText(head, `${result}\n\n== Websocket ==\n${commandUsages().join('\n')}`);
  }

  /** Calls a method of the node after waiting for a free slot of the work queue. */
  private async call(head: Head, method: string, params: JsonValue[] | JsonObject): Promise<Reply> {
    const { queue, dispatcher } = this.deps;
    const origin = new CallOrigin(queue, this.goneControl.signal, this.caller.peer);
    const request = new JsonObject([
      ['method', method],
      ['params', params],
      ['id', head.id],
    ]);
    await origin.enter();
    try {
      return asLbcdReply(head, await dispatcher.handleRequest(request, origin));
    } finally {
      origin.leave();
    }
  }
}

function headOf(request: JsonObject): Head {
  return { version: request.get('jsonrpc') === '2.0' ? '2.0' : '1.0', id: request.get('id') ?? null };
}

/** Reply text for a result. Source: btcjson/jsonrpc.go `MarshalResponse`. */
function resultText({ version, id }: Head, result: JsonOut): string {
  return stringifyJson({ jsonrpc: version, result, error: null, id });
}

function errorText({ version, id }: Head, { code, message }: RpcError): string {
  return stringifyJson({ jsonrpc: version, result: null, error: { code, message }, id });
}

/** Converts a reply of the node so that the `jsonrpc` version is its first member, as in lbcd. */
function asLbcdReply({ version }: Head, { text, chunks }: RpcReply): Reply {
  const begin = (first: string): string => `{"jsonrpc":"${version}",${first.slice(1)}`;
  if (text !== null) return begin(text.trimEnd());
  return (async function* () {
    let isFirst = true;
    for await (const chunk of chunks) {
      yield isFirst ? begin(chunk) : chunk;
      isFirst = false;
    }
  })();
}

async function* joined(first: Reply, others: AsyncIterable<Reply>): AsyncGenerator<string> {
  yield '[';
  yield* pieces(first);
  for await (const reply of others) {
    yield ',';
    yield* pieces(reply);
  }
  yield ']';
}

async function* pieces(reply: Reply): AsyncGenerator<string> {
  if (typeof reply === 'string') yield reply;
  else yield* reply;
}
