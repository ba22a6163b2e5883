/**
 * Shared base of the daemon's HTTP servers: it does not parse bodies, sends refusals as plain text, and responds with the
 * list of allowed methods if a known path is requested with another method. Source: aiohttp's responses, which clients of
 * lbry-sdk expect.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyServerOptions } from 'fastify';

/** Paths with their methods in the form of `Allow`. A `*` at the end of a path matches any non-empty text. */
export type Routes = Readonly<Record<string, string>>;

export const TEXT_TYPE = 'text/plain; charset=utf-8';
/**
 * Compilers for JSON schemas that do nothing, since no route has a schema. Without this option fastify loads a validator and
 * a serializer.
 */
const NO_SCHEMAS = {
  compilersFactory: { buildValidator: () => () => () => true, buildSerializer: () => () => JSON.stringify },
} as unknown as NonNullable<FastifyServerOptions['schemaController']>;
/** Timeout of an idle connection. Source: aiohttp `keepalive_timeout`. */
const KEEP_ALIVE_MS = 75_000;

export function refuse(reply: FastifyReply, status: number, reason: string): FastifyReply {
  return reply.code(status).type(TEXT_TYPE).send(`${status}: ${reason}`);
}

/**
 * Sends status 400 for invalid HTTP and for too many header bytes, and closes the connection. Source: aiohttp
 * `handle_parse_error`.
 */
function refuseUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  const text = error.code === 'ERR_HTTP_REQUEST_TIMEOUT' ? '408: Request Timeout' : '400: Bad Request';
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy(error);
    return;
  }
  const lines = [
    `HTTP/1.1 ${text.replace(':', '')}`,
    `Content-Type: ${TEXT_TYPE}`,
    `Content-Length: ${text.length}`,
    'Connection: close',
  ];
  socket.end(`${lines.join('\r\n')}\r\n\r\n${text}`);
}

function methodsOf(routes: Routes, path: string): string | undefined {
  if (Object.hasOwn(routes, path)) return routes[path];
  const wild = Object.entries(routes).find(
    ([known]) => known.endsWith('*') && path.startsWith(known.slice(0, -1)) && path.length >= known.length,
  );
  return wild?.[1];
}

/** Handles a request before the framework does. Returns false to leave the request to the routes. */
export type ShortCut = (request: IncomingMessage, response: ServerResponse) => boolean;

export function plainServer(routes: Routes, shortCut: ShortCut = () => false): FastifyInstance {
  const app = fastify({
    serverFactory: (handler) =>
      // A value of 0 sets no time limit for a request.
      createServer({ keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 }, (request, response) => {
        if (!shortCut(request, response)) handler(request, response);
      }),
    exposeHeadRoutes: false,
    schemaController: NO_SCHEMAS,
    logger: false,
    // Error handlers for a path with invalid percent-encoding, or longer than the router accepts.
    clientErrorHandler: refuseUnreadable,
    frameworkErrors: (_error, _request, reply) => refuse(reply, 400, 'Bad Request'),
    // Replaces the URL of `OPTIONS *` with a path, so that the router handles it as a match of any path.
    rewriteUrl: ({ url = '/' }) => (url === '*' ? '/*' : url),
  });
  // The content type of bodies is ignored, because fastify refuses types that it cannot read.
  app.addHook('onRequest', (request, _reply, done) => {
    delete request.raw.headers['content-type'];
    done();
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.setNotFoundHandler((request, reply) => {
    const [path = ''] = request.url.split('?');
    const methods = methodsOf(routes, path);
    if (methods === undefined) return refuse(reply, 404, 'Not Found');
    return refuse(reply.header('Allow', methods), 405, 'Method Not Allowed');
  });
  app.setErrorHandler((_error, _request, reply) => refuse(reply, 500, 'Internal Server Error'));
  return app;
}
