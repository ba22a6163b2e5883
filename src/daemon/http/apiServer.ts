/**
 * The API over HTTP: routes, origins, bodies, and response texts. Source: lbry-sdk lbry/extras/daemon/daemon.py
 * `handle_old_jsonrpc`, lbry/extras/daemon/security.py.
 */
import { validateHeaderValue, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { asksForWebSocket, handBack } from '../../util/network/httpUpgrade.js';
import { JsonObject } from '../../util/json/json.js';
import { decodeUtf8, JsonParseError, parseJson } from '../../util/json/jsonParse.js';
import { ERROR_CODE, errorAnswer, type ApiAnswer, type Dispatcher } from '../api/dispatch.js';
import { answerPieces } from '../base/answerJson.js';
import { BodyBuffer } from './bodyBuffer.js';
import type { EventSockets } from './eventSockets.js';
import type { EventStreams } from './eventStreams.js';
import { plainServer, TEXT_TYPE, type Routes } from './plainServer.js';

/**
 * Maximum size of a request body in bytes. Source: OdyseeTeam/lbry-sdk 0.113.1 lbry/extras/daemon/daemon.py; 1 MiB in
 * lbryio/lbry-sdk.
 */
export const MAX_BODY_BYTES = 10 << 20;
const JSON_TYPE = 'application/json; charset=utf-8';

/** Paths of the API besides `/`: the path that lbrynet has, and a path of lbcnet. */
const API_PATHS: readonly string[] = ['/lbryapi', '/lbcnet'];

const EVENTS_PATH = '/events';

const ROUTES: Routes = {
  '/': 'OPTIONS,POST',
  '/lbryapi': 'GET,HEAD,OPTIONS,POST',
  '/lbcnet': 'GET,HEAD,OPTIONS,POST',
  [EVENTS_PATH]: 'GET',
};

export interface ApiServerDeps {
  readonly dispatcher: Pick<Dispatcher, 'call'>;
  /** Serves `GET /events` as a stream of server-sent events. */
  readonly events: Pick<EventStreams, 'answer'>;
  /** Serves WebSockets at the path `/events`, at which events are also served over HTTP. */
  readonly eventSockets: Pick<EventSockets, 'take'>;
  /** Returns the current value of the setting `allowed_origin`. */
  readonly allowedOrigin: () => string;
  /** Aborted when the daemon stops. */
  readonly stopping: AbortSignal;
  /** Called with the origin of each refused request. */
  readonly onRefusedOrigin: (origin: string) => void;
  /** Called with the number of characters of each answer to a call. */
  readonly onAnswer?: ((length: number) => void) | undefined;
}

/** Receives the body of a request, or only its size in bytes if the body exceeds the limit. */
type UseBody = (body: Buffer | number) => void;

/** Reads a body up to the limit. Further bytes are read and discarded, so that the client receives the response. */
function readBody(message: IncomingMessage, use: UseBody): void {
  let first: Buffer | null = null;
  const further: Buffer[] = [];
  let bytes = 0;
  message.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) further.length = 0;
    else if (first === null) first = chunk;
    else further.push(chunk);
  });
  message.on('end', () => {
    if (bytes > MAX_BODY_BYTES) use(bytes);
    else use(further.length > 0 ? Buffer.concat([first!, ...further]) : (first ?? NO_BYTES));
  });
  // The client disconnected while it sent the body, so no response is sent.
  message.on('error', () => undefined);
}

const NO_BYTES = Buffer.alloc(0);
const CLOSING = ['Connection', 'close'];

/** Parses the body of a request. Returns an error response if it is invalid. */
function parseRequest(body: Buffer): JsonObject | ApiAnswer {
  const text = decodeUtf8(body);
  if (text === null) return errorAnswer(ERROR_CODE.parse, 'Parse Error. Data is not valid UTF-8.');
  try {
    const request = parseJson(text);
    if (request instanceof JsonObject) return request;
    return errorAnswer(ERROR_CODE.invalidRequest, 'JSON data is not a valid Request: an object is needed.');
  } catch (error) {
    if (!(error instanceof JsonParseError)) throw error;
    return errorAnswer(ERROR_CODE.parse, `Parse Error. Data is not valid JSON. ${error.message}`);
  }
}

