/**
 * The node thread's end of the connection to the follower thread (`followerThread.ts`): reports the chain, answers queries,
 * and blocks chain changes on request. It ends with the thread.
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { ClaimRules } from '../../claimtrie/types.js';
import type { ValuePlace } from '../../index/claims/claimValues.js';
import type { SharedRowsId } from '../../store/cache/sharedRows.js';
import type { Bytes } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';
import { ChainTeller, type MirroredChain } from './chainMirror.js';
import type { FollowerStatus } from './followerStatus.js';
import {
  HEARD,
  SIGNAL,
  SIGNALS,
  crossedError,
  packValues,
  unpackPlaces,
  type AnswerNow,
  type AskedNow,
  type FollowerAnswer,
  type FollowerDeed,
  type FollowerSetup,
  type ToFollower,
  type ToNode,
} from './followerMessages.js';

export interface FollowerLineOptions {
  readonly rows: SharedRowsId;
  readonly rules: ClaimRules;
  readonly chain: MirroredChain;
  readonly index: { readonly height: number; readonly isSynced: boolean };
  readonly values: (places: readonly ValuePlace[]) => Promise<(Bytes | null)[]>;
  /** Closes the index files of all searching threads. */
  readonly release: () => Promise<void>;
  readonly logger: Logger;
  /** See `ChainTeller`. */
  readonly toldBlocks?: number;
}

/**
 * Maximum number of orders that the thread has not received yet. Further ones wait, one of each kind. Arbitrary: each has
 * some hundred bytes.
 */
const MOST_UNHEARD = 16;
/** Pause before waiting orders are sent again. Arbitrary. */
const OWED_MS = 50;
/**
 * Minimum time between two notifications of a changed tip. Each costs the node's thread more than a small block. A caller
 * that waits for the tip is reported at once. Arbitrary: equal to the time for which the follower collects blocks.
 */
const SOON_MS = 50;

type Question = Extract<ToNode, { kind: 'ask' }>;

export class FollowerLine {
  /** Start data of the thread, passed together with `transfer`. */
  readonly setup: FollowerSetup;
  readonly transfer: readonly MessagePort[];
  private readonly options: FollowerLineOptions;
  private readonly onStatus: (status: FollowerStatus) => void;
  private readonly teller: ChainTeller;
  private readonly port: MessagePort;
  private readonly facts: MessagePort;
  private readonly signals = new Int32Array(new SharedArrayBuffer(4 * SIGNALS));
  private sent = 0;
  /** Time of the last tip notification. */
  private soonMs = -Infinity;
  private readonly owed = new Set<FollowerDeed>();
  private owing: NodeJS.Timeout | null = null;
  private unhold: (() => void) | null = null;
  private readonly ended: Promise<void>;
  private end!: () => void;
  private isEnded = false;

  constructor(options: FollowerLineOptions, onStatus: (status: FollowerStatus) => void) {
    const { rows, rules, chain, index, toldBlocks } = options;
    this.options = options;
    this.onStatus = onStatus;
    this.teller = new ChainTeller(chain, index, toldBlocks);
    this.ended = new Promise((resolve) => (this.end = resolve));
    const talk = new MessageChannel();
    const facts = new MessageChannel();
    this.port = talk.port1;
    this.facts = facts.port1;
    this.setup = { rows, rules, port: talk.port2, facts: facts.port2, signals: this.signals };
    this.transfer = [talk.port2, facts.port2];
    this.port.on('message', (message: ToNode) => this.hear(message));
    this.port.on('close', () => this.endAll());
    this.facts.on('message', (asked: AskedNow) => this.answerNow(asked));
    this.port.unref();
    this.facts.unref();
  }

  tell(deed: FollowerDeed): void {
    if (this.isEnded) return;
    const unheard = (this.sent - Atomics.load(this.signals, HEARD)) | 0;
    if (this.isTooSoon(deed) || (unheard >= MOST_UNHEARD && deed !== 'close')) {
      this.owed.add(deed);
      this.owing ??= setTimeout(() => this.tellOwed(), OWED_MS).unref();
      return;
    }
    this.sent = (this.sent + 1) | 0;
    this.say({ news: this.news(), kind: 'do', deed });
  }

  private isTooSoon(deed: FollowerDeed): boolean {
    if (deed !== 'pokeSoon') return false;
    const now = performance.now();
    if (now - this.soonMs < SOON_MS) return true;
    this.soonMs = now;
    return false;
  }

  /** Stops following after the present step. */
  async close(): Promise<void> {
    if (!this.isEnded) {
      this.port.ref();
      this.tell('close');
      await this.ended;
    }
    this.cut();
  }

  /** The thread no longer receives or sends messages. */
  cut(): void {
    this.endAll();
    this.port.close();
    this.facts.close();
  }

  private tellOwed(): void {
    this.owing = null;
    this.soonMs = -Infinity;
    const owed = [...this.owed];
    this.owed.clear();
    for (const deed of owed) this.tell(deed);
  }

  private news(): ToFollower['news'] {
    return this.teller.news(this.options.logger.willLog('search'));
  }

  private say(message: ToFollower): void {
    if (!this.isEnded) this.port.postMessage(message);
  }

  private hear(message: ToNode): void {
    if (this.isEnded) return;
    switch (message.kind) {
      case 'ask':
        void this.answer(message);
        return;
      case 'unhold':
        this.letGo();
        return;
      case 'status':
        this.onStatus(message.status);
        return;
      case 'log':
        this.log(message);
        return;
      case 'closed':
        this.endAll();
    }
  }

  private log({ level, text }: Extract<ToNode, { kind: 'log' }>): void {
    const { logger } = this.options;
    if (level === 'debug') logger.debug('search', text);
    else logger[level](text);
  }

  private async answer(question: Question): Promise<void> {
    const { id } = question;
    try {
      const result = await this.resultOf(question);
      this.say({ news: this.news(), kind: 'answer', id, result });
    } catch (error) {
      this.say({ news: this.news(), kind: 'failed', id, error: crossedError(error) });
    }
  }

  private async resultOf(question: Question): Promise<FollowerAnswer> {
    const { chain, values, release } = this.options;
    switch (question.what) {
      case 'news':
        return null;
      case 'values':
        return packValues(await values(unpackPlaces(question.places)));
      case 'facts':
        return question.heights.map((height) => chain.factsAt(question.tip, height));
      case 'release':
        await release();
        return null;
      case 'hold':
        await this.hold();
        return null;
    }
  }

  /** Resolves when chain changes are blocked, until `letGo`. */
  private hold(): Promise<void> {
    return new Promise((resolve, reject) => {
      const held = this.options.chain.exclusively(
        () =>
          new Promise<void>((unhold) => {
            if (this.isEnded) return unhold();
            this.unhold = unhold;
            resolve();
          }),
      );
      held.catch(reject);
    });
  }

  private letGo(): void {
    this.unhold?.();
    this.unhold = null;
  }

  /** Answers a synchronous query of the thread. */
  private answerNow({ id, tip, heights }: AskedNow): void {
    const { chain } = this.options;
    const answer: AnswerNow = { id, facts: heights.map((height) => chain.factsAt(tip, height)) };
    this.facts.postMessage(answer);
    Atomics.store(this.signals, SIGNAL, 1);
    Atomics.notify(this.signals, SIGNAL);
  }

  private endAll(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    if (this.owing !== null) clearTimeout(this.owing);
    this.letGo();
    this.end();
  }
}
