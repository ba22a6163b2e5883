/**
 * The HTTP transport: addresses, access list, host names, the limit of connections, and a clean stop. Manages the sockets
 * and the authentication cookie. `rpcEndpoint.ts` handles JSON-RPC. fastify routes handle REST, health and metrics. Source:
 * lbrycrd httpserver.cpp.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import fastify, { type FastifyInstance } from 'fastify';
import type { RpcDispatcher } from '../rpc/call/dispatch.js';
import type { Profile } from '../rpc/declare/method.js';
import { inNextRound } from '../scheduler/rounds.js';
import { joinHostPort, splitHostPort } from '../util/network/hostPort.js';
import { asksForWebSocket, handBack } from '../util/network/httpUpgrade.js';
import type { Logger } from '../util/logging.js';
import { parseIp, Subnet } from '../util/network/subnet.js';
import { Authenticator, type AuthOptions } from './auth.js';
import { CallQueue } from './callQueue.js';
import { Connections } from './connections.js';
import { chooseEndpoints, isLoopbackPlace, type Endpoint } from './endpoints.js';
import { DEFAULT_CONTENT_TYPE, refuseConnection, sendErrorPage, sendText } from './errorPages.js';
import { FOREIGN_HOST_TEXT, HostNames } from './hostNames.js';
import { PasswordChecks } from './passwordChecks.js';
import { REST_PATH, type DirectPaths, type RouteTools } from './routes.js';
import { RpcEndpoint } from './rpcEndpoint.js';
import type { CallerGate, Upgrades } from './upgrades.js';
import { PipeliningLimit } from './pipeliningLimit.js';
import { PlainConnections } from './plain/plainConnections.js';
import type { PlainHead } from './plain/plainHead.js';
import type { CertificatePair } from './tls/certificateFiles.js';
import { TlsPort } from './tls/tlsPort.js';
import { AuthThrottle } from './authThrottle.js';
import { OperatorError } from '../util/text/operatorError.js';

/** Maximum size in bytes of the request line and headers together. Source: `MAX_HEADERS_SIZE`. */
const MAX_HEADERS_BYTES = 8192;
/** Maximum body size of requests without authentication. The body of a REST request may contain a few outpoints. */
const MAX_OPEN_BODY_BYTES = 1 << 13;
/** HTTP methods of requests that reach a handler. Source: libevent's `allowed_methods`. */
const KNOWN_METHODS: readonly string[] = ['GET', 'POST', 'HEAD', 'PUT', 'DELETE'];
/** Default number of seconds after which an idle connection is closed. Source: libevent's `HTTP_READ_TIMEOUT`. */
const DEFAULT_TIMEOUT_SEC = 50;
/** Default maximum number of HTTP connections. Arbitrary: far more than a node's own clients need. */
const DEFAULT_MAX_CONNECTIONS = 512;
/** Maximum number of milliseconds that a stop waits for running requests. */
const STOP_GRACE_MS = 30_000;

function noSchemas(): never {
  throw new Error('this server has no route with a schema');
}

export interface HttpServerOptions {
  readonly auth: AuthOptions;
  readonly port: number;
  /** Name of the option for the port, used in error messages; `rpcport` if absent. */
  readonly portOption?: string;
  readonly binds: readonly string[];
  /** The `-rpcallowip` entries; undefined if the option is not set. */
  readonly allowIps: readonly string[] | undefined;
  /** Seconds after which an idle connection is closed; 0 for the default. */
  readonly timeoutSec: number;
  readonly threads: number;
  readonly workQueueDepth: number;
  /** RPC profile (the set of methods and formats) of the paths `/` and `/wallet/…`. */
  readonly profile: Profile;
  /** Whether to log a hint when a client of lbrycrd calls the default profile. */
  readonly suggestsProfile?: boolean;
  /** Whether to log the address of each call (`-logips`). */
  readonly logIps?: boolean;
  /** Maximum number of concurrent connections; `DEFAULT_MAX_CONNECTIONS` if absent. */
  readonly maxConnections?: number;
  /** Host names that requests without authentication may use; `*` for any (`-rpcallowhost`). */
  readonly allowHosts?: readonly string[];
  /** Endpoints to listen on. If set, `binds` is ignored. */
  readonly endpoints?: readonly Endpoint[];
  /**
   * Certificate for TLS. With TLS, plain HTTP is accepted from this machine only. If absent, the server uses plain HTTP
   * only.
   */
  readonly certificate?: CertificatePair;
}

