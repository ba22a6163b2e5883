/**
 * The WebSocket of the Esplora-compatible interface, `/api/v1/ws`: accepts connections and sends notifications. Mempool
 * changes are collected for a short time and sent in one message. A block is sent once it is the tip. Clients need no
 * password. Web pages of origins that `-esploraorigin` does not list are rejected. Stores the connected clients. Source:
 * mempool backend websocket-handler.ts.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { positionInBlock } from '../../chain/blocks/storedTransactions.js';
import { scriptKeyOf } from '../../index/addressScripts.js';
import { addressPrefixes } from '../../rpc/format/addresses.js';
import { decodeDestination } from '../../script/address.js';
import { scriptForDestination } from '../../script/standard.js';
import { NO_HEADER } from '../../store/files/headerTable.js';
import { fromLatin1, hashFromHex, hashToHex, toLatin1 } from '../../util/bytes.js';
import { refuseUpgrade } from '../../util/network/httpUpgrade.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { Logger } from '../../util/logging.js';
import type { BlockNotice } from '../notifications/blockNotice.js';
import type { NotificationListener, TipNotice } from '../notifications/stream.js';
import type { CallerGate } from '../upgrades.js';
import { blockAnswer } from './blockPaths.js';
import type { EsploraNode } from './declaration.js';
import type { Origins } from './origins.js';
import { initMessage, latestBlocks, mempoolBlocks, statsMessage, type Message } from './socketAnswers.js';
import { MAX_MESSAGE_BYTES, MAX_TRACKED, SocketClient, type TrackedScript } from './socketClient.js';
import { placeOf, txAnswers, findTx } from './txFacts.js';
import { statusAnswer } from './txFormat.js';

const ESPLORA_SOCKET_PATH = '/api/v1/ws';
/** Maximum number of WebSocket clients. Arbitrary. */
export const MAX_CLIENTS = 200;
/** `GATHER_MS`: time for which mempool changes are collected before they are sent. `HEARTBEAT_MS`: interval of pings. */
const GATHER_MS = 200;
const HEARTBEAT_MS = 30_000;
const CLOSE_GRACE_MS = 2000;
/** Maximum number of transactions of one address in a notification. */
const MAX_ANNOUNCED = 100;

export interface EsploraSocketDeps {
  readonly node: EsploraNode;
  readonly origins: Origins;
  readonly log: Logger;
  readonly warmupStatus: () => string | null;
}

