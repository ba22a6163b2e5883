/**
 * The API over HTTP: routes, origins, bodies, the text of answers. Source: lbry-sdk lbry/extras/daemon/daemon.py
 * `handle_old_jsonrpc`, lbry/extras/daemon/security.py; sdk-facts 1.1 to 1.4.
 */
import { validateHeaderValue, type IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { JsonObject } from '../../util/json.js';
import { decodeUtf8, JsonParseError, parseJson } from '../../util/jsonParse.js';
import { ERROR_CODE, errorAnswer, type Answer, type Dispatcher } from '../api/dispatch.js';
import { answerText, answerTextInTurns } from '../base/answerJson.js';
import { plainServer, refuse, TEXT_TYPE, type Routes } from './plainServer.js';

/** Largest body. Source: aiohttp `client_max_size`. */
export const MAX_BODY_BYTES = 1 << 20;
const JSON_TYPE = 'application/json; charset=utf-8';

/** The paths that mean the API, beside `/`: lbrynet's, and our own. */
const API_PATHS = ['/lbryapi', '/lbcnet'] as const;

const ROUTES: Routes = {
  '/': 'OPTIONS,POST',
  '/lbryapi': 'GET,HEAD,POST',
  '/lbcnet': 'GET,HEAD,POST',
};

export interface ApiServerDeps {
  readonly dispatcher: Pick<Dispatcher, 'call'>;
  /** The setting of the moment. */
  readonly allowedOrigin: () => string;
  /** Aborted when the daemon stops. */
  readonly stopping: AbortSignal;
  /** Takes a note of a refused origin. */
  readonly onRefusedOrigin: (origin: string) => void;
}

class BodyTooLarge extends Error {
  readonly bytes: number;
  constructor(bytes: number) {
    super();
    this.bytes = bytes;
  }
}

/** Reads at most the bound; what is longer is read on and forgotten, so that the answer arrives. */
function readBody(message: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    message.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_BODY_BYTES) chunks.push(chunk);
      else chunks.length = 0;
    });
    message.on('end', () => {
      if (bytes > MAX_BODY_BYTES) reject(new BodyTooLarge(bytes));
      else resolve(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks));
    });
    message.on('error', reject);
  });
}

/** The request, or the answer that tells what is wrong with it. */
function parseRequest(body: Buffer): JsonObject | Answer {
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

/** QUIRK of the reference, kept: the origin stands for methods and headers too. */
function addCors(reply: FastifyReply, origin: string): void {
  if (origin === '' || !isHeaderValue(origin)) return;
  for (const about of ['Origin', 'Methods', 'Headers'])
    void reply.header(`Access-Control-Allow-${about}`, origin);
}

export function apiServer({
  dispatcher,
  allowedOrigin,
  stopping,
  onRefusedOrigin,
}: ApiServerDeps): FastifyInstance {
  const app = plainServer(ROUTES);

  async function answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    const allowed = allowedOrigin();
    const { origin } = request.headers;
    if (origin !== undefined && origin !== allowed && allowed !== '*') {
      onRefusedOrigin(origin);
      return refuse(reply, 403, 'Forbidden');
    }
    let body: Buffer;
    try {
      body = await readBody(request.raw);
    } catch (error) {
      if (!(error instanceof BodyTooLarge)) throw error;
      return reply
        .code(413)
        .type(TEXT_TYPE)
        .send(`Maximum request body size ${MAX_BODY_BYTES} exceeded, actual body size ${error.bytes}`);
    }
    void reply.type(JSON_TYPE);
    const parsed = parseRequest(body);
    if (!(parsed instanceof JsonObject)) {
      addCors(reply, allowed);
      return reply.code(400).send(answerText(parsed));
    }
    const gone = new AbortController();
    const abort = (): void => gone.abort();
    reply.raw.once('close', abort);
    stopping.addEventListener('abort', abort, { once: true });
    try {
      const text = await answerTextInTurns(await dispatcher.call(parsed, gone.signal));
      // Of the setting as the call leaves it.
      addCors(reply, allowedOrigin());
      return reply.send(text);
    } finally {
      stopping.removeEventListener('abort', abort);
      reply.raw.off('close', abort);
    }
  }

  app.post('/', answer);
  for (const url of API_PATHS) app.route({ method: ['GET', 'HEAD', 'POST'], url, handler: answer });
  app.options('/', async (_request, reply) => {
    const allowed = allowedOrigin();
    if (allowed === '') return reply.code(204).send();
    addCors(reply, allowed);
    return reply.code(200).type('application/octet-stream').send('');
  });
  return app;
}
