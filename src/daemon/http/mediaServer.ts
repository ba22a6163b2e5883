/**
 * The media server: streams by name and by the hash of their descriptor. Source: lbry-sdk lbry/extras/daemon/daemon.py
 * `handle_stream_get_request`, `handle_stream_range_request`; sdk-facts 1.6.
 */
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { ComponentGate } from '../api/dispatch.js';
import { plainServer, refuse, TEXT_TYPE, type Routes } from './plainServer.js';

const ROUTES: Routes = { '/get/*': 'GET,HEAD', '/stream/*': 'GET,HEAD' };

export interface MediaServerDeps {
  readonly gate: ComponentGate;
  /** The setting `streaming_get`. */
  readonly mayGet: () => boolean;
}

export function mediaServer({ gate, mayGet }: MediaServerDeps): FastifyInstance {
  const app = plainServer(ROUTES);
  /** What streams come from; the text of its error where it is skipped or still starts. */
  function refuseWithoutFiles(reply: FastifyReply): FastifyReply {
    try {
      gate.check(['file_manager']);
    } catch (error) {
      return reply
        .code(500)
        .type(TEXT_TYPE)
        .send((error as Error).message);
    }
    return refuse(reply, 404, 'Not Found');
  }
  for (const url of ['/get/:name', '/get/:name/:claimId']) {
    app.route({
      method: ['GET', 'HEAD'],
      url,
      handler: async (request, reply) =>
        (request.params as { name: string }).name === ''
          ? refuse(reply, 404, 'Not Found')
          : mayGet()
            ? refuseWithoutFiles(reply)
            : refuse(reply, 403, 'Forbidden'),
    });
  }
  app.route({
    method: ['GET', 'HEAD'],
    url: '/stream/:sdHash',
    handler: async (request, reply) =>
      (request.params as { sdHash: string }).sdHash === ''
        ? refuse(reply, 404, 'Not Found')
        : refuseWithoutFiles(reply),
  });
  return app;
}