export interface HttpServerDeps {
  readonly dispatcher: RpcDispatcher;
  readonly logger: Logger;
  /** Adds other routes (REST, health, metrics) before the server listens. */
  readonly extraRoutes?: (app: FastifyInstance, tools: RouteTools) => void;
  /** Handles the paths that bypass fastify (`-esplora`). */
  readonly directPaths?: DirectPaths;
  /**
   * Authenticator of another server. The other server must be closed later than this one. If absent, this server creates an
   * authenticator and the cookie.
   */
  readonly authenticator?: Authenticator;
  /** Handler of connections that become WebSockets. This server closes the handler. */
  readonly webSockets?: Pick<Upgrades, 'receive' | 'close'>;
}

/** Error: the server cannot start and the operator must fix the cause. The message is for the operator. */
export class ServerStartError extends OperatorError {
  override readonly name = 'ServerStartError';
}

export class RpcHttpServer {
  private readonly options: HttpServerOptions;
  private readonly deps: HttpServerDeps;
  /** Checks credentials. Another server may use the authenticator while this server is open. */
  readonly authenticator: Authenticator;
  private readonly authThrottle = new AuthThrottle();
  private readonly passwordChecks: PasswordChecks;
  private readonly connections: Connections;
  private readonly pipeliningLimit = new PipeliningLimit(() => this.connections.all());
  private readonly hostNames: HostNames;
  private readonly callQueue: CallQueue;
  private readonly rpc: RpcEndpoint;
  private readonly app: FastifyInstance;
  private readonly servers: Server[] = [];
  private readonly timeoutMs: number;
  private readonly tls: TlsPort | null;
  private readonly plain: PlainConnections;
  private stopping = false;
  private closed: Promise<void> | null = null;

  constructor(options: HttpServerOptions, deps: HttpServerDeps) {
    const { logger } = deps;
    this.options = options;
    this.deps = deps;
    this.timeoutMs = (options.timeoutSec > 0 ? options.timeoutSec : DEFAULT_TIMEOUT_SEC) * 1000;
    const { certificate } = options;
    this.tls = certificate ? new TlsPort({ ...certificate, idleMs: this.timeoutMs }, logger) : null;
    this.authenticator = deps.authenticator ?? new Authenticator(options.auth, logger);
    const isAllowed = allowance(options.allowIps ?? [], logger);
    const max = Math.max(1, options.maxConnections ?? DEFAULT_MAX_CONNECTIONS);
    this.connections = new Connections({ max, isAllowed }, logger);
    const bound = options.binds.map((bind) => splitHostPort(bind, 0).host);
    this.hostNames = new HostNames([...bound, ...(options.allowHosts ?? [])]);
    this.callQueue = new CallQueue(
      { threads: options.threads, depth: options.workQueueDepth, stallMs: this.timeoutMs },
      logger,
    );
    this.passwordChecks = new PasswordChecks((address, cutOff) =>
      logger.info(
        `ThreadRPCServer disconnected ${cutOff} connections of ${address}: too many passwords to verify`,
      ),
    );
    this.rpc = new RpcEndpoint(
      {
        profile: options.profile,
        logIps: options.logIps === true,
        suggestsProfile: options.suggestsProfile === true,
      },
      {
        dispatcher: deps.dispatcher,
        callQueue: this.callQueue,
        authenticator: this.authenticator,
        authThrottle: this.authThrottle,
        passwordChecks: this.passwordChecks,
        logger,
      },
    );
    this.plain = this.plainConnections();
    this.app = this.buildApp();
  }

