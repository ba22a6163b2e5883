/**
 * The web explorer's part on the node's thread: starts the explorer's thread, runs the RPC methods that the explorer's
 * thread requests and may use, and reports the chain's tip to that thread. Sockets, templates and limits are in the
 * explorer's thread.
 */
import { Worker } from 'node:worker_threads';
import type { ChainReader } from '../chain/chainReader.js';
import type { RpcDispatcher, RpcReply } from '../rpc/call/dispatch.js';
import { isOpenTo } from '../rpc/declare/explorerMethods.js';
import type { MethodTable } from '../rpc/declare/table.js';
import type { ConnectedBlock } from '../chain/chainEvents.js';
import { NO_HEADER } from '../store/files/headerTable.js';
import { hashToHex, toHex } from '../util/bytes.js';
import { EnvironmentError } from '../util/text/environmentError.js';
import type { Logger } from '../util/logging.js';
import { projectFile } from '../util/project.js';
import { ThreadLink, type LinkItem } from '../threads/threadLink.js';
import {
  EXPLORER_ERRORS,
  type ExplorerCalls,
  type ExplorerCounters,
  type ExplorerStart,
  type FromExplorer,
  type NodeCalls,
  type SyncState,
  type TakenBlock,
  type Tip,
  type ToExplorer,
} from './messages.js';
import { withoutOld, withoutTaken, withTaken } from './takenBlocks.js';

type ExplorerLink = ThreadLink<NodeCalls, ExplorerCalls, ToExplorer, FromExplorer>;

/** Milliseconds between reads of the state that has no change event: the progress of the node's start, and the mempool. */
const STATUS_MS = 500;
/** Delay in ms before the explorer's thread is restarted after it ended. */
const RESTART_MS = 1000;
/** Maximum number of claim events of a disconnected block that are sent to the explorer's thread. */
const MAX_TAKEN_EVENTS = 1000;

export interface ExplorerDeps {
  readonly dispatcher: Pick<RpcDispatcher, 'handle' | 'warmup'>;
  readonly table: Pick<MethodTable, 'find'>;
  readonly logger: Logger;
  /** Signal that aborts when the node begins to stop. */
  readonly stopping: AbortSignal;
  /** A number that changes with every change of the mempool. */
  readonly mempoolChanges: () => number;
}

export class Explorer {
  private readonly start: ExplorerStart;
  private readonly deps: ExplorerDeps;
  private link: ExplorerLink;
  private readonly stopping = new AbortController();
  private readonly offs: (() => void)[] = [];
  /** Timer for reading the state; null while no page shows it, so that an explorer without visitors uses no CPU time. */
  private timer: NodeJS.Timeout | null = null;
  /** Whether a page is open that shows the mempool, so that its changes must be reported. */
  private isWatched = false;
  private reader: ChainReader | null = null;
  private postedStatus: string | null | undefined;
  private postedChanges = 0;
  /**
   * Whether a changed tip must be reported at the next poll. During the sync, tips and headers are not reported one by one,
   * because they change in quick succession. The first one is reported at once: only then the explorer's thread limits its calls.
   */
  private isTipDue = false;
  /** Whether the tip was reported with the state of a sync. */
  private isPostedSyncing = false;
  /** Disconnected blocks near the tip, the latest first: to detect when they are connected again, and for a restarted thread. */
  private taken: readonly TakenBlock[] = [];
  private exited: Promise<void> = Promise.resolve();
  /** Counters since the start of the explorer's thread, for metrics. */
  counters: ExplorerCounters = { pages: 0, rendered: 0, refused: 0, failed: 0, viewers: 0 };
  /** Port on which the explorer listens; 0 while it does not listen. */
  port = 0;
  /** Reason why the explorer's thread ended or cannot listen; null while it listens. */
  failure: string | null = null;
  /** Whether the latest restart failed because the thread could not listen. Only the first of such failures is logged. */
  private isListenFailed = false;

  private constructor(start: ExplorerStart, deps: ExplorerDeps) {
    this.start = start;
    this.deps = deps;
    this.link = this.begin(start);
    this.watch();
    const tell = (): void => this.tellStatus();
    deps.stopping.addEventListener('abort', tell);
    this.offs.push(() => deps.stopping.removeEventListener('abort', tell));
  }

