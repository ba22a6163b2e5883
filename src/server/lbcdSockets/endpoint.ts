/**
 * lbcd's WebSocket protocol: accepts connections, limits their number, and sends notifications to all clients. Stores the
 * connected clients. `client.ts` handles the calls and watched items of one client. A client sends its credentials in a
 * header of the upgrade request, or in its first request (`authenticate`). Source: lbcd rpcserver.go `Start`,
 * rpcwebsocket.go `WebsocketHandler`, `notificationHandler`.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import type { RpcDispatcher } from '../../rpc/call/dispatch.js';
import { scriptContextOf } from '../../rpc/format/scriptContext.js';
import { rawTransactionAnswer, shownTransaction, transactionAnswer } from '../../rpc/format/transaction.js';
import type { RpcServices } from '../../interfaces/services.js';
import type { Transaction } from '../../primitives/transaction.js';
import type { AddressPrefixes } from '../../script/address.js';
import { JobQueue } from '../../scheduler/jobQueue.js';
import { jsonChunks } from '../../util/json/jsonStream.js';
import type { Logger } from '../../util/logging.js';
import type { BlockNotice } from '../notifications/blockNotice.js';
import type { AddedTransaction, NotificationListener } from '../notifications/stream.js';
import { refuseCaller, type CallerGate, type UpgradeEndpoint } from '../upgrades.js';
import { CLOSE_CODE, LbcdClient, type LbcdClientLimits } from './client.js';
import * as notices from './notices.js';
import { WatchedTransaction } from './watchedTransaction.js';
import { WatchCount } from './watches.js';

/** Maximum size in bytes of a request from a client that authenticated by the header. HTTP has the same limit. */
const MAX_REQUEST_BYTES = 0x02000000;
/** Maximum size of a request in bytes from a client that did not authenticate by the header. */
const MAX_OPEN_REQUEST_BYTES = 1 << 20;
/** Interval of pings in ms. */
const HEARTBEAT_MS = 30_000;
/** Maximum milliseconds within which a client must authenticate. Source: `rpcAuthTimeoutSeconds`. */
const AUTHENTICATE_MS = 10_000;
/** Maximum number of watched items of all clients together. Each item uses about 150 bytes. Arbitrary: bounds the memory. */
const MAX_WATCHED = 1_000_000;

export interface LbcdSocketOptions {
  readonly maxClients: number;
  readonly maxConcurrent: number;
  readonly maxQueueBytes: number;
  /** Maximum number of concurrent calls of all clients together. */
  readonly threads: number;
  readonly heartbeatMs?: number;
  readonly authenticateMs?: number;
  readonly maxWatched?: number;
}

/** The services that run the calls of clients. */
export interface LbcdSocketCalls {
  readonly dispatcher: RpcDispatcher;
  readonly services: RpcServices;
}

export interface LbcdSocketDeps {
  readonly prefixes: AddressPrefixes;
  readonly logger: Logger;
}

export class LbcdSocketEndpoint implements NotificationListener, UpgradeEndpoint {
  private readonly options: LbcdSocketOptions;
  private readonly deps: LbcdSocketDeps;
  private readonly limits: LbcdClientLimits;
  private readonly known: WebSocketServer;
  private readonly open: WebSocketServer;
  private readonly clients = new Set<LbcdClient>();
  private readonly queue: JobQueue;
  private readonly watchCount: WatchCount;
  private readonly heartbeat: NodeJS.Timeout;
  private readonly emptied: (() => void)[] = [];
  private calls: LbcdSocketCalls | null = null;
  /** Whether blocks are being disconnected. The transactions of these blocks return to the mempool without counting as new. */
  private isReorganising = false;

  constructor(options: LbcdSocketOptions, deps: LbcdSocketDeps) {
    const { maxClients, maxConcurrent, maxQueueBytes, threads } = options;
    this.options = options;
    this.deps = deps;
    this.limits = { maxConcurrent, maxQueueBytes, authenticateMs: options.authenticateMs ?? AUTHENTICATE_MS };
    this.queue = new JobQueue(Math.max(1, threads), Math.max(1, maxClients * maxConcurrent));
    this.watchCount = new WatchCount(options.maxWatched ?? MAX_WATCHED);
    const server = (maxPayload: number): WebSocketServer =>
      new WebSocketServer({ noServer: true, clientTracking: false, maxPayload });
    this.known = server(MAX_REQUEST_BYTES);
    this.open = server(MAX_OPEN_REQUEST_BYTES);
    const check = (): void => this.clients.forEach((client) => client.checkLife());
    this.heartbeat = setInterval(check, options.heartbeatMs ?? HEARTBEAT_MS).unref();
  }

  /** Sets the services that run calls. Must be called before clients connect. */
  answerBy(calls: LbcdSocketCalls): void {
    this.calls = calls;
  }

