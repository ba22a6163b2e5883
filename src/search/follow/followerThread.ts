/**
 * The follower of the claim index in the thread that writes the search index. It reads the node's rows through the addon,
 * and queries the node's thread only for values in the latest blocks and for facts of old blocks. A read is valid only if
 * the rows matched the received chain all the time.
 */
import { receiveMessageOnPort } from 'node:worker_threads';
import { ClaimIndexQueries } from '../../index/claims/claimIndexQueries.js';
import type { ValuePlace } from '../../index/claims/claimValues.js';
import { SharedRows } from '../../store/cache/sharedRows.js';
import type { Bytes } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';
import { ChainMirror, type BlockFacts, type WantedFacts } from './chainMirror.js';
import { SearchFollower } from './follower.js';
import {
  HEARD,
  SIGNAL,
  errorThatCrossed,
  packPlaces,
  unpackValues,
  type AnswerNow,
  type AskedNow,
  type FollowerAnswer,
  type FollowerDeed,
  type FollowerQuestion,
  type FollowerSetup,
  type PackedValues,
  type ToFollower,
  type ToNode,
} from './followerMessages.js';
import type { BlockId, IndexWriter } from './indexChange.js';

interface Waiting {
  readonly resolve: (result: FollowerAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** Maximum time for a synchronous query; the node's thread is never busy for so long. */
const STANDSTILL_MS = 60_000;

class FollowerThread {
  private readonly setup: FollowerSetup;
  private readonly rows: SharedRows;
  private readonly mirror: ChainMirror;
  private readonly follower: SearchFollower;
  private readonly asked = new Map<number, Waiting>();
  private nextId = 0;
  private isStatusDue = false;
  private isOver = false;

  constructor(setup: FollowerSetup, writer: IndexWriter) {
    this.setup = setup;
    this.rows = new SharedRows(setup.rows);
    this.mirror = new ChainMirror(
      (wanted) => this.askNow(wanted),
      async (wanted) => (await this.ask({ what: 'facts', ...wanted })) as readonly BlockFacts[],
    );
    this.follower = new SearchFollower(this.queries(), this.mirror, this.releasing(writer), this.logger(), {
      onStatus: () => this.tellStatus(),
    });
    setup.port.on('message', (message: ToFollower) => this.hear(message));
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
      sizeOnDisk: () => Promise.reject(new Error('the follower asks for no sizes')),
      exclusively: (task) => this.exclusively(task),
    });
  }

  /** Null if the chain changes faster than it is reported. */
  private async snapshot(): Promise<(() => boolean) | null> {
    const { rows, mirror } = this;
    if (rows.commits !== mirror.commits) await this.ask({ what: 'news' });
    const { commits } = mirror;
    return commits === rows.commits ? () => rows.commits === commits : null;
  }

  private async exclusively<T>(task: () => Promise<T>): Promise<T> {
    await this.ask({ what: 'hold' });
    try {
      if (this.rows.commits !== this.mirror.commits) throw new Error('rows are on their way to the database');
      return await task();
    } finally {
      this.say({ kind: 'unhold' });
    }
  }

  private async values(places: readonly ValuePlace[]): Promise<(Bytes | null)[]> {
    if (places.length === 0) return [];
    return unpackValues((await this.ask({ what: 'values', places: packPlaces(places) })) as PackedValues);
  }

  /** Wraps the writer: searching threads close the index file before it is deleted. */
  private releasing(writer: IndexWriter): IndexWriter {
    const startBuild = async (base: BlockId): Promise<void> => {
      await this.ask({ what: 'release' });
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
      this.say({ kind: 'log', level, text });
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

  private say(message: ToNode): void {
    if (!this.isOver) this.setup.port.postMessage(message);
  }

  private tellStatus(): void {
    if (this.isStatusDue) return;
    this.isStatusDue = true;
    setImmediate(() => {
      this.isStatusDue = false;
      this.say({ kind: 'status', status: this.follower.status });
    });
  }

  private ask(question: FollowerQuestion): Promise<FollowerAnswer> {
    if (this.isOver) return Promise.reject(new Error('the node is stopping'));
    return new Promise((resolve, reject) => {
      const id = this.nextId++;
      this.asked.set(id, { resolve, reject });
      this.say({ kind: 'ask', id, ...question });
    });
  }

  private askNow(wanted: WantedFacts): readonly BlockFacts[] {
    const { facts, signals } = this.setup;
    const asked: AskedNow = { id: this.nextId++, ...wanted };
    const until = performance.now() + STANDSTILL_MS;
    Atomics.store(signals, SIGNAL, 0);
    facts.postMessage(asked);
    for (let left = STANDSTILL_MS; left > 0; left = until - performance.now()) {
      Atomics.wait(signals, SIGNAL, 0, left);
      Atomics.store(signals, SIGNAL, 0);
      // Answers of earlier, aborted queries may come first.
      for (let found = receiveMessageOnPort(facts); found; found = receiveMessageOnPort(facts)) {
        const answer = found.message as AnswerNow;
        if (answer.id === asked.id) return answer.facts;
      }
    }
    throw new Error('the node does not answer');
  }

  private hear(message: ToFollower): void {
    if (message.news !== null) this.mirror.take(message.news);
    if (message.kind === 'do') {
      Atomics.add(this.setup.signals, HEARD, 1);
      return this.perform(message.deed);
    }
    const waiting = this.asked.get(message.id)!;
    this.asked.delete(message.id);
    if (message.kind === 'answer') waiting.resolve(message.result);
    else waiting.reject(errorThatCrossed(message.error));
  }

  private perform(deed: FollowerDeed): void {
    if (deed === 'close') {
      void this.follower.close().then(() => this.say({ kind: 'closed' }));
      return;
    }
    void this.follower[deed]();
  }

  /** Fails all pending queries, because the other thread has ended. */
  private end(): void {
    this.isOver = true;
    for (const { reject } of this.asked.values()) reject(new Error('the node is stopping'));
    this.asked.clear();
    this.setup.facts.close();
    void this.follower.close();
  }
}

/** Starts a follower that is controlled by the node's thread (`followerLine.ts`), until the other end of the port is closed. */
export function startFollower(setup: FollowerSetup, writer: IndexWriter): void {
  new FollowerThread(setup, writer);
}
