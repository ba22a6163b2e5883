/** Starts the JSON-RPC servers: the node's port, and the port compatible with lbcwallet (`-walletrpcport`). */
import { RpcDispatcher, type RpcDispatcherDeps } from '../../rpc/call/dispatch.js';
import { METHODS } from '../../rpc/declare/methodTable.js';
import type { HttpServerDeps, HttpServerOptions, RpcHttpServer } from '../../server/httpServer.js';
import type { CertificatePair } from '../../server/tls/certificateFiles.js';
import { splitHostPort, type HostPort } from '../../util/network/hostPort.js';
import type { Logger } from '../../util/logging.js';
import type { WantedConnections } from '../options/descriptors.js';
import { wantedWebSockets } from './notifications.js';
import type { LoadedOptions } from '../options/options.js';

/** Number that is added to the node's RPC port to get the default port of lbcwallet. Source: lbcwallet params.go. */
const WALLET_PORT_OFFSET = 1;
/** Value of `-walletrpcport` that selects the default port of lbcwallet. */
const OWN_WALLET_PORT = 1;

/**
 * Starts the RPC server on the RPC port of the node. Rejects with `ServerStartError`, or with `EnvironmentError` for its
 * certificate.
 */
export async function startServer(
  loaded: LoadedOptions,
  maxConnections: number,
  deps: HttpServerDeps,
): Promise<RpcHttpServer> {
  // Loaded dynamically, because loading the HTTP modules takes a third of the startup time.
  const { RpcHttpServer } = await import('../../server/httpServer.js');
  const { options, paths } = loaded;
  const usesTls = options.tls ?? options.compat === 'lbcd';
  const certificate = usesTls
    ? await certificateOf(paths.rpcCert, paths.rpcKey, ['rpccert', 'rpckey'], deps.logger)
    : null;
  const server = new RpcHttpServer(
    { ...serverOptions(loaded), maxConnections, ...(certificate ? { certificate } : {}) },
    deps,
  );
  await server.listen();
  return server;
}

/** Reads the files of the TLS certificate and its key. Creates the files if they are missing. */
async function certificateOf(
  certFile: string,
  keyFile: string,
  [certOption, keyOption]: readonly [string, string],
  logger: Logger,
): Promise<CertificatePair> {
  const { openCertificate } = await import('../../server/tls/certificateFiles.js');
  return openCertificate({ certFile, keyFile, certOption, keyOption }, logger);
}

/** Returns the numbers of client connections that the options request. */
export function wantedConnections(loaded: Pick<LoadedOptions, 'options' | 'isSet'>): WantedConnections {
  const { options } = loaded;
  const { server } = options;
  return {
    http: options.rpcmaxconnections,
    httpServers: server ? (hasWalletPort({ options }) ? 2 : 1) : 0,
    webSockets: wantedWebSockets(loaded),
    hub: options.hub ? options.hubmaxsessions : 0,
  };
}

function hasWalletPort({ options }: Pick<LoadedOptions, 'options'>): boolean {
  const isWanted = options.walletrpcport !== undefined || options.walletrpclisten.length > 0;
  return isWanted && !options.disablewallet;
}

/**
 * Returns the port and addresses of the wallet server. If `endpoints` is null, the addresses are those of the node's RPC
 * server.
 */
function walletPlaces({ options, params }: LoadedOptions): { port: number; endpoints: HostPort[] | null } {
  const { walletrpcport = OWN_WALLET_PORT, walletrpclisten } = options;
  const port = walletrpcport === OWN_WALLET_PORT ? params.rpcPort - WALLET_PORT_OFFSET : walletrpcport;
  const endpoints = walletrpclisten.map((place) => splitHostPort(place, port));
  return { port, endpoints: endpoints.length > 0 ? endpoints : null };
}

/** Starts the server for the methods of lbcwallet, with the access rules of the node's RPC server. Null if it is not enabled. */
export async function startWalletServer(
  loaded: LoadedOptions,
  maxConnections: number,
  { authenticator }: RpcHttpServer,
  rpc: RpcDispatcherDeps,
): Promise<RpcHttpServer | null> {
  const { options, paths } = loaded;
  if (!hasWalletPort(loaded)) return null;
  const { port, endpoints } = walletPlaces(loaded);
  const { RpcHttpServer } = await import('../../server/httpServer.js');
  const { lbcwalletTable } = await import('../../rpc/declare/lbcwalletTable.js');
  const table = lbcwalletTable(METHODS);
  const dispatcher = new RpcDispatcher({ deprecated: new Set(options.deprecatedrpc) }, { ...rpc, table });
  const fileOptions = [
    options.walletrpccert === undefined ? 'rpccert' : 'walletrpccert',
    options.walletrpckey === undefined ? 'rpckey' : 'walletrpckey',
  ] as const;
  const certificate = options.walletrpcnotls
    ? null
    : await certificateOf(paths.walletRpcCert, paths.walletRpcKey, fileOptions, rpc.logger);
  const server = new RpcHttpServer(
    {
      ...serverOptions(loaded),
      port,
      portOption: 'walletrpcport',
      // A port in an entry of `-rpcbind` is for the node's RPC server, so only the host is used here.
      binds: options.rpcbind.map((bind) => splitHostPort(bind, port).host),
      profile: 'lbcd',
      maxConnections,
      ...(endpoints ? { endpoints } : {}),
      ...(certificate ? { certificate } : {}),
    },
    { dispatcher, logger: rpc.logger, authenticator },
  );
  await server.listen();
  for (const { host, port: bound } of server.addresses())
    rpc.logger.info(`The methods of lbcwallet are served at ${host} port ${bound}`);
  return server;
}

function serverOptions({ options, params, paths, isSet }: LoadedOptions): HttpServerOptions {
  return {
    auth: {
      user: options.rpcuser,
      password: options.rpcpassword,
      rpcAuth: options.rpcauth,
      cookieFile: paths.cookieFile,
      cookieFollowsUmask: options.sysperms,
    },
    port: options.rpcport ?? params.rpcPort,
    binds: options.rpcbind,
    allowIps: isSet('rpcallowip') ? options.rpcallowip : undefined,
    timeoutSec: options.rpcservertimeout,
    threads: options.rpcthreads,
    workQueueDepth: options.rpcworkqueue,
    logIps: options.logips,
    allowHosts: options.rpcallowhost,
    profile: options.compat as HttpServerOptions['profile'],
    suggestsProfile: !isSet('compat'),
  };
}