function isHeaderValue(value: string): boolean {
  try {
    validateHeaderValue('Access-Control-Allow-Origin', value);
    return true;
  } catch {
    return false;
  }
}

/**
 * Value of `Access-Control-Allow-Methods` for pages of an allowed origin. lbry-sdk puts the origin in this header too, which
 * browsers refuse.
 */
const ALLOWED_METHODS = 'GET, HEAD, OPTIONS, POST';
const ALLOWED_HEADERS = 'Authorization, Content-Type, X-Requested-With';
/** Seconds for which browsers cache the response to a preflight request. */
const PREFLIGHT_AGE = '600';

/** Returns an origin in the form that browsers send, without a slash at its end. */
const plainOrigin = (origin: string): string => origin.replace(/\/+$/, '');

/** Returns the value of the CORS origin header; empty for none. */
function originHeader(allowed: string): string {
  const origin = plainOrigin(allowed);
  return isHeaderValue(origin) ? origin : '';
}

/** CORS headers of a response. Source: Fetch standard, section 3.2 "CORS protocol". */
function corsHeaders(allowed: string): string[] {
  const origin = originHeader(allowed);
  if (origin === '') return [];
  return [
    'Access-Control-Allow-Origin',
    origin,
    'Access-Control-Allow-Methods',
    ALLOWED_METHODS,
    'Access-Control-Allow-Headers',
    ALLOWED_HEADERS,
  ];
}

/** Buffer for large answers. All servers of the process share it. */
const bodies = new BodyBuffer();

function send(
  response: ServerResponse,
  status: number,
  type: string,
  pieces: readonly string[],
  headers: readonly string[] = [],
): void {
  const bytes = pieces.reduce((sum, piece) => sum + Buffer.byteLength(piece), 0);
  response.writeHead(status, ['Content-Type', type, 'Content-Length', String(bytes), ...headers]);
  // If both lengths are equal, the text is ASCII and need not be encoded as UTF-8.
  if (bytes === charsOf(pieces)) bodies.send(response, pieces);
  else response.end(pieces.join(''), 'utf8');
}

const charsOf = (pieces: readonly string[]): number => pieces.reduce((sum, piece) => sum + piece.length, 0);

/**
 * Whether a page of a disallowed site sent the request. A page can send a request without an `Origin` header, for example
 * for an image. The page cannot read the answer, but the request would use resources.
 */
