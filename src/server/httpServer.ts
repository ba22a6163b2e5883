/**
 * The HTTP transport: addresses, access list, host names, the cap on connections, a clean stop. Owns sockets and the cookie.
 * JSON-RPC is answered by `rpcEndpoint.ts`; what else there is (REST, health, metrics) by routes on fastify. Source:
 * httpserver.cpp.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import fastify, { type FastifyInstance } from 'fastify';
import type { RpcDispatcher } from '../rpc/call/dispatch.js';
import type { Profile } from '../rpc/declare/method.js';
import { joinHostPort, splitHostPort } from '../util/network/hostPort.js';
import { asksForWebSocket, handBack } from '../util/network/httpUpgrade.js';
import type { Logger } from '../util/logging.js';
import { parseIp, Subnet } from '../util/network/subnet.js';
import { Authenticator, type AuthOptions } from './auth.js';
import { CallTurns } from './callTurns.js';
import { Connections } from './connections.js';
import { chooseEndpoints, type Endpoint } from './endpoints.js';
import { DEFAULT_CONTENT_TYPE, refuseConnection, sendErrorPage, sendText } from './errorPages.js';
import { FOREIGN_HOST_TEXT, HostNames } from './hostNames.js';
import { PasswordChecks } from './passwordChecks.js';
import { REST_PATH, type DirectPaths, type RouteTools } from './routes.js';
import { RpcEndpoint } from './rpcEndpoint.js';
import type { CallerGate, Upgrades } from './upgrades.js';
import { PipeliningLimit } from './pipeliningLimit.js';
import type { CertificatePair } from './tls/certificateFiles.js';
import { TlsPort } from './tls/tlsPort.js';
import { AuthThrottle } from './authThrottle.js';
import { OperatorError } from '../util/text/operatorError.js';

/** Largest request line and headers. Source: `MAX_HEADERS_SIZE`. */
const MAX_HEADERS_BYTES = 8192;
/** Largest body where no password is asked for: REST takes a few outputs. */
const MAX_OPEN_BODY_BYTES = 1 << 13;
/** The methods that are handed to handlers. Source: libevent's `allowed_methods`. */
const KNOWN_METHODS: readonly string[] = ['GET', 'POST', 'HEAD', 'PUT', 'DELETE'];
/** What holds without a time of the operator's. Source: libevent's `HTTP_READ_TIMEOUT`. */
const DEFAULT_TIMEOUT_SEC = 50;
/** Most HTTP connections by default. Arbitrary: far more than a node's own callers need. */
export const DEFAULT_MAX_CONNECTIONS = 512;
/** How long a stop waits for answers under way. */
const STOP_GRACE_MS = 30_000;

function noSchemas(): never {
  throw new Error('no route of this server has a schema');
}

export interface HttpServerOptions {
  readonly auth: AuthOptions;
  readonly port: number;
  /** The option that names the port, for the error message; `rpcport` when it is left out. */
  readonly portOption?: string;
  readonly binds: readonly string[];
  /** The `-rpcallowip` entries; undefined when the option was not given at all. */
  readonly allowIps: readonly string[] | undefined;
  /** For idle connections; 0 stands for the transport's own time. */
  readonly timeoutSec: number;
  readonly threads: number;
  readonly workQueueDepth: number;
  /** The profile of `/` and `/wallet/…`. */
  readonly profile: Profile;
  /** Whether the log says when a client of lbrycrd calls the default profile. */
  readonly suggestsProfile?: boolean;
  /** Whether the log names the address of each call (`-logips`). */
  readonly logIps?: boolean;
  /** Most connections at a time; `DEFAULT_MAX_CONNECTIONS` when it is left out. */
  readonly maxConnections?: number;
  /** Host names by which may be asked for what needs no password, `*` for any (`-rpcallowhost`). */
  readonly allowHosts?: readonly string[];
  /** Where to listen, in place of `binds`. */
  readonly endpoints?: readonly Endpoint[];
  /** The certificate for TLS; plain HTTP is then accepted from this machine only. Absent for plain HTTP only. */
  readonly certificate?: CertificatePair;
}

export interface HttpServerDeps {
  readonly dispatcher: RpcDispatcher;
  readonly logger: Logger;
  /** Adds further routes (REST, health, metrics) before the server listens. */
  readonly extraRoutes?: (app: FastifyInstance, tools: RouteTools) => void;
  /** Answers some paths without the framework (`-esplora`). */
  readonly directPaths?: DirectPaths;
  /** Who may call, settled by another server that outlives this one; else this one settles it, and owns the cookie. */
  readonly authenticator?: Authenticator;
  /** Takes the connections that become WebSockets; closed with the server. */
  readonly webSockets?: Pick<Upgrades, 'receive' | 'close'>;
}

