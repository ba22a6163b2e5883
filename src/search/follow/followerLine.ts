/**
 * Connection of the node's thread to the follower thread (`followerThread.ts`): sends chain changes, answers queries, and
 * blocks chain changes on request. The connection ends with the thread.
 */
import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { ChainHold } from '../../chain/chainHold.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import type { ValuePlace } from '../../index/claims/claimValues.js';
import type { SharedRowsId } from '../../store/cache/sharedRows.js';
import type { Bytes } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';
import { serveSyncCalls } from '../../threads/syncCalls.js';
import { ThreadLink, type LinkItem } from '../../threads/threadLink.js';
import { ChainTeller, type MirroredChain } from './chainMirror.js';
import type { FollowerStatus } from './followerStatus.js';
import {
  FOLLOWER_ERRORS,
  packValues,
  unpackPlaces,
  type FollowerCalls,
  type FollowerCommand,
  type FollowerItem,
  type FollowerSetup,
  type FollowerNodeCalls,
  type NodeItem,
  type SyncNodeCalls,
} from './followerMessages.js';

export interface FollowerLineOptions {
  readonly rows: SharedRowsId;
  readonly rules: ClaimRules;
  readonly chain: MirroredChain;
  readonly index: { readonly height: number; readonly isSynced: boolean };
  readonly values: (places: readonly ValuePlace[]) => Promise<(Bytes | null)[]>;
  /** Closes the index files in all search threads. */
  readonly release: () => Promise<void>;
  readonly logger: Logger;
  /** See `ChainTeller`. */
  readonly sentBlocks?: number;
}

/**
 * Maximum number of commands that the follower thread has not received yet. Further commands wait here, one of each kind.
 * Arbitrary: each has some hundred bytes.
 */
const MAX_UNRECEIVED = 16;
/** Pause in ms before waiting commands are sent again. Arbitrary. */
const RETRY_MS = 50;
/**
 * Minimum number of milliseconds between two notifications of a changed tip, because each takes the node's thread more time
 * than a small block. A notification that a caller waits for is sent immediately. Arbitrary: as long as the follower
 * collects blocks.
 */
const SOON_MS = 50;

export class FollowerLine {
  /** Start data of the follower thread. It must be passed together with `transfer`. */
  readonly setup: FollowerSetup;
  readonly transfer: readonly MessagePort[];
  private readonly options: FollowerLineOptions;
  private readonly onStatus: (status: FollowerStatus) => void;
  private readonly teller: ChainTeller;
  private readonly port: MessagePort;
  private readonly facts: MessagePort;
  private readonly link: ThreadLink<FollowerNodeCalls, FollowerCalls, NodeItem, FollowerItem>;
  private readonly received = new Int32Array(new SharedArrayBuffer(4));
  private sent = 0;
  /** Time of the last notification of a changed tip, in milliseconds. */
  private soonMs = -Infinity;
  private readonly pending = new Set<FollowerCommand>();
  private pendingTimer: NodeJS.Timeout | null = null;
  private readonly hold: ChainHold;
  private isEnded = false;

  constructor(options: FollowerLineOptions, onStatus: (status: FollowerStatus) => void) {
    const { rows, rules, chain, index, sentBlocks } = options;
    this.options = options;
    this.onStatus = onStatus;
    this.teller = new ChainTeller(chain, index, sentBlocks);
    this.hold = new ChainHold((task) => chain.exclusively(task));
    const talk = new MessageChannel();
    const facts = new MessageChannel();
    this.port = talk.port1;
    this.facts = facts.port1;
    this.link = new ThreadLink({
      port: this.port,
      methods: this.calls(),
      errors: FOLLOWER_ERRORS,
      take: (item) => this.take(item),
      first: () => this.news(),
    });
    const signal = new Int32Array(new SharedArrayBuffer(4));
    this.setup = {
      rows,
      rules,
      port: talk.port2,
      facts: { port: facts.port2, signal },
      received: this.received,
    };
    this.transfer = [talk.port2, facts.port2];
    this.port.on('message', (items: readonly LinkItem<FollowerItem>[]) => this.link.receive(items));
    this.port.on('close', () => this.endAll());
    this.port.unref();
    serveSyncCalls(
      { port: this.facts, signal },
      {
        facts: ({ tip, heights }) => heights.map((height) => chain.factsAt(tip, height)),
      } satisfies SyncNodeCalls,
      FOLLOWER_ERRORS,
    );
  }

  private calls(): FollowerNodeCalls {
    const { chain, values, release } = this.options;
    return {
      news: () => undefined,
      values: async (places) => packValues(await values(unpackPlaces(places))),
      facts: ({ tip, heights }) => heights.map((height) => chain.factsAt(tip, height)),
      release,
      hold: () => this.hold.begin(),
    };
  }

  tell(command: FollowerCommand): void {
    if (this.isEnded) return;
    const unreceived = (this.sent - Atomics.load(this.received, 0)) | 0;
    if (this.isTooSoon(command) || unreceived >= MAX_UNRECEIVED) {
      this.pending.add(command);
      this.pendingTimer ??= setTimeout(() => this.sendPending(), RETRY_MS).unref();
      return;
    }
    this.sent = (this.sent + 1) | 0;
    this.link.send(['command', command]);
  }

  private isTooSoon(command: FollowerCommand): boolean {
    if (command !== 'pokeSoon') return false;
    const now = performance.now();
    if (now - this.soonMs < SOON_MS) return true;
    this.soonMs = now;
    return false;
  }

  /** Stops following after the step that is running. */
  async close(): Promise<void> {
    if (!this.isEnded) {
      this.port.ref();
      await this.link.call('close').catch(() => undefined);
    }
    this.cut();
  }

  /** Ends the connection without waiting, because the thread does not handle messages any more. */
  cut(): void {
    this.endAll();
    this.port.close();
    this.facts.close();
  }

  private sendPending(): void {
    this.pendingTimer = null;
    this.soonMs = -Infinity;
    const pending = [...this.pending];
    this.pending.clear();
    for (const command of pending) this.tell(command);
  }

  private news(): NodeItem | null {
    const news = this.teller.news(this.options.logger.willLog('search'));
    return news && ['news', news];
  }

  private take(item: FollowerItem): void {
    switch (item[0]) {
      case 'unhold':
        return this.hold.end();
      case 'status':
        return this.onStatus(item[1]);
      case 'log':
        return this.log(item[1], item[2]);
    }
  }

  private log(level: 'info' | 'warn' | 'error' | 'debug', text: string): void {
    const { logger } = this.options;
    if (level === 'debug') logger.debug('search', text);
    else logger[level](text);
  }

  private endAll(): void {
    if (this.isEnded) return;
    this.isEnded = true;
    if (this.pendingTimer !== null) clearTimeout(this.pendingTimer);
    this.hold.close();
    this.link.end(new Error('the thread that writes the search index has exited'));
  }
}
