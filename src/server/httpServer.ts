/**
 * The HTTP transport of JSON-RPC on fastify: addresses, access list, authentication, paths, limits, a clean stop.
 * Owns sockets and the cookie; what a request means is the dispatcher's business. Source: httpserver.cpp, httprpc.cpp.
 */
import {
  createServer,
  STATUS_CODES,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { RpcDispatcher, RpcOrigin } from '../rpc/dispatch.js';
import type { Profile } from '../rpc/method.js';
import { JobQueue } from '../util/jobQueue.js';
import type { Logger } from '../util/logging.js';
import { Authenticator, type AuthOptions, type AuthVerdict } from './auth.js';
import { chooseEndpoints, type Endpoint } from './endpoints.js';
import { sendReply } from './replyStream.js';
import { REST_PATH, type RouteTools } from './routes.js';
import { parseIp, Subnet } from '../util/subnet.js';
import type { CallerGate, WebSocketEndpoint } from './webSocketEndpoint.js';

/** Largest request body. Source: `MAX_SIZE`. */
export const MAX_BODY_BYTES = 0x02000000;
/** Largest request line and headers. Source: `MAX_HEADERS_SIZE`. */
const MAX_HEADERS_BYTES = 8192;
/** What an answer that is no JSON-RPC calls itself. Source: libevent's `default_content_type`. */
const DEFAULT_CONTENT_TYPE = 'text/html; charset=ISO-8859-1';
/** The methods that are handed to handlers. Source: libevent's `allowed_methods`. */
const KNOWN_METHODS: readonly string[] = ['GET', 'POST', 'HEAD', 'PUT', 'DELETE'];
/** Calls to a wallet: its name, percent-encoded, follows. */
const WALLET_PATH = '/wallet/';
/** What a wrong password costs. */
const WRONG_PASSWORD_MS = 250;
/** What holds without a time of the operator's. Source: libevent's `HTTP_READ_TIMEOUT`. */
const DEFAULT_TIMEOUT_SEC = 50;
/** So many calls may wait without a turn in the work queue; beyond it they keep theirs. Arbitrary. */
const MAX_OUT_OF_TURN = 1000;
/** How long a stop waits for answers under way. */
const STOP_GRACE_MS = 30_000;

function noSchemas(): never {
  throw new Error('no route of this server has a schema');
}

export interface HttpServerOptions {
  readonly auth: AuthOptions;
  readonly port: number;
  readonly binds: readonly string[];
  /** The `-rpcallowip` entries; undefined when the option was not given at all. */
  readonly allowIps: readonly string[] | undefined;
  /** For idle connections; 0 stands for the transport's own time. */
  readonly timeoutSec: number;
  readonly threads: number;
  readonly workQueueDepth: number;
  /** The profile of `/` and `/wallet/…`. */
  readonly profile: Profile;
  /** Whether the log names the address of each call (`-logips`). */
  readonly logIps?: boolean;
}

export interface HttpServerDeps {
  readonly dispatcher: RpcDispatcher;
  readonly logger: Logger;
  /** Adds further routes (REST, health, metrics) before the server listens. */
  readonly extraRoutes?: (app: FastifyInstance, tools: RouteTools) => void;
  /** Takes the connections that become WebSockets; closed with the server. */
  readonly webSockets?: Pick<WebSocketEndpoint, 'attach' | 'close'>;
}

/** The server cannot start for a reason the operator must mend; the message is for them. */
export class ServerStartError extends Error {
  override readonly name = 'ServerStartError';
}

export class RpcHttpServer {
  private readonly options: HttpServerOptions;
  private readonly deps: HttpServerDeps;
  private readonly authenticator: Authenticator;
  private readonly allowed: readonly Subnet[];
  private readonly queue: JobQueue;
  private readonly app: FastifyInstance;
  private readonly servers: Server[] = [];
  private readonly timeoutMs: number;
  private stopping = false;
  private closed: Promise<void> | null = null;
  /** What ends the waits of the calls under way. */
  private readonly waits = new Set<AbortController>();
  /** Calls that wait without a turn. */
  private outOfTurn = 0;

  constructor(options: HttpServerOptions, deps: HttpServerDeps) {
    this.options = options;
    this.deps = deps;
    this.authenticator = new Authenticator(options.auth, deps.logger);
    this.allowed = ['127.0.0.0/8', '::1', ...(options.allowIps ?? [])].map(parseAllowed);
    this.queue = new JobQueue(Math.max(1, options.threads), Math.max(1, options.workQueueDepth));
    this.timeoutMs = (options.timeoutSec > 0 ? options.timeoutSec : DEFAULT_TIMEOUT_SEC) * 1000;
    this.app = this.buildApp();
  }

  /** Listens on every endpoint that can be bound; at least one must. */
  async listen(): Promise<void> {
    const { logger } = this.deps;
    await this.authenticator.open();
    await this.app.ready();
    if (this.options.allowIps === undefined && this.options.binds.length > 0) {
      logger.warn(
        'option -rpcbind was ignored because -rpcallowip was not specified, refusing to allow everyone to connect',
      );
    }
    let port = this.options.port;
    for (const endpoint of chooseEndpoints(port, this.options.binds, this.options.allowIps !== undefined)) {
      // With port 0 (tests) every address shares the port that the first was given.
      const bound = await this.bind({
        host: endpoint.host,
        port: endpoint.port === 0 ? port : endpoint.port,
      });
      if (bound !== null && port === 0) port = bound;
    }
    if (this.servers.length > 0) return;
    await this.authenticator.close();
    throw new ServerStartError('Unable to start HTTP server. See debug log for details.');
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
    for (const wait of this.waits) wait.abort();
    const closed = Promise.all(
      this.servers.map((server) => new Promise<void>((resolve) => server.close(() => resolve()))),
    );
    const cut = setTimeout(
      () => this.servers.forEach((server) => server.closeAllConnections()),
      STOP_GRACE_MS,
    );
    await this.deps.webSockets?.close();
    await closed;
    clearTimeout(cut);
    await this.app.close();
    await this.authenticator.close();
  }

  private async bind(endpoint: Endpoint): Promise<number | null> {
    const { logger } = this.deps;
    const where = `address ${endpoint.host} port ${endpoint.port}`;
    logger.debug('http', `Binding RPC on ${where}`);
    const server = createServer({ maxHeaderSize: MAX_HEADERS_BYTES }, (request, response) => {
      this.receive(request, response);
    });
    this.deps.webSockets?.attach(server, this.gate());
    server.timeout = this.timeoutMs;
    server.keepAliveTimeout = this.timeoutMs;
    try {
      await new Promise<void>((resolve, reject) => {
        server.once('error', reject);
        // An IPv6 socket must leave the IPv4 address of the same port to its neighbour.
        server.listen({ host: endpoint.host, port: endpoint.port, ipv6Only: true }, resolve);
      });
    } catch (error) {
      logger.info(`Binding RPC on ${where} failed: ${(error as Error).message}`);
      return null;
    }
    this.servers.push(server);
    return (server.address() as AddressInfo).port;
  }

  private receive(request: IncomingMessage, response: ServerResponse): void {
    if (this.stopping) {
      this.deps.logger.debug('http', 'Rejecting request while shutting down');
      sendErrorPage(response, 503);
      return;
    }
    if (!KNOWN_METHODS.includes(request.method ?? '')) {
      sendErrorPage(response, 501);
      return;
    }
    // Any content type means the same here, and fastify refuses some spellings that real clients use.
    request.headers['content-type'] = 'application/octet-stream';
    this.app.routing(request, response);
  }

  private buildApp(): FastifyInstance {
    const app = fastify({
      bodyLimit: MAX_BODY_BYTES,
      // No route has a schema; fastify's own compilers for them are 250 files to load at every start.
      schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
      routerOptions: { ignoreTrailingSlash: false },
      // A wallet's name may be anything, also what the router takes for no path; so may what REST is asked for.
      rewriteUrl: ({ url = '' }) => [WALLET_PATH, REST_PATH].find((prefix) => url.startsWith(prefix)) ?? url,
    });
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    app.addHook('onRequest', async (request, reply) => {
      reply.header('Content-Type', DEFAULT_CONTENT_TYPE);
      await this.checkAddress(request, reply);
      if (!reply.sent && request.method === 'DELETE') await reply.code(405).send();
    });
    app.setNotFoundHandler((_request, reply) => reply.code(404).send());
    app.setErrorHandler((error: { statusCode?: number; message: string }, _request, reply) =>
      reply.code(error.statusCode ?? 500).send(error.message),
    );
    const routes: [string, Profile][] = [
      ['/', this.options.profile],
      [WALLET_PATH, this.options.profile],
      ['/lbrycrd', 'lbrycrd'],
      ['/lbcd', 'lbcd'],
    ];
    for (const [url, profile] of routes) {
      const onRequest = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
        // The router takes a query for no part of the path; here it belongs to it.
        if (!matchesPath(request.originalUrl, url)) await reply.code(404).send();
        else await this.checkCaller(request, reply);
      };
      app.all(url, { onRequest }, (request, reply) => this.answer(request, reply, profile));
    }
    this.deps.extraRoutes?.(app, { serve: (...call) => this.serve(...call) });
    return app;
  }

  private async checkAddress(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (!this.isAllowed(request.socket.remoteAddress ?? '')) await reply.code(403).send();
  }

  private isAllowed(address: string): boolean {
    const ip = parseIp(address);
    if (ip !== null && this.allowed.some((subnet) => subnet.contains(ip))) return true;
    this.deps.logger.debug(
      'http',
      `HTTP request from ${address} rejected: Client network is not allowed RPC access`,
    );
    return false;
  }

  private async authenticate(header: string | undefined, from: string): Promise<AuthVerdict> {
    if (header === undefined) return { ok: false, user: '' };
    const verdict = this.authenticator.check(header);
    if (verdict.ok) return verdict;
    this.deps.logger.info(`ThreadRPCServer incorrect password attempt from ${from}`);
    await sleep(WRONG_PASSWORD_MS, undefined, { ref: false });
    return verdict;
  }

  /** The same rules for connections that are no HTTP requests. */
  private gate(): CallerGate {
    return {
      isStopping: () => this.stopping,
      isAllowed: (address) => this.isAllowed(address),
      isAuthentic: async (header, from) => (await this.authenticate(header, from)).ok,
    };
  }

  private async checkCaller(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    if (request.method !== 'POST') {
      await reply.code(405).send('JSONRPC server handles only POST requests');
      return;
    }
    const verdict = await this.authenticate(request.headers.authorization, peerOf(request));
    if (verdict.ok) users.set(request.raw, verdict.user);
    else await reply.code(401).header('WWW-Authenticate', 'Basic realm="jsonrpc"').send();
  }

  private answer(request: FastifyRequest, reply: FastifyReply, profile: Profile): Promise<void> {
    return this.serve(request, reply, ({ gone, signal, outOfTurn }) => {
      const origin: RpcOrigin = {
        profile,
        walletName: walletNameOf(request.originalUrl),
        user: users.get(request.raw) ?? '',
        gone,
        signal,
        outOfTurn,
        ...(this.options.logIps === true ? { peer: peerOf(request) } : {}),
      };
      return this.deps.dispatcher.handle(bodyOf(request), origin);
    });
  }

  private async serve(...[request, reply, run]: Parameters<RouteTools['serve']>): Promise<void> {
    const turn = this.queue.enter();
    if (turn === null) {
      this.deps.logger.warn(
        'request rejected because http work queue depth exceeded, it can be increased with the -rpcworkqueue= setting',
      );
      await reply.code(503).send('Work queue depth exceeded');
      return;
    }
    reply.hijack();
    const response = reply.raw;
    const gone = new AbortController();
    const wait = new AbortController();
    this.waits.add(wait);
    response.once('close', () => {
      if (response.writableFinished) return;
      gone.abort();
      wait.abort();
    });
    // The method may take as long as it likes: only reading and writing are timed.
    request.socket.setTimeout(0);
    let leave = await turn;
    const outOfTurn = async <T>(wait: () => Promise<T>): Promise<T> => {
      if (this.outOfTurn >= MAX_OUT_OF_TURN) return wait();
      this.outOfTurn++;
      leave();
      try {
        return await wait();
      } finally {
        this.outOfTurn--;
        leave = await this.queue.reenter();
      }
    };
    try {
      if (gone.signal.aborted) return;
      const answer = await run({ gone: gone.signal, signal: wait.signal, outOfTurn });
      if (this.stopping) response.setHeader('Connection', 'close');
      await sendReply(response, answer, { stallMs: this.timeoutMs, onSlow: () => leave() });
    } catch (error) {
      this.deps.logger.debug('http', () => `Answer to ${peerOf(request)} was cut off: ${String(error)}`);
    } finally {
      leave();
      this.waits.delete(wait);
      if (!response.writableEnded) response.destroy();
      // What is handed over but not taken yet is timed like reading.
      else if (!response.writableFinished) request.socket.setTimeout(this.timeoutMs);
    }
  }
}