  /** Listens on every endpoint that can be bound. Rejects if no endpoint can be bound. */
  async listen(): Promise<void> {
    const { logger } = this.deps;
    await this.ownAuthenticator?.open();
    await this.app.ready();
    const isElsewhere = this.options.binds.some((place) => !isLoopbackPlace(place));
    if (this.options.allowIps === undefined && isElsewhere) {
      logger.warn(
        'option -rpcbind was ignored because -rpcallowip was not specified, refusing to allow everyone to connect',
      );
    }
    let port = this.options.port;
    /** Endpoints that could not be bound, by reason. */
    const failures = new Map<string, string[]>();
    const { endpoints = chooseEndpoints(port, this.options.binds, this.options.allowIps !== undefined) } =
      this.options;
    for (const endpoint of endpoints) {
      // With port 0 (in tests) all addresses use the port that the system assigned to the first address.
      const wanted = { host: endpoint.host, port: endpoint.port === 0 ? port : endpoint.port };
      try {
        const bound = await this.bind(wanted);
        if (port === 0) port = bound;
      } catch (error) {
        const why = bindFailure(wanted, error as NodeJS.ErrnoException, this.options.portOption);
        failures.set(why, [...(failures.get(why) ?? []), joinHostPort(wanted)]);
      }
    }
    const lines = [...failures].map(
      ([why, places]) => `RPC cannot listen at ${places.join(' and ')}: ${why}`,
    );
    if (this.servers.length > 0) {
      lines.forEach((failure) => logger.info(failure));
      return;
    }
    await this.ownAuthenticator?.close();
    throw new ServerStartError(`Unable to start HTTP server. ${lines.join(' ')}`);
  }

  private get ownAuthenticator(): Authenticator | null {
    return this.deps.authenticator === undefined ? this.authenticator : null;
  }

  /** The addresses on which the server listens. */
  addresses(): Endpoint[] {
    return this.servers.map((server) => {
      const address = server.address() as AddressInfo;
      return { host: address.address, port: address.port };
    });
  }

  /** Stops accepting requests, waits a limited time for running requests, and removes the cookie. */
  close(): Promise<void> {
    this.closed ??= this.shutDown();
    return this.closed;
  }

  private async shutDown(): Promise<void> {
    this.stopping = true;
    this.callQueue.stop();
    this.passwordChecks.close();
    this.authThrottle.close();
    const closed = Promise.all(
      this.servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
    );
    const cut = setTimeout(() => {
      this.servers.forEach((server) => server.closeAllConnections());
      this.plain.closeAll();
    }, STOP_GRACE_MS);
    this.tls?.close();
    this.plain.closeIdle();
    await Promise.all([this.deps.webSockets?.close(), this.deps.directPaths?.sockets?.close()]);
    await closed;
    clearTimeout(cut);
    await this.app.close();
    await this.ownAuthenticator?.close();
  }