export class EsploraSockets implements NotificationListener {
  private readonly deps: EsploraSocketDeps;
  private readonly sockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MAX_MESSAGE_BYTES,
  });
  private readonly clients = new Set<SocketClient>();
  private readonly heartbeat: NodeJS.Timeout;
  /** Keys of the scripts that are part of changes of the mempool since the last message. */
  private readonly touched = new Set<string>();
  /** Outputs spent by mempool transactions since the last message, by transaction id (hex) and output number. */
  private spent = new Map<string, Record<string, JsonOut>>();
  private gathering: NodeJS.Timeout | null = null;
  /**
   * `connected`: blocks connected since the last notification. `isReorganised`: whether blocks were disconnected (a reorg)
   * since the last notification.
   */
  private connected: BlockNotice[] = [];
  private isReorganised = false;
  /** Promise of the last queued task. Messages are built one after the other. */
  private work: Promise<void> = Promise.resolve();
  private isListening = false;
  private isClosed = false;
  private readonly emptied: (() => void)[] = [];

  constructor(deps: EsploraSocketDeps) {
    this.deps = deps;
    const check = (): void => this.clients.forEach((client) => client.checkLife());
    this.heartbeat = setInterval(check, HEARTBEAT_MS).unref();
  }

  /** Whether the request's path is that of this endpoint. */
  takes({ url = '' }: IncomingMessage): boolean {
    return url.split('?', 1)[0] === ESPLORA_SOCKET_PATH;
  }

  /** Accepts an HTTP request that asks for an upgrade to a WebSocket. */
  receive(request: IncomingMessage, socket: Duplex, head: Buffer, gate: CallerGate): void {
    socket.on('error', () => socket.destroy());
    const isRefused = !gate.isAllowed(request) || !this.deps.origins.allows(request.headers.origin);
    const isFull = this.clients.size >= MAX_CLIENTS || this.deps.warmupStatus() !== null;
    const status = isRefused ? 403 : isFull || gate.isStopping() || this.isClosed ? 503 : null;
    if (status !== null) {
      refuseUpgrade(socket, status);
      return;
    }
    gate.release(request.socket);
    this.sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const client = new SocketClient(webSocket);
      this.listen();
      this.clients.add(client);
      client.onRequest((wish) => this.inOrder(() => this.answer(client, wish)));
      webSocket.on('error', (error) => this.deps.log.debug('http', `WebSocket: ${error.message}`));
      webSocket.once('close', () => this.remove(client));
    });
  }

  /** Subscribes to mempool changes of scripts. The subscription lasts while clients are connected. */
  private listen(): void {
    if (this.isListening) return;
    this.isListening = true;
    this.deps.node.services.addresses?.onMempool((keys) => {
      if (this.clients.size === 0) return;
      for (const key of keys) this.touched.add(key);
      this.gather();
    });
  }

  private remove(client: SocketClient): void {
    this.clients.delete(client);
    if (this.clients.size > 0) return;
    this.touched.clear();
    this.spent.clear();
    for (const resolve of this.emptied.splice(0)) resolve();
  }

  private inOrder(run: () => Promise<void>): void {
    this.work = this.work.then(run).catch((error: unknown) => {
      if (!this.isClosed) this.deps.log.warn(`A WebSocket message failed: ${String(error)}`);
    });
  }

  private async answer(client: SocketClient, wish: Record<string, unknown>): Promise<void> {
    const { node } = this.deps;
    const { action, data } = wish;
    const message: Message = {};
    if (action === 'init') Object.assign(message, await initMessage(node));
    if (action === 'ping') message['pong'] = true;
    if (action === 'want' && Array.isArray(data)) {
      for (const topic of client.want(data)) {
        if (topic === 'blocks') message['blocks'] = await latestBlocks(node);
        else if (topic === 'mempool-blocks') message[topic] = await mempoolBlocks(node);
        else Object.assign(message, await statsMessage(node));
      }
    }
    if (wish['refresh-blocks'] === true) message['blocks'] = await latestBlocks(node);
    this.trackAddresses(client, wish, message);
    await this.trackTransactions(client, wish, message);
    client.send(message);
  }

  private trackAddresses(client: SocketClient, wish: Record<string, unknown>, message: Message): void {
    const isTyped = wish['action'] === 'track';
    const one = wish['track-address'] ?? (isTyped ? wish['address'] : undefined);
    const several = wish['track-addresses'] ?? (isTyped ? wish['addresses'] : undefined);
    if (one === undefined && several === undefined) return;
    client.isTyped ||= isTyped;
    client.isMulti = several !== undefined;
    // The browser library adds addresses one by one. In mempool.space's request format the latest request replaces the
    // earlier addresses.
    if (!isTyped) client.scripts.clear();
    const wanted: unknown[] = Array.isArray(several) ? several : [one];
    if (client.scripts.size + wanted.length > MAX_TRACKED) {
      message[`${client.isMulti ? 'track-addresses' : 'track-address'}-error`] =
        `"too many addresses requested, this connection supports tracking a maximum of ${MAX_TRACKED} addresses"`;
      return;
    }
    for (const address of wanted) {
      const key = typeof address === 'string' ? this.keyOf(address) : null;
      if (key === null) continue;
      client.scripts.set(key, { address: address as string, known: this.waitingOf(key) });
    }
  }

  private keyOf(address: string): string | null {
    const destination = decodeDestination(address, addressPrefixes(this.deps.node.services.params));
    return destination && scriptKeyOf(scriptForDestination(destination));
  }

  private waitingOf(key: string): Set<string> {
    return new Set(this.deps.node.services.addresses?.ofMempool(key).keys());
  }

  private async trackTransactions(
    client: SocketClient,
    wish: Record<string, unknown>,
    message: Message,
  ): Promise<void> {
    const isTyped = wish['action'] === 'track-tx';
    const one = isTyped ? wish['tx'] : wish['track-tx'];
    const several = wish['track-txs'];
    if (one === undefined && several === undefined) return;
    client.isTyped ||= isTyped;
    if (!isTyped) client.txids.clear();
    const wanted = (Array.isArray(several) ? several : [one]).filter(
      (txid): txid is string => typeof txid === 'string' && /^[0-9a-f]{64}$/i.test(txid),
    );
    if (client.txids.size + wanted.length > MAX_TRACKED) {
      message['track-txs-error'] =
        `"too many txids requested, this connection supports tracking a maximum of ${MAX_TRACKED} transactions"`;
      return;
    }
    for (const txid of wanted) {
      client.txids.add(txid.toLowerCase());
      await this.tellOf(client, txid.toLowerCase(), message, wish['watch-mempool'] === true);
    }
  }

  /** Sends the current state of a newly tracked transaction. */
  private async tellOf(
    client: SocketClient,
    txid: string,
    message: Message,
    isShown: boolean,
  ): Promise<void> {
    const { services, fees } = this.deps.node;
    const bytes = hashFromHex(txid);
    const found = await findTx(this.deps.node, bytes);
    if (found === null) return;
    if (found.block !== NO_HEADER) {
      message['txConfirmed'] = txid;
      this.typedStatus(client, txid, statusAnswer(placeOf(services, found.block)));
      return;
    }
    if (isShown) [message['tx']] = await txAnswers(this.deps.node, [bytes]);
    await fees.blocks();
    const position = fees.positionOf(bytes);
    if (position !== null) message['txPosition'] = { txid, position: { ...position } };
    this.typedStatus(client, txid, statusAnswer(null), position?.block);
  }

  private typedStatus(client: SocketClient, txid: string, status: JsonOut, block?: number): void {
    if (!client.isTyped) return;
    const position = block === undefined ? undefined : { block, position: 0 };
    client.send({ type: 'tx-status', txid, status, position });
  }

  transactionAdded(entry: { readonly txid: Uint8Array }): void {
    if (this.clients.size === 0) return;
    this.noteSpent(entry.txid);
    this.gather();
  }

  transactionRemoved(): void {
    if (this.clients.size > 0) this.gather();
  }

  /** Records which outputs of tracked transactions a new mempool transaction spends. */
  private noteSpent(txid: Uint8Array): void {
    const tracked = [...this.clients].some(({ txids }) => txids.size > 0);
    const tx = tracked ? this.deps.node.services.mempool.transaction(txid) : null;
    for (const [vin, { prevout }] of (tx?.inputs ?? []).entries()) {
      const of = hashToHex(prevout.hash);
      if (![...this.clients].some(({ txids }) => txids.has(of))) continue;
      const outputs = this.spent.get(of) ?? {};
      outputs[prevout.index] = { vin, txid: hashToHex(txid) };
      this.spent.set(of, outputs);
    }
  }

  private gather(): void {
    this.gathering ??= setTimeout(() => {
      this.gathering = null;
      this.inOrder(() => this.tellMempool());
    }, GATHER_MS).unref();
  }

  private async tellMempool(): Promise<void> {
    if (this.clients.size === 0) return;
    const touched = new Set(this.touched);
    this.touched.clear();
    const { spent } = this;
    this.spent = new Map();
    const shared = await this.sharedMessages();
    for (const client of this.clients) {
      const message = shared(client);
      for (const [key, script] of client.scripts)
        if (touched.has(key)) await this.tellScript(client, key, script, message);
      for (const txid of client.txids) {
        const outputs = spent.get(txid);
        if (outputs !== undefined) message['utxoSpent'] = outputs;
        const position = this.deps.node.fees.positionOf(hashFromHex(txid));
        if (position !== null) message['txPosition'] = { txid, position: { ...position } };
      }
      client.send(message);
    }
  }

  /** Builds the parts of a message that are equal for all subscribers. Each part is built only once. */
  private async sharedMessages(): Promise<(client: SocketClient) => Message> {
    const { node } = this.deps;
    const wants = (topic: 'stats' | 'mempool-blocks'): boolean =>
      [...this.clients].some((client) => client.wants.has(topic));
    const stats = wants('stats') ? await statsMessage(node) : {};
    const tracksTx = [...this.clients].some(({ txids }) => txids.size > 0);
    const blocks = wants('mempool-blocks') || tracksTx ? await mempoolBlocks(node) : [];
    return (client) => ({
      ...(client.wants.has('stats') ? stats : {}),
      ...(client.wants.has('mempool-blocks') ? { 'mempool-blocks': blocks } : {}),
    });
  }

  /**
   * Adds to `message` the new mempool transactions of a tracked script, and the transactions that left the mempool without
   * confirmation.
   */
  private async tellScript(
    client: SocketClient,
    key: string,
    script: TrackedScript,
    message: Message,
  ): Promise<void> {
    const now = this.waitingOf(key);
    const came = [...now].filter((id) => !script.known.has(id)).map(fromLatin1);
    const gone = [...script.known].filter((id) => !now.has(id)).map(fromLatin1);
    script.known = now;
    const removed: JsonOut[] = [];
    for (const txid of gone)
      if ((await findTx(this.deps.node, txid)) === null)
        removed.push({ txid: hashToHex(txid), status: statusAnswer(null) });
    const shown = await txAnswers(this.deps.node, came.slice(0, MAX_ANNOUNCED));
    this.addScript(client, script, message, { mempool: shown, confirmed: [], removed });
    if (client.isTyped)
      for (const txid of came) this.typedAddress(client, script, hashToHex(txid), statusAnswer(null));
  }

  private addScript(
    client: SocketClient,
    { address }: TrackedScript,
    message: Message,
    found: Readonly<Record<'mempool' | 'confirmed' | 'removed', JsonOut[]>>,
  ): void {
    const { mempool, confirmed, removed } = found;
    if (mempool.length + confirmed.length + removed.length === 0) return;
    if (client.isMulti) {
      const all = (message['multi-address-transactions'] ??= {}) as Record<string, JsonOut>;
      all[address] = found;
      return;
    }
    const add = (name: string, list: JsonOut[]): void => {
      if (list.length > 0) message[name] = [...((message[name] as JsonOut[] | undefined) ?? []), ...list];
    };
    add('address-transactions', mempool);
    add('block-transactions', confirmed);
    add('address-removed-transactions', removed);
  }

  private typedAddress(
    client: SocketClient,
    { address }: TrackedScript,
    txid: string,
    status: JsonOut,
  ): void {
    client.send({ type: 'address-tx', address, txid, status });
  }

  blockChanged(block: BlockNotice): void {
    if (this.clients.size === 0) return;
    if (block.isConnected) this.connected.push(block);
    else this.isReorganised = true;
  }

  tipChanged({ initialDownload }: TipNotice): void {
    const { connected, isReorganised } = this;
    this.connected = [];
    this.isReorganised = false;
    if (this.clients.size === 0 || initialDownload === true) return;
    // Confirmations, and the removals from the mempool that they cause, are sent in one message.
    this.inOrder(() => this.tellTip(connected, isReorganised));
  }

  private async tellTip(blocks: readonly BlockNotice[], isReorganised: boolean): Promise<void> {
    const { node } = this.deps;
    const { active } = node.services.chain.chain.index;
    const wanted = [...this.clients].some((client) => client.wants.has('blocks'));
    const latest = wanted && isReorganised ? await latestBlocks(node) : undefined;
    const shared = await this.sharedMessages();
    for (const block of blocks) {
      if (!active.contains(block.id)) continue;
      const shown = wanted ? await blockAnswer(node, block.id) : null;
      for (const client of this.clients) {
        const message = shared(client);
        if (client.wants.has('blocks')) {
          message['block'] = shown ?? undefined;
          message['blocks'] = latest;
        }
        await this.tellConfirmed(client, block, message);
        client.send(message);
      }
    }
    if (blocks.length === 0 && latest !== undefined)
      for (const client of this.clients) if (client.wants.has('blocks')) client.send({ blocks: latest });
  }

  /** Adds to `message` the transactions of a block that the client tracks by id or by address. */
  private async tellConfirmed(client: SocketClient, block: BlockNotice, message: Message): Promise<void> {
    const { services } = this.deps.node;
    const status = statusAnswer(placeOf(services, block.id));
    for (const txid of client.txids) {
      if (positionInBlock(block, hashFromHex(txid)) < 0) continue;
      message['txConfirmed'] = txid;
      this.typedStatus(client, txid, status);
    }
    for (const [key, script] of client.scripts) {
      const request = { limit: MAX_ANNOUNCED, startHeight: block.height, endHeight: block.height };
      const { entries } = (await services.addresses?.history([key], request)) ?? { entries: [] };
      if (entries.length === 0) continue;
      const txids = entries.map(({ txid }) => txid);
      for (const txid of txids) script.known.delete(toLatin1(txid));
      const confirmed = await txAnswers(this.deps.node, txids);
      this.addScript(client, script, message, { mempool: [], confirmed, removed: [] });
      if (client.isTyped)
        for (const txid of txids) this.typedAddress(client, script, hashToHex(txid), status);
    }
  }

  /** Closes all connections. Resolves when the last one is closed. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.heartbeat);
    if (this.gathering !== null) clearTimeout(this.gathering);
    const empty = new Promise<void>((resolve) => {
      if (this.clients.size === 0) resolve();
      else this.emptied.push(resolve);
    });
    for (const client of this.clients) client.close(1001, 'the node is stopping');
    const cut = setTimeout(() => this.clients.forEach((client) => client.terminate()), CLOSE_GRACE_MS);
    await empty;
    clearTimeout(cut);
    await this.work;
  }
}
