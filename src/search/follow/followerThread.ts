/**
 * Search index follower in the thread that writes the index. Reads the node's database rows through the addon, and queries
 * the node's thread only for values in the latest blocks and for data of old blocks. A result is used only if the rows
 * matched the received chain during the whole read.
 */
import { ClaimIndexQueries } from '../../index/claims/claimIndexQueries.js';
import type { ValuePlace } from '../../index/claims/claimValues.js';
import { inNextRound } from '../../scheduler/rounds.js';
import { SharedRows } from '../../store/cache/sharedRows.js';
import type { Bytes } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';
import { ChainMirror } from './chainMirror.js';
import { SearchFollower } from './follower.js';
import {
  FOLLOWER_ERRORS,
  packPlaces,
  unpackValues,
  type FollowerCalls,
  type FollowerItem,
  type FollowerSetup,
  type FollowerNodeCalls,
  type NodeItem,
  type SyncNodeCalls,
} from './followerMessages.js';
import type { BlockId, IndexWriter } from './indexChange.js';
import { SyncCaller } from '../../threads/syncCalls.js';
import { ThreadLink, type LinkItem } from '../../threads/threadLink.js';

class FollowerThread {
  private readonly setup: FollowerSetup;
  private readonly rows: SharedRows;
  private readonly mirror: ChainMirror;
  private readonly follower: SearchFollower;
  private readonly link: ThreadLink<FollowerCalls, FollowerNodeCalls, FollowerItem, NodeItem>;
  private readonly sync: SyncCaller<SyncNodeCalls>;
  private isStatusDue = false;

  constructor(setup: FollowerSetup, writer: IndexWriter) {
    this.setup = setup;
    this.rows = new SharedRows(setup.rows);
    this.sync = new SyncCaller(setup.facts, FOLLOWER_ERRORS);
    this.link = new ThreadLink({
      port: setup.port,
      methods: { close: () => this.follower.close() },
      errors: FOLLOWER_ERRORS,
      take: (item) => this.take(item),
    });
    this.mirror = new ChainMirror(
      (wanted) => this.sync.call('facts', wanted),
      (wanted) => this.link.call('facts', wanted),
    );
    this.follower = new SearchFollower(this.queries(), this.mirror, this.releasing(writer), this.logger(), {
      onStatus: () => this.tellStatus(),
    });
    setup.port.on('message', (items: readonly LinkItem<NodeItem>[]) => this.link.receive(items));
    setup.port.on('close', () => this.end());
  }

  private queries(): ClaimIndexQueries {
    const { rows, mirror } = this;
    return new ClaimIndexQueries({
      rows,
      rules: this.setup.rules,
      active: mirror,
      snapshot: () => this.snapshot(),
      status: () => mirror.status,
      values: (places) => this.values(places),
      sizeOnDisk: () =>
        Promise.reject(new Error('the size on disk is not available in the thread of the follower')),
      exclusively: (task) => this.exclusively(task),
    });
  }

  /**
   * Returns a function that checks whether the rows still match the chain. Null if the chain changes faster than changes are
   * reported.
   */
  private async snapshot(): Promise<(() => boolean) | null> {
    const { rows, mirror } = this;
    if (rows.commits !== mirror.commits) await this.link.call('news');
    const { commits } = mirror;
    return commits === rows.commits ? () => rows.commits === commits : null;
  }

  private async exclusively<T>(task: () => Promise<T>): Promise<T> {
    await this.link.call('hold');
    try {
      if (this.rows.commits !== this.mirror.commits)
        throw new Error('rows are being written to the database');
      return await task();
    } finally {
      this.link.send(['unhold']);
    }
  }

  private async values(places: readonly ValuePlace[]): Promise<(Bytes | null)[]> {
    if (places.length === 0) return [];
    return unpackValues(await this.link.call('values', packPlaces(places)));
  }

  /** Wraps the writer so that search threads close the index file before it is deleted. */
  private releasing(writer: IndexWriter): IndexWriter {
    const startBuild = async (base: BlockId): Promise<void> => {
      await this.link.call('release');
      await writer.startBuild(base);
    };
    return new Proxy(writer, {
      get(target, name) {
        if (name === 'startBuild') return startBuild;
        const member: unknown = Reflect.get(target, name);
        return typeof member === 'function' ? (member.bind(target) as unknown) : member;
      },
    });
  }

  private logger(): Logger {
    const { mirror } = this;
    const say = (level: 'info' | 'warn' | 'error' | 'debug', text: string): void =>
      this.link.send(['log', level, text]);
    return {
      info: (text) => say('info', text),
      warn: (text) => say('warn', text),
      error: (text) => say('error', text),
      debug: (_category, text) => {
        if (mirror.isLogged) say('debug', typeof text === 'string' ? text : text());
      },
      willLog: () => mirror.isLogged,
    };
  }

  private tellStatus(): void {
    if (this.isStatusDue) return;
    this.isStatusDue = true;
    inNextRound(() => {
      this.isStatusDue = false;
      this.link.send(['status', this.follower.status]);
    });
  }

  private take(item: NodeItem): void {
    if (item[0] === 'news') return this.mirror.take(item[1]);
    Atomics.add(this.setup.received, 0, 1);
    void this.follower[item[1]]();
  }

  /** Rejects all pending queries, because the node's thread has ended. */
  private end(): void {
    this.link.end(new Error('the node is stopping'));
    this.sync.close();
    void this.follower.close();
  }
}

/**
 * Starts a follower that the node's thread controls (`followerLine.ts`). The follower runs until the other end of the port
 * is closed.
 */
export function startFollower(setup: FollowerSetup, writer: IndexWriter): void {
  new FollowerThread(setup, writer);
}
