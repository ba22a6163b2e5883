/** Starts what answers JSON-RPC: the node's port, and the one that answers as lbcwallet does (`-walletrpcport`). */
import { RpcDispatcher, type RpcDispatcherDeps } from '../rpc/dispatch.js';
import { METHODS } from '../rpc/methodTable.js';
import type { HttpServerDeps, HttpServerOptions, RpcHttpServer } from '../server/httpServer.js';
import { splitHostPort } from '../util/hostPort.js';
import type { WantedConnections } from './descriptors.js';
import type { LoadedOptions } from './options.js';

/** The server of the node's port, listening. Rejects with `ServerStartError`. */
export async function startServer(
  loaded: LoadedOptions,
  maxConnections: number,
  deps: HttpServerDeps,
): Promise<RpcHttpServer> {
  // Loaded only when it is wanted: the HTTP stack is a third of the start.
  const { RpcHttpServer } = await import('../server/httpServer.js');
  const server = new RpcHttpServer({ ...serverOptions(loaded), maxConnections }, deps);
  await server.listen();
  return server;
}

/** How many connections the options ask for. */
export function wantedConnections({ options }: Pick<LoadedOptions, 'options'>): WantedConnections {
  const { server } = options;
  return {
    http: options.rpcmaxconnections,
    httpServers: server ? (hasWalletPort({ options }) ? 2 : 1) : 0,
    webSockets: server && options.ws ? options.wsmaxclients : 0,
    hub: options.hub ? options.hubmaxsessions : 0,
  };
}

function hasWalletPort({ options }: Pick<LoadedOptions, 'options'>): boolean {
  return options.walletrpcport !== undefined && !options.disablewallet;
}

/** What answers the methods of lbcwallet, for whom the other server is open to; null unless it is wanted. */
export async function startWalletServer(
  loaded: LoadedOptions,
  maxConnections: number,
  { authenticator }: RpcHttpServer,
  rpc: RpcDispatcherDeps,
): Promise<RpcHttpServer | null> {
  const { options } = loaded;
  const port = options.walletrpcport;
  if (port === undefined || !hasWalletPort(loaded)) return null;
  const { RpcHttpServer } = await import('../server/httpServer.js');
  const { lbcwalletTable } = await import('../rpc/lbcwalletTable.js');
  const table = lbcwalletTable(METHODS);
  const dispatcher = new RpcDispatcher({ deprecated: new Set(options.deprecatedrpc) }, { ...rpc, table });
  const server = new RpcHttpServer(
    {
      ...serverOptions(loaded),
      port,
      portOption: 'walletrpcport',
      // What an entry says of the port is about the other one.
      binds: options.rpcbind.map((bind) => splitHostPort(bind, port).host),
      profile: 'lbcd',
      maxConnections,
    },
    { dispatcher, logger: rpc.logger, authenticator },
  );
  await server.listen();
  for (const { host, port: bound } of server.addresses())
    rpc.logger.info(`lbcwallet's methods are answered at ${host} port ${bound}`);
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
