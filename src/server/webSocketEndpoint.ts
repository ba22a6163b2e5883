/**
 * The WebSocket endpoint `/ws` of the RPC server: accepts connections, limits their number, and closes them. Owns the
 * clients; `webSocketClient.ts` handles their requests and events. The endpoint accepts the same addresses and credentials
 * as RPC. Browsers are rejected, because a page of any origin could use the credentials that the browser stores.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import type { BlockNotice } from './notifications/blockNotice.js';
import type {
  AddedTransaction,
  NotificationListener,
  RemovedTransaction,
  TipNotice,
} from './notifications/stream.js';
import type { WalletNotice } from './notifications/walletNotice.js';
import { TransactionNotice } from './notifications/transactionNotice.js';
import { refuseCaller, type CallerGate, type UpgradeEndpoint } from './upgrades.js';
import { CLOSE, WebSocketClient, type ClientDeps, type ClientLimits } from './webSocketClient.js';
import { ClientEvents, type ClientEvent } from './webSocketEvents.js';

/** Maximum size of a client's request in bytes. */
export const MAX_REQUEST_BYTES = 256 << 10;
/** Interval of the pings to clients. */
const HEARTBEAT_MS = 30_000;

export interface WebSocketOptions extends ClientLimits {
  readonly maxClients: number;
  readonly heartbeatMs?: number;
}

export class WebSocketEndpoint implements NotificationListener, UpgradeEndpoint {
  private readonly options: WebSocketOptions;
  private readonly deps: ClientDeps;
  private readonly sockets: WebSocketServer;
  private readonly clients = new Set<WebSocketClient>();
  private readonly events = new ClientEvents();
  private readonly heartbeat: NodeJS.Timeout;
  private readonly emptied: (() => void)[] = [];

  constructor(options: WebSocketOptions, deps: ClientDeps) {
    this.options = options;
    this.deps = deps;
    this.sockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: MAX_REQUEST_BYTES,
    });
    const check = (): void => this.clients.forEach((client) => client.checkLife());
    this.heartbeat = setInterval(check, options.heartbeatMs ?? HEARTBEAT_MS).unref();
  }

  async receive(request: IncomingMessage, socket: Duplex, head: Buffer, gate: CallerGate): Promise<void> {
    const onError = (): void => void socket.destroy();
    socket.on('error', onError);
    const refusal = await this.refusalOf(request, gate);
    if (socket.destroyed) return;
    const isFull = this.clients.size >= this.options.maxClients;
    const status = refusal ?? (isFull || gate.isStopping() ? 503 : null);
    if (status !== null) {
      refuseCaller(socket, status);
      return;
    }
    socket.off('error', onError);
    gate.release(request.socket);
    this.sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const client = new WebSocketClient(webSocket, this.options, this.deps);
      this.clients.add(client);
      // After an error the socket emits `close`, which removes the client.
      webSocket.on('error', (error) => this.deps.logger.debug('http', `WebSocket: ${error.message}`));
      webSocket.once('close', () => this.remove(client));
    });
  }

  /**
   * Decides whether to accept a caller, without checking the number of clients. Returns the HTTP status of the rejection, or
   * null if the caller is accepted.
   */
  private async refusalOf(request: IncomingMessage, gate: CallerGate): Promise<number | null> {
    if (!gate.isAllowed(request)) return 403;
    const { origin, authorization } = request.headers;
    if (origin !== undefined) return 403;
    return authorization !== undefined && (await gate.checker(request)(authorization)) ? null : 401;
  }

  blockChanged(block: BlockNotice): void {
    this.tell(() => this.events.block(block));
  }

  tipChanged(tip: TipNotice): void {
    this.tell(() => this.events.tip(tip));
  }

  transactionAdded(...[entry, bytes]: AddedTransaction): void {
    this.tell(() => this.events.transaction(TransactionNotice.unconfirmed(entry, bytes)));
  }

  /** A transaction that leaves the mempool because a block confirms it is reported with the block. */
  transactionRemoved(...[entry, reason, bytes]: RemovedTransaction): void {
    if (reason === 'block') return;
    this.tell(() => this.events.transaction(TransactionNotice.unconfirmed(entry, bytes, reason)));
  }

  /**
   * Maximum number of confirmations that a client requested for a wallet's transactions; 0 if no client subscribed to the
   * wallet.
   */
  walletDepthWanted(wallet: string): number {
    let most = 0;
    for (const client of this.clients) most = Math.max(most, client.walletDepthWanted(wallet));
    return most;
  }

  walletChanged(notice: WalletNotice): void {
    this.tell(() => this.events.wallet(notice));
  }

  private tell(make: () => ClientEvent): void {
    let event: ClientEvent | null = null;
    for (const client of this.clients) if (client.wantsAnything) client.tell((event ??= make()));
  }

  private remove(client: WebSocketClient): void {
    this.clients.delete(client);
    if (this.clients.size > 0) return;
    this.events.clear();
    for (const resolve of this.emptied.splice(0)) resolve();
  }

  /** Disconnects all clients. Resolves when the last connection is closed. */
  async close(): Promise<void> {
    clearInterval(this.heartbeat);
    if (this.clients.size === 0) return;
    const empty = new Promise<void>((resolve) => this.emptied.push(resolve));
    for (const client of this.clients) client.close(CLOSE.goingAway, 'the node is stopping');
    await empty;
  }
}