/** The server cannot start for a reason the operator must mend; the message is for them. */
export class ServerStartError extends OperatorError {
  override readonly name = 'ServerStartError';
}

export class RpcHttpServer {
  private readonly options: HttpServerOptions;
  private readonly deps: HttpServerDeps;
  /** Who may call; another server may ask it too, as long as this one is open. */
  readonly authenticator: Authenticator;
  private readonly authThrottle = new AuthThrottle();
  private readonly passwordChecks: PasswordChecks;
  private readonly connections: Connections;
  private readonly pipeliningLimit = new PipeliningLimit(() => this.connections.all());
  private readonly hostNames: HostNames;
  private readonly turns: CallTurns;
  private readonly rpc: RpcEndpoint;
  private readonly app: FastifyInstance;
  private readonly servers: Server[] = [];
  private readonly timeoutMs: number;
  private readonly tls: TlsPort | null;
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
    this.turns = new CallTurns(
      { threads: options.threads, depth: options.workQueueDepth, stallMs: this.timeoutMs },
      logger,
    );
    this.passwordChecks = new PasswordChecks((address, cutOff) =>
      logger.info(`ThreadRPCServer cut off ${cutOff} connections of ${address}: too many passwords to check`),
    );
    this.rpc = new RpcEndpoint(
      {
        profile: options.profile,
        logIps: options.logIps === true,
        suggestsProfile: options.suggestsProfile === true,
      },
      {
        dispatcher: deps.dispatcher,
        turns: this.turns,
        authenticator: this.authenticator,
        authThrottle: this.authThrottle,
        passwordChecks: this.passwordChecks,
        logger,
      },
    );
    this.app = this.buildApp();
  }

  /** Listens on every endpoint that can be bound; at least one must. */
  async listen(): Promise<void> {
    const { logger } = this.deps;
    await this.ownAuthenticator?.open();
    await this.app.ready();
    if (this.options.allowIps === undefined && this.options.binds.length > 0) {
      logger.warn(
        'option -rpcbind was ignored because -rpcallowip was not specified, refusing to allow everyone to connect',
      );
    }
    let port = this.options.port;
    /** Where, by why. */
    const failures = new Map<string, string[]>();
    const { endpoints = chooseEndpoints(port, this.options.binds, this.options.allowIps !== undefined) } =
      this.options;
    for (const endpoint of endpoints) {
      // With port 0 (tests) every address shares the port that the first was given.
      const wanted = { host: endpoint.host, port: endpoint.port === 0 ? port : endpoint.port };
      try {
        const bound = await this.bind(wanted);
        if (port === 0) port = bound;
      } catch (error) {
        const why = bindFailure(wanted, error as NodeJS.ErrnoException, this.options.portOption);
        failures.set(why, [...(failures.get(why) ?? []), joinHostPort(wanted)]);
      }
    }
    const told = [...failures].map(([why, places]) => `RPC cannot listen at ${places.join(' and ')}: ${why}`);
    if (this.servers.length > 0) {
      told.forEach((failure) => logger.info(failure));
      return;
    }
    await this.ownAuthenticator?.close();
    throw new ServerStartError(`Unable to start HTTP server. ${told.join(' ')}`);
  }

  private get ownAuthenticator(): Authenticator | null {
    return this.deps.authenticator === undefined ? this.authenticator : null;
  }

  /** The addresses that are listened on. */
  addresses(): Endpoint[] {
    return this.servers.map((server) => {
      const address = server.address() as AddressInfo;
      return { host: address.address, port: address.port };
    });
  }

  /** Takes no more requests, lets answers under way finish (cutting them after a while), removes the cookie. */
  close(): Promise<void> {
    this.closed ??= this.shutDown();
    return this.closed;
  }

  private async shutDown(): Promise<void> {
    this.stopping = true;
    this.turns.stop();
    this.passwordChecks.close();
    this.authThrottle.close();
    const closed = Promise.all(
      this.servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
    );
    const cut = setTimeout(
      () => this.servers.forEach((server) => server.closeAllConnections()),
      STOP_GRACE_MS,
    );
    this.tls?.close();
    await Promise.all([this.deps.webSockets?.close(), this.deps.directPaths?.sockets?.close()]);
    await closed;
    clearTimeout(cut);
    await this.app.close();
    await this.ownAuthenticator?.close();
  }

  /** Answers the port. Rejects with the system's error. */
  private async bind(endpoint: Endpoint): Promise<number> {
    const { logger } = this.deps;
    const where = `address ${endpoint.host} port ${endpoint.port}`;
    logger.debug('http', `Binding RPC on ${where}`);
    const server = createServer(
      { maxHeaderSize: MAX_HEADERS_BYTES, requireHostHeader: false },
      (request, response) => this.receive(request, response),
    );
    this.tls?.attach(server, (socket) => this.connections.release(socket));
    server.on('connection', (socket: Socket) => this.connections.of(socket));
    server.on('clientError', (error, socket) => {
      const connection = this.connections.of(socket as Socket);
      this.pipeliningLimit.note(connection);
      refuseConnection(error, connection);
    });
    server.on('timeout', (socket: Socket) => this.onTimeout(socket));
    this.takeWebSockets(server);
    // Their bytes are counted; those beyond a number of lines would be dropped in silence.
    server.maxHeadersCount = 0;
    server.timeout = this.timeoutMs;
    server.keepAliveTimeout = this.timeoutMs;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      // An IPv6 socket must leave the IPv4 address of the same port to its neighbour.
      server.listen({ host: endpoint.host, port: endpoint.port, ipv6Only: true }, resolve);
    });
    this.servers.push(server);
    return (server.address() as AddressInfo).port;
  }

  /**
   * Nothing came and nothing was taken for long: an idle connection is closed. A call may take as long as it likes, though,
   * what is not read cannot come, and what came while the loop was held is read before the end of its turn.
   */
  private onTimeout(socket: Socket): void {
    const connection = this.connections.of(socket);
    const { bytesRead } = socket;
    if (connection.isHeld) socket.setTimeout(this.timeoutMs);
    else if (connection.busy === 0) {
      setImmediate(() => {
        if (connection.busy === 0 && socket.bytesRead === bytesRead) socket.destroy();
      });
    }
  }

  private receive(request: IncomingMessage, response: ServerResponse): void {
    // It was cut off, and this was in what had come by then.
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
      // What asks for a password needs no such check: no page of a stranger has it.
      if (profile === null && !this.hostNames.allows(request.headers.host))
        sendText(response, 403, FOREIGN_HOST_TEXT);
      else if (request.method === 'DELETE') sendText(response, 405, '');
      else if (profile !== null) this.rpc.receive(request, response, connection, profile);
      else if (this.isDirect(request))
        this.deps.directPaths?.receive(request, response, (run) =>
          this.turns.serveOpen(connection, response, run),
        );
      else this.app.routing(request, response);
    }
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
      // No route has a schema; fastify's own compilers for them are 250 files to load at every start.
      schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
      routerOptions: { ignoreTrailingSlash: false },
      // What REST is asked for may be anything, also what the router takes for no path.
      rewriteUrl: ({ url = '' }) => (url.startsWith(REST_PATH) ? REST_PATH : url),
    });
    app.removeAllContentTypeParsers();
    // Any content type means the same here, and fastify refuses some spellings that real clients use.
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
      this.turns.serveOpen(this.connections.of(request.raw.socket), reply.raw, run);
    };
    const load: RouteTools['load'] = () => ({ ...this.turns.load(), connections: this.connections.count });
    this.deps.extraRoutes?.(app, { serve, load });
    return app;
  }

  /** The same rules for connections that are no HTTP requests. */
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
 * The length of the request line and the headers, without the ends of lines. The parser counts less of each line, and so lets a
 * few more in. Source: libevent `evhttp_parse_firstline_`, `evhttp_parse_headers_`.
 */
function headBytes({ method = '', url = '', httpVersion, rawHeaders }: IncomingMessage): number {
  let bytes = `${method} ${url} HTTP/${httpVersion}`.length;
  // A colon behind the name, a space before the value.
  for (const text of rawHeaders) bytes += text.length + 1;
  return bytes;
}

/** Reason why an endpoint cannot be listened on, and what to do: the end of a sentence, and one more. */
function bindFailure(
  { host, port }: Endpoint,
  { code, message }: NodeJS.ErrnoException,
  option = 'rpcport',
): string {
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} is taken (EADDRINUSE), perhaps by another lbcnode. Stop that program, or choose another port with -${option}=<port>.`;
    case 'EACCES':
      return `the system does not allow port ${port} (EACCES). Choose one above 1023 with -${option}=<port>.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${host} is not an address of this machine (${code}). Mend -rpcbind.`;
    default:
      return `${message}.`;
  }
}

/** Who may connect: this machine, and the `-rpcallowip` entries. */
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