function isOfStrangePage({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return headers.origin === undefined && (site === 'cross-site' || site === 'same-site');
}

function fail(response: ServerResponse): void {
  send(response, 500, TEXT_TYPE, ['500: Internal Server Error']);
}

/** Handles the requests to the routes of the API server. */
class ApiAnswers {
  readonly #deps: ApiServerDeps;

  constructor(deps: ApiServerDeps) {
    this.#deps = deps;
  }

  #sendAnswer(response: ServerResponse, status: number, pieces: readonly string[]): void {
    const { allowedOrigin, stopping, onAnswer } = this.#deps;
    onAnswer?.(charsOf(pieces));
    // The CORS headers are computed after the call, because the call may change the setting `allowed_origin`.
    const cors = corsHeaders(allowedOrigin());
    send(response, status, JSON_TYPE, pieces, stopping.aborted ? [...cors, ...CLOSING] : cors);
  }

  #respond(response: ServerResponse, body: Buffer): void {
    const { dispatcher, stopping } = this.#deps;
    const parsed = parseRequest(body);
    const isCall = parsed instanceof JsonObject;
    const isGone = (): boolean => stopping.aborted || response.destroyed;
    try {
      const answer = isCall ? dispatcher.call(parsed, isGone) : parsed;
      const pieces = answer instanceof Promise ? answer.then(answerPieces) : answerPieces(answer);
      const status = isCall ? 200 : 400;
      if (!(pieces instanceof Promise)) this.#sendAnswer(response, status, pieces);
      else
        pieces.then(
          (whole) => this.#sendAnswer(response, status, whole),
          () => fail(response),
        );
    } catch {
      fail(response);
    }
  }

  /** Whether pages of the request's origin are allowed. */
  #isOfAllowedOrigin({ headers: { origin } }: IncomingMessage): boolean {
    const allowed = this.#deps.allowedOrigin();
    if (origin === undefined || origin === plainOrigin(allowed) || origin === allowed || allowed === '*')
      return true;
    this.#deps.onRefusedOrigin(origin);
    return false;
  }

  /** Sends an error if the origin of the request is not allowed. Returns whether it is allowed. */
  #isAllowed(request: IncomingMessage, response: ServerResponse): boolean {
    const allowed = this.#isOfAllowedOrigin(request);
    if (!allowed) send(response, 403, TEXT_TYPE, ['403: Forbidden']);
    return allowed;
  }

  /** Answers a `GET` request for the event stream. */
  events(request: IncomingMessage, response: ServerResponse): void {
    if (!this.#isAllowed(request, response)) return;
    if (isOfStrangePage(request)) send(response, 403, TEXT_TYPE, ['403: Forbidden']);
    else this.#deps.events.answer(request, response, corsHeaders(this.#deps.allowedOrigin()));
  }

  /** Answers a request that contains a call of a method. */
  call(request: IncomingMessage, response: ServerResponse): void {
    if (!this.#isAllowed(request, response)) return;
    readBody(request, (body) => {
      if (typeof body !== 'number') this.#respond(response, body);
      else {
        const text = `Maximum request body size ${MAX_BODY_BYTES} exceeded, actual body size ${body}`;
        send(response, 413, TEXT_TYPE, [text]);
      }
    });
  }

  /** Upgrades a connection to a WebSocket for events. Other upgrade requests are left to the server. */
  upgrade(server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const [path] = (request.url ?? '').split('?');
    if (request.method !== 'GET' || path !== EVENTS_PATH || !asksForWebSocket(request))
      handBack(server, request, socket, head);
    else
      this.#deps.eventSockets.take(
        request,
        socket,
        head,
        this.#isOfAllowedOrigin(request) && !isOfStrangePage(request),
      );
  }

  readonly preflight = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const cors = corsHeaders(this.#deps.allowedOrigin());
    if (cors.length === 0) return reply.code(204).send();
    for (let at = 0; at < cors.length; at += 2) void reply.header(cors[at]!, cors[at + 1]);
    void reply.header('Access-Control-Max-Age', PREFLIGHT_AGE);
    // Chromium sends this preflight request before a page from the network may call a program on this machine.
    if (request.headers['access-control-request-private-network'] === 'true')
      void reply.header('Access-Control-Allow-Private-Network', 'true');
    return reply.code(200).type('application/octet-stream').send('');
  };
}

export function apiServer(deps: ApiServerDeps): FastifyInstance {
  const answers = new ApiAnswers(deps);
  const app = plainServer(ROUTES, (request, response) => {
    const isCall =
      request.method === 'POST' && (request.url === '/' || API_PATHS.includes(request.url ?? ''));
    if (!isCall || deps.stopping.aborted) return false;
    answers.call(request, response);
    return true;
  });
  const handler = (request: FastifyRequest, reply: FastifyReply): void => {
    reply.hijack();
    answers.call(request.raw, reply.raw);
  };
  app.post('/', handler);
  app.get(EVENTS_PATH, (request, reply) => {
    reply.hijack();
    answers.events(request.raw, reply.raw);
  });
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) =>
    answers.upgrade(app.server, request, socket, head),
  );
  for (const url of API_PATHS) app.route({ method: ['GET', 'HEAD', 'POST'], url, handler });
  for (const url of ['/', ...API_PATHS]) app.options(url, answers.preflight);
  return app;
}
