/** Creates the ZeroMQ and WebSocket notifiers from the options. Loaded only if a notifier is enabled. */
import { ShownMetadata } from '../../rpc/format/claimMetadata.js';
import { addressPrefixesOf } from '../../script/address.js';
import type { NotificationSource } from '../../server/notifications/stream.js';
import { NotificationStream } from '../../server/notifications/stream.js';
import { WalletWatch, type WalletNotice } from '../../server/notifications/walletNotice.js';
import type { LbcdSocketCalls, LbcdSocketEndpoint } from '../../server/lbcdSockets/endpoint.js';
import type { UpgradeEndpoint, Upgrades } from '../../server/upgrades.js';
import type { WebSocketEndpoint } from '../../server/webSocketEndpoint.js';
import type { ZmqNotifierOptions, ZmqPublisher, ZmqType } from '../../server/zmqPublisher.js';
import type { Logger } from '../../util/logging.js';
import type { Wallets } from '../../wallet/wallets.js';
import type { LoadedOptions } from '../options/options.js';

/** Notification types: those of the reference in its order, then those that only this node has. */
const ZMQ_TYPES: readonly ZmqType[] = ['pubhashblock', 'pubhashtx', 'pubrawblock', 'pubrawtx', 'pubclaim'];

const MIB = 1 << 20;

export interface Notifications {
  /** Subscribes to chain and mempool events, and starts notifying clients. */
  follow(source: NotificationSource): void;
  /** Subscribes to wallet events, and starts notifying clients. */
  followWallets(wallets: Wallets): void;
  /** Returns the ZeroMQ notifiers with their addresses. */
  zmqNotifiers(): readonly { type: string; address: string }[];
  /** WebSocket handler, which the RPC server uses and closes; null without WebSockets. */
  readonly upgrades: Upgrades | null;
  /** Sets the handler for method calls of clients of lbcd's WebSocket protocol. */
  answerBy(calls: LbcdSocketCalls): void;
  close(): void;
}

/** Creates the notifiers and binds the ZeroMQ addresses. Rejects with `ZmqStartError`. */
export async function startNotifications(
  loaded: LoadedOptions,
  logger: Logger,
  maxWebSockets = wantedWebSockets(loaded),
): Promise<Notifications> {
  const zmq = await startZmq(loaded, logger);
  const wanted = wantedWebSockets(loaded);
  const share = (count: number): number => Math.max(1, Math.floor((count * maxWebSockets) / wanted));
  const webSockets = await makeWebSockets(loaded, logger, share(loaded.options.wsmaxclients));
  const lbcdSockets = await makeLbcdSockets(loaded, logger, share(lbcdMaxClients(loaded)));
  const tellsClaims = webSockets !== null || loaded.options.zmqpubclaim.length > 0;
  const { options, params } = loaded;
  const metadata = ShownMetadata.of({ options: { claimMetadata: options.claimmetadata }, params });
  const stream = new NotificationStream(tellsClaims, logger, metadata);
  if (zmq) stream.listen(zmq);
  if (webSockets) stream.listen(webSockets);
  if (lbcdSockets) stream.listen(lbcdSockets);
  return {
    follow(source) {
      if (zmq || webSockets || lbcdSockets) stream.follow(source);
    },
    followWallets(wallets) {
      if (!webSockets) return;
      const audience = {
        depthWanted: (name: string) => webSockets.walletDepthWanted(name),
        tell: (notice: WalletNotice) => webSockets.walletChanged(notice),
      };
      stream.listen(new WalletWatch(wallets, audience));
    },
    zmqNotifiers: () => zmq?.active() ?? [],
    upgrades: await makeUpgrades(loaded, webSockets, lbcdSockets),
    answerBy: (calls) => lbcdSockets?.answerBy(calls),
    close: () => zmq?.close(),
  };
}

/** Default maximum number of WebSocket clients of lbcd's protocol. Source: lbcd config.go `defaultMaxRPCWebsockets`. */
const LBCD_MAX_CLIENTS = 25;

