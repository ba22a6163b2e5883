/**
 * Components that answer clients: dispatcher, HTTP servers, explorer, metrics and notifications. They are opened before the
 * chain, so that calls are answered during the warm-up.
 */
import type { ChainReader } from '../../chain/chainReader.js';
import type { Explorer } from '../../explorer/explorer.js';
import type { Mempool } from '../../mempool/mempool.js';
import { RpcDispatcher, type RpcDispatcherDeps } from '../../rpc/call/dispatch.js';
import { METHODS } from '../../rpc/declare/methodTable.js';
import { MethodTable } from '../../rpc/declare/table.js';
import type { RpcServices } from '../../interfaces/services.js';
import { inNextRound } from '../../scheduler/rounds.js';
import type { EsploraEndpoint } from '../../server/esplora/esploraEndpoint.js';
import type { RpcHttpServer } from '../../server/httpServer.js';
import type { NodeMetrics } from '../../server/metrics/nodeMetrics.js';
import { DatabaseError } from '../../store/leveldb/databaseError.js';
import { DatabaseCorruptionError } from '../../store/leveldb/levelDb.js';
import { AssertionError } from '../../util/assert.js';
import { describeFailure } from '../log/failure.js';
import type { SharedConnections } from '../options/descriptors.js';
import { httpRoutes, makeEsplora, makeMetrics } from '../services/httpRoutes.js';
import type { Notifications } from '../services/notifications.js';
import { clientCommand, LAUNCHER } from '../display/firstSteps.js';
import { startServer, startWalletServer } from '../services/rpcServers.js';
import { makeAnswerCache } from '../services/services.js';
import type { StartContext } from './startContext.js';

interface AnsweringInput extends Pick<StartContext, 'loaded' | 'deps' | 'closers' | 'parts'> {
  readonly notifications: Notifications;
  readonly share: SharedConnections;
}

export class Answering {
  readonly dispatcher: RpcDispatcher;
  readonly rpc: RpcDispatcherDeps;
  readonly metrics: NodeMetrics | null;
  readonly notifications: Notifications;
  server: RpcHttpServer | null = null;
  /** Whether the node is stopping. During the stop, calls may find the database closed, and their errors are expected. */
  isStopping = false;
  private readonly input: AnsweringInput;
  private walletServer: RpcHttpServer | null = null;
  private esplora: EsploraEndpoint | null = null;
  private explorer: Explorer | null = null;
  private chainReader: ChainReader | null = null;

  private constructor(input: AnsweringInput, metrics: NodeMetrics | null) {
    this.input = input;
    this.metrics = metrics;
    this.notifications = input.notifications;
    const { options } = input.loaded;
    const { services } = input.parts;
    const answers = makeAnswerCache(options.rpccache, services);
    input.parts.showAnswers(answers);
    if (answers) metrics?.measureAnswers(answers, services.blockTexts);
    this.rpc = {
      table: new MethodTable(
        options.disablewallet ? METHODS.filter(({ needsWallet }) => !needsWallet) : METHODS,
      ),
      services,
      logger: input.deps.logger,
      onException: (error, method) => this.failed(error, method),
      ...(metrics ? { onCall: metrics.onCall } : {}),
      ...(answers ? { answers } : {}),
    };
    this.dispatcher = new RpcDispatcher({ deprecated: new Set(options.deprecatedrpc) }, this.rpc);
    input.notifications.answerBy({ dispatcher: this.dispatcher, services });
  }

