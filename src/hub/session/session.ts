/**
 * One client with its requests, responses and notifications. At most `MAX_RUNNING` requests run concurrently; more requests
 * stay unread in the socket. Changed scripts are collected in a set until they can be sent, so the memory of a client that
 * does not read is limited by its subscriptions.
 */
import { JsonParseError, JsonScanner, decodeUtf8InSlices } from '../../util/json/jsonParse.js';
import { JsonObject, type JsonValue } from '../../util/json/json.js';
import { AnswerWriter } from './answerWriter.js';
import type { ClientServices } from '../link/clientServices.js';
import { HUB_ERROR, HubError, internalError } from '../protocol/hubError.js';
import type { LineSocket } from './lineSocket.js';
import type { HubClient, HubResult } from '../protocol/hubClient.js';
import { ClientLeft } from '../link/hubRpcClient.js';
import { NodeFailure } from '../link/portMessages.js';
import { bindArguments, type HubMethod } from '../methods/method.js';
import { addressNotifications, PEER_NOTIFICATION, peerNotification } from '../protocol/notifications.js';
import { inTurn, type Turn, type ClientQueue } from '../../scheduler/clientQueue.js';
import {
  answerFrame,
  detectVersion,
  errorText,
  readItem,
  readMessage,
  type WireItem,
  type WireRequest,
  type WireVersion,
} from '../protocol/wireMessages.js';

/** Maximum number of concurrent requests of one client. Arbitrary: lbry-sdk has at most 32 pending requests. */
const MAX_RUNNING = 8;
/** Number of errors after which the connection is closed. Source: `LBRYElectrumX.max_errors`. */
const MAX_ERRORS = 10;
/** Maximum number of JSON values in one line: several times the number in the largest search. */
const MAX_VALUES = 100_000;
/** Maximum number of addresses in one notification line. Arbitrary. */
const ADDRESSES_AT_ONCE = 500;

export interface SessionDeps {
  readonly turns: ClientQueue;
  readonly hub: ClientServices;
  readonly method: (name: string) => HubMethod | undefined;
  /**
   * Functions that are called when a subscription is added (`subscribed`) or removed (`unsubscribed`). `subscribed` throws
   * `HubError` if there are too many.
   */
  readonly subscribed: (session: Session, scriptKey: string) => void;
  readonly unsubscribed: (session: Session, scriptKey: string) => void;
  readonly closed: (session: Session) => void;
  /** Called after bytes arrived, so that the total of unread bytes is updated. */
  readonly received: (session: Session) => void;
  /** Called when a method failed for a reason other than the client's request. */
  readonly failed: (error: unknown, method: string) => void;
  readonly answered: (method: string, code: number | null, durationMs: number) => void;
  readonly notified: (method: string, count: number) => void;
}

export class Session implements HubClient {
  readonly number: number;
  readonly socket: LineSocket;
  hasLeft = false;
  name = 'unknown';
  protocol: string | null = null;
  wantsHeaders: 'raw' | 'decoded' | null = null;
  knownHeight = -1;
  knownPeer: number | null = null;
  /** Names of scripts as the client wrote them (address or script hash), by script key. */
  readonly subscriptions = new Map<string, string>();
  private readonly deps: SessionDeps;
  private readonly writer: AnswerWriter;
  private version: WireVersion | null = null;
  private running = 0;
  private isReading = false;
  private errors = 0;
  private isDismissed = false;
  private readonly touched = new Set<string>();
  private isTelling = false;

  constructor(number: number, socket: LineSocket, deps: SessionDeps) {
    this.number = number;
    this.socket = socket;
    this.deps = deps;
    this.writer = new AnswerWriter(socket);
    socket.onLines = () => {
      // The time before this call is not counted as the client's time.
      deps.turns.lap();
      void this.readLines().catch((error: unknown) => this.fail(error));
      deps.received(this);
    };
    socket.onClose = () => this.forget();
  }

  /** Disconnects the client and removes its subscriptions immediately. */
  abandon(): void {
    this.socket.destroy();
    this.forgetSubscriptions();
  }

  private forget(): void {
    this.hasLeft = true;
    this.forgetSubscriptions();
    this.deps.closed(this);
  }

  private forgetSubscriptions(): void {
    for (const key of this.subscriptions.keys()) this.deps.unsubscribed(this, key);
    this.subscriptions.clear();
    this.touched.clear();
  }

  subscribe(scriptKey: string, alias: string): void {
    if (this.socket.isGone) return;
    if (!this.subscriptions.has(scriptKey)) this.deps.subscribed(this, scriptKey);
    this.subscriptions.set(scriptKey, alias);
  }

  unsubscribe(scriptKey: string): void {
    if (!this.subscriptions.delete(scriptKey)) return;
    this.touched.delete(scriptKey);
    this.deps.unsubscribed(this, scriptKey);
  }

  dismiss(): void {
    this.isDismissed = true;
  }

