/**
 * The WebSocket endpoint at `/ws` of the RPC server: who may connect, how many, and the end. Owns the clients; what they
 * ask and get is in `webSocketClient.ts`. The same addresses and credentials are accepted as for RPC; a browser is not,
 * because a page of any origin could use the credentials that it keeps.
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

/** Largest request of a client. */
export const MAX_REQUEST_BYTES = 256 << 10;
/** How often clients are asked for a sign of life. */
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
      // An error is followed by the end.
      webSocket.on('error', (error) => this.deps.logger.debug('http', `WebSocket: ${error.message}`));
      webSocket.once('close', () => this.remove(client));
    });
  }

  /** The status with which a caller is refused independently of others, or null. */
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

  /** What a block confirms is told with the block. */
  transactionRemoved(...[entry, reason, bytes]: RemovedTransaction): void {
    if (reason === 'block') return;
    this.tell(() => this.events.transaction(TransactionNotice.unconfirmed(entry, bytes, reason)));
  }

  /** Up to how many confirmations of a wallet's transactions some client wants to be notified of; 0 for no such client. */
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

  /** Sends every client away. Resolves when the last one has left or was cut off. */
  async close(): Promise<void> {
    clearInterval(this.heartbeat);
    if (this.clients.size === 0) return;
    const empty = new Promise<void>((resolve) => this.emptied.push(resolve));
    for (const client of this.clients) client.close(CLOSE.goingAway, 'the node is stopping');
    await empty;
  }
}