  /** Opens the RPC servers. Rejects with `ServerStartError`, `OptionError` or `EnvironmentError`. */
  static async open(input: AnsweringInput): Promise<Answering> {
    const { loaded, closers, share, parts } = input;
    const answering = new Answering(input, await makeMetrics(loaded, parts.services));
    const { rpc, dispatcher, metrics } = answering;
    answering.esplora = await makeEsplora(loaded, { ...rpc, dispatcher });
    parts.showEsplora(answering.esplora?.node.recent ?? null);
    answering.server = loaded.options.server ? await answering.startServer() : null;
    closers.push(() => answering.server?.close());
    answering.explorer = loaded.options.explorer ? await answering.startExplorer() : null;
    if (answering.explorer) metrics?.followExplorer(answering.explorer);
    closers.push(() => answering.explorer?.close());
    if (answering.server)
      answering.walletServer = await startWalletServer(loaded, share.httpPerServer, answering.server, {
        ...rpc,
        leader: dispatcher,
      });
    closers.push(() => answering.walletServer?.close());
    return answering;
  }

  private async startServer(): Promise<RpcHttpServer> {
    const { loaded, deps, share, notifications, parts } = this.input;
    const { services } = parts;
    return startServer(loaded, share.httpPerServer, {
      dispatcher: this.dispatcher,
      logger: deps.logger,
      ...(notifications.upgrades ? { webSockets: notifications.upgrades } : {}),
      ...(this.esplora ? { directPaths: this.esplora } : {}),
      extraRoutes: await httpRoutes(loaded, {
        ...this.rpc,
        dispatcher: this.dispatcher,
        metrics: this.metrics,
        chain: () => this.chainReader,
        hub: () => services.hub?.status ?? null,
        explorer: () => this.explorer,
        indexes: () => services.indexes(),
        outage: () => parts.outage(),
        isStopping: () => deps.signal.aborted,
      }),
    });
  }

  private async startExplorer(): Promise<Explorer> {
    const { loaded, deps, parts } = this.input;
    const { startExplorer } = await import('../services/explorerService.js');
    const [program, launcher] = [process.argv[1] ?? '', process.env[LAUNCHER]];
    const places = this.server?.addresses() ?? [];
    return startExplorer(loaded, {
      command: clientCommand(loaded, places, program, process.cwd(), launcher),
      dispatcher: this.dispatcher,
      table: this.rpc.table,
      methods: METHODS,
      logger: deps.logger,
      stopping: deps.signal,
      mempoolChanges: () => parts.services.mempool.changeCount,
    });
  }

  private failed(error: unknown, method: string): void {
    const { loaded, deps } = this.input;
    if (isFatal(error) && !this.isStopping) deps.onFatal(error);
    else deps.logger.warn(`${method} failed: ${failedCall(error, loaded.paths.networkDir)}`);
  }

  /** Subscribes to the chain. Must be called before the first block is connected. */
  follow(reader: ChainReader, mempool: Mempool & RpcServices['mempool']): void {
    const { chain } = reader;
    this.notifications.follow({ chain, mempool });
    this.esplora?.follow({ chain, mempool });
    this.metrics?.follow(reader, mempool);
    this.chainReader = reader;
    this.explorer?.follow(reader);
    chain.events.on('tipChanged', ({ initialDownload }) => {
      // Results are precomputed after all other work that a new block causes.
      if (!initialDownload) inNextRound(() => void this.dispatcher.readAhead());
    });
  }

  /**
   * Registers the servers to be closed before the chain, although they were opened first. Otherwise a call could find the
   * chain closed.
   */
  closeBeforeChain(): void {
    const { closers } = this.input;
    closers.push(() => this.server?.close());
    closers.push(() => this.walletServer?.close());
    closers.push(() => this.explorer?.close());
  }
}

/**
 * Whether an error of a call concerns the whole node: a violated invariant or a failed database. The chain itself reports
 * failed writes; an unreadable block is only an error of the call.
 */
export function isFatal(error: unknown): boolean {
  return [AssertionError, DatabaseError, DatabaseCorruptionError].some((type) => error instanceof type);
}

/** Returns the log text for a failed call. The stack is included only for a bug. */
function failedCall(error: unknown, folder: string): string {
  const { text, isBug } = describeFailure(error, folder);
  return isBug && error instanceof Error ? (error.stack ?? text) : text;
}