  async receive(request: IncomingMessage, socket: Duplex, head: Buffer, gate: CallerGate): Promise<void> {
    const onError = (): void => void socket.destroy();
    socket.on('error', onError);
    const { authorization, origin } = request.headers;
    const check = gate.checker(request);
    // Rejects web pages, because a page of any origin could use the credentials that the browser stores.
    let status = gate.isAllowed(request) && origin === undefined ? null : 403;
    if (status === null && authorization !== undefined && !(await check(authorization))) status = 401;
    if (socket.destroyed) return;
    const peer = gate.peer(request);
    if (status === null && (this.calls === null || gate.isStopping())) status = 503;
    if (status === null && this.clients.size >= this.options.maxClients) {
      this.deps.logger.info(
        `Max websocket clients exceeded [${this.options.maxClients}] - disconnecting client ${peer}`,
      );
      status = 503;
    }
    if (status !== null) {
      refuseCaller(socket, status);
      return;
    }
    socket.off('error', onError);
    gate.release(request.socket);
    const isKnown = authorization !== undefined;
    (isKnown ? this.known : this.open).handleUpgrade(request, socket, head, (webSocket) =>
      this.admit(webSocket, { peer, isKnown, authenticate: check }),
    );
  }

  private admit(webSocket: WebSocket, caller: ConstructorParameters<typeof LbcdClient>[1]): void {
    const { prefixes, logger } = this.deps;
    const { queue, watchCount } = this;
    const client = new LbcdClient(webSocket, caller, this.limits, {
      ...this.calls!,
      prefixes,
      queue,
      watchCount,
      logger,
    });
    this.clients.add(client);
    logger.debug('http', () => `New websocket client ${caller.peer}`);
    // After an error the socket emits `close`, which removes the client.
    webSocket.on('error', (error) => logger.debug('http', () => `WebSocket: ${error.message}`));
    webSocket.once('close', () => {
      this.clients.delete(client);
      logger.debug('http', () => `Disconnected websocket client ${caller.peer}`);
      if (this.clients.size === 0) for (const resolve of this.emptied.splice(0)) resolve();
    });
  }

  blockChanged(notice: BlockNotice): void {
    if (!notice.isConnected) this.isReorganising = true;
    if (this.clients.size === 0) return;
    const block = { hash: notice.hash, height: notice.height, raw: notice.raw };
    if (!notice.isConnected) {
      this.tellBlock([notices.blockDisconnected(block), notices.filteredBlockDisconnected(block)]);
      return;
    }
    const watching = [...this.clients].filter(({ watches }) => !watches.isEmpty);
    if (watching.length > 0) {
      for (const transaction of WatchedTransaction.ofBlock(notice))
        for (const client of watching) client.look(transaction, block);
    }
    const text = notices.blockConnected(block);
    let transactions: WatchedTransaction[] | null = null;
    for (const client of this.clients) {
      if (!client.wantsBlocks) continue;
      client.notify(text);
      if (client.watches.hasFilter) transactions ??= [...WatchedTransaction.ofBlock(notice)];
      client.notify(notices.filteredBlockConnected(block, client.filtered(transactions ?? [])));
    }
  }

  tipChanged(): void {
    this.isReorganising = false;
  }

  transactionAdded(...[entry, bytes]: AddedTransaction): void {
    if (this.clients.size === 0 || this.isReorganising) return;
    const transaction = WatchedTransaction.alone(bytes);
    let text: string | null = null;
    for (const client of this.clients) {
      if (client.wantsTransactions === 'brief')
        client.notify((text ??= notices.txAccepted(entry.txid, transaction.totalSat)));
      else if (client.wantsTransactions === 'verbose') this.tellWhole(client, entry.txid, bytes.length);
      client.look(transaction, null);
      client.filter(transaction);
    }
  }

  private tellBlock(texts: readonly string[]): void {
    for (const client of this.clients) if (client.wantsBlocks) for (const text of texts) client.notify(text);
  }

  /** Sends a transaction in the format of `getrawtransaction`. The transaction is serialized while it is sent. */
  private tellWhole(client: LbcdClient, txid: Uint8Array, sizeBytes: number): void {
    const { services } = this.calls!;
    const transaction: Transaction | null = services.mempool.transaction(txid);
    if (transaction === null) return;
    client.notifyInPieces(() => {
      const shown = transactionAnswer(shownTransaction(transaction), scriptContextOf(services, 'lbcd'));
      const hex = rawTransactionAnswer(transaction, true);
      return jsonChunks(notices.txAcceptedVerbose({ hex, ...shown }));
    }, sizeBytes * 2);
  }

  /** Closes all connections. Resolves when the last one is closed. */
  async close(): Promise<void> {
    clearInterval(this.heartbeat);
    if (this.clients.size === 0) return;
    const empty = new Promise<void>((resolve) => this.emptied.push(resolve));
    for (const client of this.clients) client.close(CLOSE_CODE.goingAway, 'the node is stopping');
    await empty;
  }
}