  /** Resolves when the explorer listens. Rejects with `EnvironmentError` if it cannot. */
  static async open(start: ExplorerStart, deps: ExplorerDeps): Promise<Explorer> {
    const explorer = new Explorer(start, deps);
    try {
      await explorer.listen();
      explorer.tellStatus();
    } catch (error) {
      await explorer.close();
      throw error;
    }
    return explorer;
  }

  /** Starts polling, if the node has state that can change without an event. */
  private watch(): void {
    if (this.timer === null && this.mustLook)
      this.timer = setInterval(() => this.tellStatus(), STATUS_MS).unref();
  }

  private unwatch(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }

  private get mustLook(): boolean {
    return this.deps.dispatcher.warmup !== null || this.isWatched || this.isTipDue;
  }

  private begin(start: ExplorerStart): ExplorerLink {
    const worker = new Worker(projectFile('dist', 'explorer', 'explorerWorker.js'), { workerData: start });
    const link: ExplorerLink = new ThreadLink({
      port: worker,
      methods: { rpc: (method, params) => this.answer(method, params) },
      errors: EXPLORER_ERRORS,
      take: (item) => this.take(item),
    });
    worker.unref();
    worker.on('message', (items: readonly LinkItem<FromExplorer>[]) => link.receive(items));
    worker.on('error', (error) => {
      this.failure = error.message;
      this.deps.logger.error(`The explorer's thread failed: ${error.stack ?? error.message}`);
    });
    this.exited = new Promise((resolve) =>
      worker.on('exit', () => {
        link.end(new Error(this.failure ?? "the explorer's thread has exited"));
        resolve(this.ended());
      }),
    );
    return link;
  }

  private async listen(): Promise<void> {
    const { host, port } = this.start;
    try {
      this.port = await this.link.call('open');
    } catch (error) {
      throw new EnvironmentError(
        `The explorer cannot listen at ${host}:${port}: ${(error as Error).message}. Choose another port with -explorerport=<port>.`,
      );
    }
  }

  /** Called when the explorer's thread has ended. Restarts it on the same port, unless the node is stopping. */
  private ended(): void {
    if (this.stopping.signal.aborted || this.port === 0) return;
    if (!this.isListenFailed) this.deps.logger.warn('The explorer is being restarted.');
    setTimeout(() => {
      if (!this.stopping.signal.aborted) this.restart();
    }, RESTART_MS).unref();
  }

  private restart(): void {
    this.link = this.begin({ ...this.start, port: this.port });
    this.isWatched = false;
    this.postedStatus = undefined;
    void this.listenAgain();
    for (const block of this.taken.toReversed()) this.link.send(['disconnected', block]);
    this.tellStatus();
    this.tellTip();
  }

  /** Lets a restarted thread listen. If it cannot, ends it, so that `ended` restarts it again. */
  private async listenAgain(): Promise<void> {
    const { link } = this;
    try {
      await this.listen();
      this.failure = null;
      this.isListenFailed = false;
    } catch (error) {
      if (this.stopping.signal.aborted) return;
      this.failure = (error as Error).message;
      if (!this.isListenFailed) this.deps.logger.error(this.failure);
      this.isListenFailed = true;
      // The call fails if the thread has ended by itself.
      await link.call('close').catch(() => undefined);
    }
  }

  private take(item: FromExplorer): void {
    switch (item[0]) {
      case 'counters':
        this.counters = item[1];
        return;
      case 'watched':
        this.isWatched = item[1];
        if (this.isWatched) this.tellMempool();
        return this.watch();
      case 'log':
        this.deps.logger.warn(`Explorer: ${item[1]}`);
    }
  }

  /**
   * Runs an RPC method for the explorer. Resolves to the JSON-RPC response as text. Methods that visitors may not call are
   * rejected as unknown.
   */
  private async answer(method: string, params: readonly unknown[]): Promise<string> {
    const { table, dispatcher } = this.deps;
    const declared = table.find(method, 'documented');
    if (!declared || !isOpenTo('page', declared))
      return JSON.stringify({ result: null, error: { code: -32601, message: 'Method not found' } });
    const body = Buffer.from(JSON.stringify({ id: 0, method, params }));
    const { signal } = this.stopping;
    try {
      const reply = await dispatcher.handle(body, {
        profile: 'documented',
        walletName: undefined,
        user: 'explorer',
        gone: signal,
        signal,
      });
      return await wholeText(reply);
    } catch (error) {
      return JSON.stringify({ result: null, error: { code: -1, message: (error as Error).message } });
    }
  }