  /** Starts to listen on an endpoint. Resolves to the port. Rejects with the system's error. */
  private async bind(endpoint: Endpoint): Promise<number> {
    const { logger } = this.deps;
    const where = `address ${endpoint.host} port ${endpoint.port}`;
    logger.debug('http', `Binding RPC on ${where}`);
    const server = createServer(
      { maxHeaderSize: MAX_HEADERS_BYTES, requireHostHeader: false },
      (request, response) => this.receive(request, response),
    );
    this.plain.attach(server);
    this.tls?.attach(server, (socket) => this.connections.release(socket));
    server.on('connection', (socket: Socket) => this.connections.of(socket));
    server.on('clientError', (error, socket) => {
      const connection = this.connections.of(socket as Socket);
      this.pipeliningLimit.note(connection);
      refuseConnection(error, connection);
    });
    server.on('timeout', (socket: Socket) => this.onTimeout(socket));
    this.takeWebSockets(server);
    // The number of headers is not limited, because `headBytes` limits their size. With a limit Node would silently drop
    // further headers.
    server.maxHeadersCount = 0;
    server.timeout = this.timeoutMs;
    server.keepAliveTimeout = this.timeoutMs;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      // An IPv6 socket must not bind the IPv4 address of the same port, because another socket binds it.
      server.listen({ host: endpoint.host, port: endpoint.port, ipv6Only: true }, resolve);
    });
    this.servers.push(server);
    return (server.address() as AddressInfo).port;
  }

  /**
   * The timeout of a connection without traffic: closes it if it is idle. A connection stays open if a call is running, if
   * reading from it is paused, or if input arrived while the event loop was blocked. Input that arrived in such a pause is
   * read before the end of this event loop turn.
   */
  private onTimeout(socket: Socket): void {
    const connection = this.connections.of(socket);
    const { bytesRead } = socket;
    if (connection.isHeld) socket.setTimeout(this.timeoutMs);
    else if (connection.busy === 0) {
      inNextRound(() => {
        if (connection.busy === 0 && socket.bytesRead === bytesRead) socket.destroy();
      });
    }
  }

  private receive(request: IncomingMessage, response: ServerResponse): void {
    // The connection was closed while this request was in its input buffer.
    if (request.socket.destroyed) return;
    const connection = this.connections.of(request.socket);
    this.connections.use(connection);
    this.pipeliningLimit.note(connection);
    if (this.stopping) {
      this.deps.logger.debug('http', 'Rejecting request while shutting down');
      sendErrorPage(response, 503);
    } else if (headBytes(request) > MAX_HEADERS_BYTES) sendErrorPage(response, 400);
    else if (!this.knowsMethod(request)) sendErrorPage(response, 501);
    else if (!connection.isAllowed) sendText(response, 403, '');
    else {
      const profile = this.rpc.profileAt(request.url);
      // Paths that need a password need no check of the host name, because a foreign web page does not know the password.
      if (profile === null && !this.hostNames.allows(request.headers.host))
        sendText(response, 403, FOREIGN_HOST_TEXT);
      else if (request.method === 'DELETE') sendText(response, 405, '');
      else if (profile !== null) this.rpc.receive(request, response, connection, profile);
      else if (this.isDirect(request))
        this.deps.directPaths?.receive(request, response, (run) =>
          this.callQueue.serveOpen(connection, response, run),
        );
      else this.app.routing(request, response);
    }
  }

  /** Connections whose requests are parsed without Node's HTTP parser: calls in the usual form. */
  private plainConnections(): PlainConnections {
    const { rpc, connections } = this;
    return new PlainConnections(this.timeoutMs, {
      connectionOf: (socket) => connections.of(socket),
      isStopping: () => this.stopping,
      takes: (head, { isAllowed }) =>
        isAllowed &&
        (head.method === 'POST' ? rpc.profileAt(head.target) !== null : this.isPlainDirect(head)),
      mayAssemble: ({ authorization }, connection) => rpc.isVerified(authorization, connection),
      serve: (request, response, connection) => {
        connections.use(connection);
        this.pipeliningLimit.note(connection);
        const { head } = request;
        if (head.method === 'POST') rpc.receivePlain(request, response, connection);
        else
          this.deps.directPaths?.receivePlain(head, (run) =>
            this.callQueue.serveOpen(connection, response, run),
          );
      },
      onTimeout: (socket) => this.onTimeout(socket),
      onInvalid: (connection) => refuseConnection({ name: 'Error', message: 'interrupted' }, connection),
    });
  }

  private takeWebSockets(server: Server): void {
    const { webSockets, directPaths } = this.deps;
    const direct = directPaths?.sockets;
    if (webSockets === undefined && direct === undefined) return;
    const gate = this.gate();
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      this.pipeliningLimit.note(this.connections.of(request.socket));
      if (!asksForWebSocket(request)) handBack(server, request, socket, head);
      else if (direct?.takes(request)) direct.receive(request, socket, head, gate);
      else if (webSockets === undefined) handBack(server, request, socket, head);
      else webSockets.receive(request, socket, head, gate);
    });
  }

  private isPlainDirect({ target, host }: PlainHead): boolean {
    const { directPaths } = this.deps;
    return directPaths !== undefined && target.startsWith(directPaths.prefix) && this.hostNames.allows(host);
  }

  private isDirect({ url = '' }: IncomingMessage): boolean {
    const { directPaths } = this.deps;
    return directPaths !== undefined && url.startsWith(directPaths.prefix);
  }

  private knowsMethod(request: IncomingMessage): boolean {
    const { method = '' } = request;
    return KNOWN_METHODS.includes(method) || (method === 'OPTIONS' && this.isDirect(request));
  }

  private buildApp(): FastifyInstance {
    const app = fastify({
      bodyLimit: MAX_OPEN_BODY_BYTES,
      // No route has a schema. Fastify's own schema compilers would load 250 files at every start.
      schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
      routerOptions: { ignoreTrailingSlash: false },
      // Routes every path below the prefix to the REST handler, even a path that fastify's router would reject.
      rewriteUrl: ({ url = '' }) => (url.startsWith(REST_PATH) ? REST_PATH : url),
    });
    app.removeAllContentTypeParsers();
    // Handlers ignore the content type, but fastify rejects some spellings that real clients send, so the header is
    // replaced.
    app.addHook('onRequest', async (request, reply) => {
      request.raw.headers['content-type'] = 'application/octet-stream';
      reply.header('Content-Type', DEFAULT_CONTENT_TYPE);
    });
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    app.setNotFoundHandler((_request, reply) => reply.code(404).send());
    app.setErrorHandler((error: { statusCode?: number; message: string }, _request, reply) =>
      reply.code(error.statusCode ?? 500).send(error.message),
    );
    const serve: RouteTools['serve'] = (request, reply, run) => {
      reply.hijack();
      this.callQueue.serveOpen(this.connections.of(request.raw.socket), reply.raw, run);
    };
    const load: RouteTools['load'] = () => ({
      ...this.callQueue.load(),
      connections: this.connections.count,
    });
    this.deps.extraRoutes?.(app, { serve, load });
    return app;
  }

  /** Access checks for connections that are upgraded to WebSockets. */
  private gate(): CallerGate {
    return {
      isStopping: () => this.stopping,
      isAllowed: ({ socket, headers }) =>
        this.connections.of(socket).isAllowed && this.hostNames.allows(headers.host),
      checker: ({ socket }) => {
        const connection = this.connections.of(socket);
        return (authorization) => this.rpc.isAuthentic(authorization, connection);
      },
      peer: ({ socket }) => this.connections.of(socket).peer,
      release: (socket) => this.connections.release(socket),
    };
  }
}