/**
 * Whether lbcd's WebSocket protocol is served. In the lbcd profile its path is `/ws`; otherwise it is `/lbcd/ws` and
 * requires `-ws`.
 */
function servesLbcdSockets({ options }: Pick<LoadedOptions, 'options'>): boolean {
  return options.server && (options.ws || options.compat === 'lbcd');
}

function lbcdMaxClients({ options, isSet }: Pick<LoadedOptions, 'options' | 'isSet'>): number {
  return isSet('wsmaxclients') ? options.wsmaxclients : LBCD_MAX_CLIENTS;
}

/** Returns the maximum number of WebSocket clients of both protocols together. */
export function wantedWebSockets(loaded: Pick<LoadedOptions, 'options' | 'isSet'>): number {
  const { options } = loaded;
  const own = options.server && options.ws ? options.wsmaxclients : 0;
  return own + (servesLbcdSockets(loaded) ? lbcdMaxClients(loaded) : 0);
}

/** Returns the ZeroMQ notifiers set by the options. The same type at the same address counts only once. */
export function zmqNotifiers({ options }: Pick<LoadedOptions, 'options'>): ZmqNotifierOptions[] {
  return ZMQ_TYPES.flatMap((type) => {
    const highWaterMark = options[`zmq${type}hwm`];
    return [...new Set(options[`zmq${type}`])].map((address) => ({ type, address, highWaterMark }));
  });
}

async function startZmq(loaded: LoadedOptions, logger: Logger): Promise<ZmqPublisher | null> {
  const notifiers = zmqNotifiers(loaded);
  if (notifiers.length === 0) return null;
  const { ZmqPublisher } = await import('../../server/zmqPublisher.js');
  return ZmqPublisher.open({ notifiers, serializeWitness: loaded.options.rpcserialversion > 0 }, logger);
}

async function makeWebSockets(
  { options, params }: LoadedOptions,
  logger: Logger,
  maxClients: number,
): Promise<WebSocketEndpoint | null> {
  if (!options.ws) return null;
  if (!options.server) {
    logger.warn('-ws has no effect without -server');
    return null;
  }
  const { WebSocketEndpoint } = await import('../../server/webSocketEndpoint.js');
  return new WebSocketEndpoint(
    {
      maxClients,
      maxSubscriptions: options.wsmaxsubscriptions,
      maxQueueBytes: options.wsmaxqueue * MIB,
    },
    { prefixes: addressPrefixesOf(params), logger },
  );
}

async function makeLbcdSockets(
  loaded: LoadedOptions,
  logger: Logger,
  maxClients: number,
): Promise<LbcdSocketEndpoint | null> {
  if (!servesLbcdSockets(loaded)) return null;
  const { options, params } = loaded;
  const { LbcdSocketEndpoint } = await import('../../server/lbcdSockets/endpoint.js');
  return new LbcdSocketEndpoint(
    {
      maxClients,
      maxConcurrent: options.wsmaxconcurrentreqs,
      maxQueueBytes: options.wsmaxqueue * MIB,
      threads: options.rpcthreads,
    },
    { prefixes: addressPrefixesOf(params), logger },
  );
}

/** Creates the WebSocket handlers. Each protocol has its own path; the profile decides which protocol `/ws` has. */
async function makeUpgrades(
  { options }: LoadedOptions,
  own: WebSocketEndpoint | null,
  lbcd: LbcdSocketEndpoint | null,
): Promise<Upgrades | null> {
  if (own === null && lbcd === null) return null;
  const { Upgrades } = await import('../../server/upgrades.js');
  const endpoints = new Map<string, UpgradeEndpoint>();
  if (lbcd) endpoints.set('/lbcd/ws', lbcd);
  if (own) endpoints.set('/documented/ws', own);
  const usual = options.compat === 'lbcd' ? lbcd : own;
  if (usual) endpoints.set('/ws', usual);
  return new Upgrades(endpoints);
}