  /** Starts reporting the tip of the chain to the explorer's thread. */
  follow(reader: ChainReader): void {
    this.reader = reader;
    const { chain } = reader;
    chain.describesDisconnected = true;
    this.offs.push(
      chain.events.on('tipChanged', () => {
        if (this.isPostedSyncing && chain.isInitialDownload()) this.tellTipSoon();
        else this.tellTip();
      }),
      // A node downloads headers before its first block, so that no block reports the progress of the headers.
      chain.events.on('headerTip', () => {
        if (this.syncState(reader) === null) return;
        if (this.isPostedSyncing) this.tellTipSoon();
        else this.tellTip();
      }),
      chain.events.on('blockDisconnected', (block) => this.tellDisconnected(block)),
      chain.events.on('blockConnected', ({ hash }) => {
        if (this.taken.length === 0) return;
        const text = hashToHex(hash);
        const left = withoutTaken(this.taken, text);
        if (left.length < this.taken.length) this.link.send(['reconnected', text]);
        this.taken = left;
      }),
    );
    this.tellTip();
  }

  private tellDisconnected({ height, hash, claimEvents }: ConnectedBlock): void {
    const events = claimEvents
      .slice(0, MAX_TAKEN_EVENTS)
      .map(({ type, name, claimId, formerClaimId, isSupport }) => ({
        event: type,
        nameHex: toHex(name),
        claimId: claimId && hashToHex(claimId),
        formerClaimId: formerClaimId && hashToHex(formerClaimId),
        isSupport,
      }));
    const block: TakenBlock = { height, hash: hashToHex(hash), events };
    this.taken = withTaken(this.taken, block);
    this.link.send(['disconnected', block]);
  }

  /**
   * Progress of the sync; null if the node is in sync. On regtest the initial download ends only with a recent block. So a
   * regtest node counts as syncing only during an import, or while blocks of known headers are missing.
   */
  private syncState(reader: ChainReader): SyncState | null {
    const { chain, headers } = reader;
    if (!chain.isInitialDownload()) return null;
    const { bestHeader } = chain.index;
    const best = bestHeader === NO_HEADER ? 0 : headers.height(bestHeader);
    const isBehind = this.start.network !== 'regtest' || chain.importing || best > chain.height;
    return isBehind ? { headers: best } : null;
  }

  /** Reports the tip and the progress of the sync at the next poll. */
  private tellTipSoon(): void {
    this.isTipDue = true;
    this.watch();
  }

  private tellTip(): void {
    const { reader } = this;
    if (reader === null) return;
    this.isTipDue = false;
    const { chain, headers } = reader;
    const { tip } = chain;
    const shown: Tip | null =
      tip === NO_HEADER
        ? null
        : { height: chain.height, hash: hashToHex(headers.hash(tip)), timeSec: headers.timeSec(tip) };
    this.taken = withoutOld(this.taken, shown?.height ?? 0);
    const sync = this.syncState(reader);
    this.isPostedSyncing = sync !== null;
    this.link.send(['tip', shown, sync]);
  }

  private tellStatus(): void {
    const { dispatcher, stopping } = this.deps;
    if (this.isWatched) this.tellMempool();
    if (this.isTipDue) this.tellTip();
    if (!this.mustLook) this.unwatch();
    const status = stopping.aborted ? 'The node is stopping.' : dispatcher.warmup;
    if (status === this.postedStatus) return;
    this.postedStatus = status;
    this.link.send(['status', status]);
    if (status === null) this.tellTip();
  }

  private tellMempool(): void {
    if (this.deps.dispatcher.warmup !== null) return;
    const changes = this.deps.mempoolChanges();
    if (changes === this.postedChanges) return;
    this.postedChanges = changes;
    this.link.send(['mempool']);
  }

  async close(): Promise<void> {
    if (!this.stopping.signal.aborted) this.stopping.abort();
    this.unwatch();
    for (const off of this.offs.splice(0)) off();
    await this.link.call('close').catch(() => undefined);
    await this.exited;
  }
}

async function wholeText(reply: RpcReply): Promise<string> {
  if (reply.text !== null) return reply.text;
  let text = '';
  for await (const chunk of reply.chunks) text += chunk;
  return text;
}