  /**
   * Reads lines while fewer than the maximum number of requests run. Lines are read one by one, because the first line
   * determines the JSON-RPC version.
   */
  private async readLines(): Promise<void> {
    if (this.isReading) return;
    this.isReading = true;
    const { socket } = this;
    try {
      while (this.running < MAX_RUNNING) {
        const line = socket.nextLine();
        socket.takesLines = line === null;
        if (line === null) break;
        const turn = await this.deps.turns.enter(this, this.weight);
        await this.startLine(turn, line);
      }
    } finally {
      this.isReading = false;
    }
  }

  /** Weight of the client in the fair queue: the number of running requests, or the maximum if unread bytes are waiting. */
  private get weight(): number {
    return this.socket.heldBytes > 0 ? MAX_RUNNING : 1 + this.running;
  }

  /** Resolves when the line is parsed. The request itself continues until its response is sent. */
  private async startLine(turn: Turn, line: Buffer): Promise<void> {
    let payload: JsonValue | HubError;
    try {
      payload = await this.parse(turn, line);
    } catch (error) {
      turn.leave();
      throw error;
    }
    if (this.socket.isGone) {
      turn.leave();
      return;
    }
    this.running++;
    void this.answer(turn, payload).finally(() => {
      turn.leave();
      this.running--;
      void this.readLines().catch((error: unknown) => this.fail(error));
    });
  }

  private fail(error: unknown): void {
    this.failAt(error, 'request');
  }

  private failAt(error: unknown, what: string): void {
    if (!isKnown(error)) this.deps.failed(error, what);
    this.socket.destroy();
  }

  /** Parses a line. Returns the error for the response if the line is invalid. */
  private async parse(turn: Turn, line: Buffer): Promise<JsonValue | HubError> {
    const text = await inTurn(turn, decodeUtf8InSlices(line));
    if (text === null) return new HubError(HUB_ERROR.parse, 'messages must be encoded in UTF-8');
    try {
      const scanner = new JsonScanner(text, MAX_VALUES, 'mended');
      const value = await inTurn(turn, scanner.readValueInSlices());
      await inTurn(turn, scanner.skipSpaceInSlices());
      if (!scanner.atEnd()) scanner.fail();
      return value;
    } catch (error) {
      if (!(error instanceof JsonParseError)) throw error;
      return new HubError(HUB_ERROR.parse, 'invalid JSON');
    }
  }

  private async answer(turn: Turn, payload: JsonValue | HubError): Promise<void> {
    try {
      if (payload instanceof HubError) {
        const text = errorText(this.version ?? '2.0', payload, null);
        await this.writer.exclusively(turn, () => this.writer.text(turn, `${text}\n`));
        this.socket.end();
        return;
      }
      this.version ??= detectVersion(payload);
      const message = readMessage(payload, this.version);
      if (message.kind === 'batch') await this.answerBatch(turn, message.items, this.version);
      else await this.answerOne(turn, message, this.version);
      if (this.isDismissed || this.errors >= MAX_ERRORS) this.socket.end();
    } catch (error) {
      // A part of the response may have been sent, so the connection must be closed.
      this.failAt(error, 'answer');
    }
  }

  private async answerOne(turn: Turn, item: WireItem, version: WireVersion): Promise<void> {
    const answer = await this.run(turn, item);
    if (answer === null) return;
    await this.writer.exclusively(turn, () => this.write(turn, answer, version, '', '\n'));
  }

  /**
   * Runs the members of a batch one after the other. Each response is sent before the next member runs, so that only one
   * response is in memory.
   */
  private async answerBatch(turn: Turn, items: readonly JsonValue[], version: WireVersion): Promise<void> {
    await this.writer.exclusively(turn, async () => {
      let lead = '[';
      for (const item of items) {
        if (this.socket.isGone) return;
        const answer = await this.run(turn, readItem(item, version));
        if (answer !== null) {
          await this.write(turn, answer, version, lead, '');
          lead = ', ';
        }
        const pause = turn.yieldIfDue();
        if (pause !== null) await pause;
      }
      if (lead !== '[') await this.writer.text(turn, ']\n');
    });
  }

  private async write(
    turn: Turn,
    { id, outcome }: Answer,
    version: WireVersion,
    lead: string,
    end: string,
  ): Promise<void> {
    if (outcome instanceof HubError)
      return this.writer.text(turn, `${lead}${errorText(version, outcome, id)}${end}`);
    const [before, behind] = answerFrame(version, id);
    return this.writer.result(turn, lead + before, outcome, behind + end);
  }

  /** Runs an item of a message and returns its response; null if the item gets no response. */
  private async run(turn: Turn, item: WireItem): Promise<Answer | null> {
    if (item.kind === 'answer') {
      this.errors++;
      return null;
    }
    if (item.kind === 'error') {
      this.errors++;
      return { id: item.id, outcome: item.error };
    }
    const { request } = item;
    const isNotice = request.id === null;
    const outcome = isNotice ? internalError() : await this.call(turn, request);
    if (outcome instanceof HubError && !outcome.isHonest) this.errors++;
    return isNotice ? null : { id: request.id, outcome };
  }