/**
 * Length of the request line and the headers, without line ends. The limit of Node's parser counts fewer bytes per line, so
 * the parser accepts slightly longer headers. Source: libevent `evhttp_parse_firstline_`, `evhttp_parse_headers_`.
 */
function headBytes({ method = '', url = '', httpVersion, rawHeaders }: IncomingMessage): number {
  let bytes = `${method} ${url} HTTP/${httpVersion}`.length;
  // Each text is counted with one byte more: the colon after a header name, or the space before a header value.
  for (const text of rawHeaders) bytes += text.length + 1;
  return bytes;
}

/**
 * Describes why the server cannot listen on an endpoint, and what the operator can do. The text completes a sentence and
 * adds one more sentence.
 */
function bindFailure(
  { host, port }: Endpoint,
  { code, message }: NodeJS.ErrnoException,
  option = 'rpcport',
): string {
  switch (code) {
    case 'EADDRINUSE':
      return (
        `port ${port} is in use (EADDRINUSE), possibly by another lbcnode. Stop that program, or choose ` +
        `another port with -${option}=<port>.`
      );
    case 'EACCES':
      return `the system does not allow port ${port} (EACCES). Choose a port above 1023 with -${option}=<port>.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${host} is not an address of this machine (${code}). Correct -rpcbind.`;
    default:
      return `${message}.`;
  }
}

/** Returns the check of the access list. It allows this machine and the `-rpcallowip` entries. */
function allowance(entries: readonly string[], logger: Logger): (address: string) => boolean {
  const allowed = ['127.0.0.0/8', '::1', ...entries].map(parseAllowed);
  return (address) => {
    const ip = parseIp(address);
    if (ip !== null && allowed.some((subnet) => subnet.contains(ip))) return true;
    logger.debug('http', `HTTP request from ${address} rejected: Client network is not allowed RPC access`);
    return false;
  };
}

function parseAllowed(text: string): Subnet {
  const subnet = Subnet.parse(text);
  if (subnet === null) {
    throw new ServerStartError(
      `Invalid -rpcallowip subnet specification: ${text}. Valid are a single IP (e.g. 1.2.3.4), a network/netmask ` +
        '(e.g. 1.2.3.4/255.255.255.0) or a network/CIDR (e.g. 1.2.3.4/24).',
    );
  }
  return subnet;
}
