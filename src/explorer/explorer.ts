/**
 * The web explorer's part on the node's thread: starts the explorer's thread, serves its requests through the methods open
 * to it, and reports the chain's tip to it. Sockets, templates and limits are in the other thread.
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
  type Tip,
  type ToExplorer,
} from './messages.js';

type ExplorerLink = ThreadLink<NodeCalls, ExplorerCalls, ToExplorer, FromExplorer>;

/** Time between two looks at what changes without an event: the progress of a start, the mempool. */
const STATUS_MS = 500;
/** Delay before a thread that ended is restarted. */
const RESTART_MS = 1000;
/** Maximum number of claim events passed on for a disconnected block. */
const MAX_TAKEN_EVENTS = 1000;
/** Maximum number of disconnected blocks remembered, to detect when they are connected again. */
const MAX_TAKEN_BLOCKS = 100;

export interface ExplorerDeps {
  readonly dispatcher: Pick<RpcDispatcher, 'handle' | 'warmup'>;
  readonly table: Pick<MethodTable, 'find'>;
  readonly logger: Logger;
  /** Aborted when the node begins to stop. */
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
  /** Null while there is nothing to look for, so that an explorer without visitors takes no processor time. */
  private timer: NodeJS.Timeout | null = null;
  /** Whether a page is open that changes of the mempool are for. */
  private isWatched = false;
  private reader: ChainReader | null = null;
  private toldStatus: string | null | undefined;
  private toldChanges = 0;
  /** The tip changed during the sync; it is reported at the next tick, so that fast blocks do not cost a message each. */
  private isTipDue = false;
  private readonly disconnected = new Set<string>();
  private exited: Promise<void> = Promise.resolve();
  /** Counters since the start. */
  counters: ExplorerCounters = { pages: 0, rendered: 0, refused: 0, failed: 0, viewers: 0 };
  /** Listening port; 0 while not listening. */
  port = 0;
  /** Reason for the end of the thread; null while it runs. */
  failure: string | null = null;

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

  /** Looks again and again, for as long as something can change that no event reports. */
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
        link.end(new Error(this.failure ?? 'the thread of the explorer has ended'));
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

  /** Restarts the thread on the same port, unless the node is stopping. */
  private ended(): void {
    if (this.stopping.signal.aborted || this.port === 0) return;
    this.deps.logger.warn('The explorer starts again.');
    setTimeout(() => {
      if (this.stopping.signal.aborted) return;
      this.link = this.begin({ ...this.start, port: this.port });
      this.failure = null;
      this.isWatched = false;
      this.toldStatus = undefined;
      this.listen().catch((error: Error) => {
        this.failure = error.message;
        this.deps.logger.error(error.message);
      });
      this.tellStatus();
      this.tellTip();
    }, RESTART_MS).unref();
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

  /** The JSON-RPC response as text. A method that is not open is unknown here. */
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

  /** Starts reporting the chain's tip. */
  follow(reader: ChainReader): void {
    this.reader = reader;
    const { chain } = reader;
    chain.describesDisconnected = true;
    this.offs.push(
      chain.events.on('tipChanged', () => {
        if (chain.isInitialDownload()) {
          this.isTipDue = true;
          this.watch();
        } else this.tellTip();
      }),
      chain.events.on('blockDisconnected', (block) => this.tellDisconnected(block)),
      chain.events.on('blockConnected', ({ hash }) => {
        if (this.disconnected.size === 0) return;
        const text = hashToHex(hash);
        if (this.disconnected.delete(text)) this.link.send(['reconnected', text]);
      }),
    );
    this.tellTip();
  }

  private tellDisconnected({ height, hash, claimEvents }: ConnectedBlock): void {
    const text = hashToHex(hash);
    this.disconnected.add(text);
    if (this.disconnected.size > MAX_TAKEN_BLOCKS)
      this.disconnected.delete(this.disconnected.values().next().value!);
    const events = claimEvents
      .slice(0, MAX_TAKEN_EVENTS)
      .map(({ type, name, claimId, formerClaimId, isSupport }) => ({
        event: type,
        nameHex: toHex(name),
        claimId: claimId && hashToHex(claimId),
        formerClaimId: formerClaimId && hashToHex(formerClaimId),
        isSupport,
      }));
    this.link.send(['disconnected', { height, hash: text, events }]);
  }

  /** On regtest a recent block alone ends the initial download, so there only an import and missing blocks count as syncing. */
  private syncState(reader: ChainReader): SyncState | null {
    const { chain, headers } = reader;
    if (!chain.isInitialDownload()) return null;
    const { bestHeader } = chain.index;
    const best = bestHeader === NO_HEADER ? 0 : headers.height(bestHeader);
    const isBehind = this.start.network !== 'regtest' || chain.importing || best > chain.height;
    return isBehind ? { headers: best } : null;
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
    this.link.send(['tip', shown, this.syncState(reader)]);
  }

  private tellStatus(): void {
    const { dispatcher, stopping } = this.deps;
    if (this.isWatched) this.tellMempool();
    if (this.isTipDue) this.tellTip();
    if (!this.mustLook) this.unwatch();
    const status = stopping.aborted ? 'The node is stopping.' : dispatcher.warmup;
    if (status === this.toldStatus) return;
    this.toldStatus = status;
    this.link.send(['status', status]);
    if (status === null) this.tellTip();
  }

  private tellMempool(): void {
    if (this.deps.dispatcher.warmup !== null) return;
    const changes = this.deps.mempoolChanges();
    if (changes === this.toldChanges) return;
    this.toldChanges = changes;
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