  private async call(turn: Turn, { method: name, params }: WireRequest): Promise<HubResult | HubError> {
    const method = this.deps.method(name);
    const beganMs = performance.now();
    const note = (code: number | null): void =>
      this.deps.answered(method?.name ?? 'unknown', code, performance.now() - beganMs);
    try {
      if (method === undefined) throw new HubError(HUB_ERROR.unknownMethod, `unknown method "${name}"`);
      const args = bindArguments(method, params);
      const named = params instanceof JsonObject ? params : null;
      const result = await method.run({ client: this, turn, hub: this.deps.hub }, args, named);
      note(null);
      return result;
    } catch (caught) {
      if (!(caught instanceof HubError) && !isKnown(caught)) this.deps.failed(caught, name);
      const error = caught instanceof HubError ? caught : internalError();
      if (!(caught instanceof ClientLeft)) note(error.code);
      return error;
    }
  }

  /** Records that a subscribed script changed. `tell` sends the notification. */
  touch(scriptKey: string): void {
    if (!this.subscriptions.has(scriptKey)) return;
    this.touched.add(scriptKey);
  }

  /** Sends pending notifications. Only one call at a time sends. */
  tell(): void {
    if (this.isTelling || this.version === null || !this.hasNews || this.tellTipNow(this.version)) return;
    void this.tellInTurns();
  }

  /**
   * Sends the notification of the tip, whose line is the same for all clients of a version. Returns false if the client
   * needs further notifications, or if the line could not be written immediately.
   */
  private tellTipNow(version: WireVersion): boolean {
    if (this.wantsHeaders === null || this.touched.size > 0 || this.hasNewPeer) return false;
    const { hub, notified } = this.deps;
    if (!this.writer.lineNow(hub.tip.line(this.wantsHeaders, version))) return false;
    this.knownHeight = hub.tip.height;
    notified('blockchain.headers.subscribe', 1);
    return true;
  }

  private async tellInTurns(): Promise<void> {
    this.isTelling = true;
    try {
      while (!this.socket.isGone && this.hasNews) {
        const turn = await this.deps.turns.enter(this);
        try {
          await this.tellSome(turn);
        } finally {
          turn.leave();
        }
      }
    } catch (error) {
      this.failAt(error, 'notification');
    } finally {
      this.isTelling = false;
    }
  }

  private get hasNews(): boolean {
    return this.touched.size > 0 || this.hasNewTip || this.hasNewPeer;
  }

  private get hasNewPeer(): boolean {
    return this.knownPeer !== null && this.knownPeer < this.deps.hub.peers.latest;
  }

  /**
   * Whether the tip is higher than the tip that was last sent to the client. Headers at known heights are not sent:
   * lbry-sdk's wallet would replace its header without looking for the fork, and would continue to show transactions at
   * their former heights.
   */
  private get hasNewTip(): boolean {
    return this.wantsHeaders !== null && this.deps.hub.tip.height > this.knownHeight;
  }

  private async tellSome(turn: Turn): Promise<void> {
    const { hub, notified } = this.deps;
    const version = this.version!;
    if (this.hasNewTip) await this.tellHeader(turn, version);
    if (this.hasNewPeer) await this.writer.exclusively(turn, () => this.writePeers(turn, version));
    const keys: string[] = [];
    for (const key of this.touched) {
      if (keys.push(key) === ADDRESSES_AT_ONCE) break;
    }
    if (keys.length === 0) return;
    for (const key of keys) this.touched.delete(key);
    const statuses = await hub.node.statuses(this, turn, keys);
    await this.writer.exclusively(turn, async () => {
      // The header must be sent before the notifications about addresses that its block affects.
      if (this.hasNewTip) await this.writeHeader(turn, version);
      const news = keys.flatMap((key, n) => {
        const alias = this.subscriptions.get(key);
        return alias === undefined ? [] : [[alias, statuses[n]!] as const];
      });
      if (news.length === 0) return;
      await this.writer.text(turn, `${addressNotifications(version, news)}\n`);
      notified('blockchain.address.subscribe', news.length);
    });
  }

  private async writePeers(turn: Turn, version: WireVersion): Promise<void> {
    const { hub, notified } = this.deps;
    if (this.knownPeer === null) return;
    const peers = hub.peers.since(this.knownPeer);
    this.knownPeer = hub.peers.latest;
    for (const peer of peers) await this.writer.text(turn, `${peerNotification(version, peer)}\n`);
    notified(PEER_NOTIFICATION, peers.length);
  }

  private tellHeader(turn: Turn, version: WireVersion): Promise<void> {
    return this.writer.exclusively(turn, () => this.writeHeader(turn, version));
  }

  private async writeHeader(turn: Turn, version: WireVersion): Promise<void> {
    const { hub, notified } = this.deps;
    if (!this.hasNewTip || this.wantsHeaders === null) return;
    const line = hub.tip.line(this.wantsHeaders, version);
    this.knownHeight = hub.tip.height;
    await this.writer.text(turn, line);
    notified('blockchain.headers.subscribe', 1);
  }
}

interface Answer {
  readonly id: JsonValue;
  readonly outcome: HubResult | HubError;
}

/** Whether a failure was already reported or is expected, so that it is not reported again. */
const isKnown = (error: unknown): boolean => error instanceof NodeFailure || error instanceof ClientLeft;
