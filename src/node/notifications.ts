/** From the options to those who tell others of what happens: ZeroMQ and WebSocket. Loaded only as far as they are used. */
import { ClaimMetadata } from '../rpc/format/claimMetadata.js';
import { addressPrefixesOf } from '../script/address.js';
import type { NotificationSource } from '../server/notifications/stream.js';
import { NotificationStream } from '../server/notifications/stream.js';
import { WalletWatch, type WalletNotice } from '../server/notifications/walletNotice.js';
import type { WebSocketEndpoint } from '../server/webSocketEndpoint.js';
import type { ZmqNotifierOptions, ZmqPublisher, ZmqType } from '../server/zmqPublisher.js';
import type { Logger } from '../util/logging.js';
import type { Wallets } from '../wallet/wallets.js';
import type { LoadedOptions } from './options.js';

/** The reference's order (by name), then ours. */
const ZMQ_TYPES: readonly ZmqType[] = ['pubhashblock', 'pubhashtx', 'pubrawblock', 'pubrawtx', 'pubclaim'];

const MIB = 1 << 20;

export interface Notifications {
  /** Tells of chain and mempool from here on. */
  follow(source: NotificationSource): void;
  /** Tells of wallets from here on. */
  followWallets(wallets: Wallets): void;
  /** What is published by ZeroMQ, and where. */
  zmqNotifiers(): readonly { type: string; address: string }[];
  /** For the RPC server, which closes it; null unless `-ws`. */
  readonly webSockets: WebSocketEndpoint | null;
  close(): void;
}

/** Binds what is to be published at. Rejects with `ZmqStartError`. */
export async function startNotifications(
  loaded: LoadedOptions,
  logger: Logger,
  maxWebSockets = loaded.options.wsmaxclients,
): Promise<Notifications> {
  const zmq = await startZmq(loaded, logger);
  const webSockets = await makeWebSockets(loaded, logger, maxWebSockets);
  const tellsClaims = webSockets !== null || loaded.options.zmqpubclaim.length > 0;
  const { options, params } = loaded;
  const metadata = ClaimMetadata.of({ options: { claimMetadata: options.claimmetadata }, params });
  const stream = new NotificationStream(tellsClaims, logger, metadata);
  if (zmq) stream.listen(zmq);
  if (webSockets) stream.listen(webSockets);
  return {
    follow(source) {
      if (zmq || webSockets) stream.follow(source);
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
    webSockets,
    close: () => zmq?.close(),
  };
}

/** What the options ask for; the same notifier twice at one address counts once. */
export function zmqNotifiers({ options }: Pick<LoadedOptions, 'options'>): ZmqNotifierOptions[] {
  return ZMQ_TYPES.flatMap((type) => {
    const highWaterMark = options[`zmq${type}hwm`];
    return [...new Set(options[`zmq${type}`])].map((address) => ({ type, address, highWaterMark }));
  });
}

async function startZmq(loaded: LoadedOptions, logger: Logger): Promise<ZmqPublisher | null> {
  const notifiers = zmqNotifiers(loaded);
  if (notifiers.length === 0) return null;
  const { ZmqPublisher } = await import('../server/zmqPublisher.js');
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
  const { WebSocketEndpoint } = await import('../server/webSocketEndpoint.js');
  return new WebSocketEndpoint(
    {
      maxClients,
      maxSubscriptions: options.wsmaxsubscriptions,
      maxQueueBytes: options.wsmaxqueue * MIB,
    },
    { prefixes: addressPrefixesOf(params), logger },
  );
}