/** The authenticated user of a request, between the check and the answer. */
const users = new WeakMap<IncomingMessage, string>();

/** Whether the request's target is the path as it is written, or begins with it in the case of wallets. */
function matchesPath(target: string, path: string): boolean {
  return path === WALLET_PATH ? target.startsWith(path) : target === path;
}

/** The answer to what no handler was asked for. Source: libevent `evhttp_send_error`. */
function sendErrorPage(response: ServerResponse, status: 501 | 503): void {
  const title = STATUS_CODES[status] ?? '';
  const page = `<HTML><HEAD>\n<TITLE>${status} ${title}</TITLE>\n</HEAD><BODY>\n<H1>${title}</H1>\n</BODY></HTML>\n`;
  const headers = { 'Content-Type': 'text/html', Connection: 'close', 'Content-Length': page.length };
  response.writeHead(status, headers).end(page);
}

function bodyOf(request: FastifyRequest): Buffer {
  return Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
}

function peerOf(request: FastifyRequest): string {
  return `${request.socket.remoteAddress ?? 'unknown'}:${request.socket.remotePort ?? 0}`;
}

/** The wallet that the path names, percent-decoded; a broken encoding is taken as it stands. */
function walletNameOf(url: string): string | undefined {
  if (!url.startsWith(WALLET_PATH)) return undefined;
  const encoded = url.slice(WALLET_PATH.length);
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
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
