/**
 * The REST interface (`-rest`): the routing of paths, the response during startup, and error handling. Needs no
 * authentication; only the addresses of `-rpcallowip` have access. Requests use the work queue of RPC. Source: lbrycrd
 * rest.cpp, httpserver.cpp.
 */
import type { FastifyInstance } from 'fastify';
import { RpcError } from '../../rpc/declare/errors.js';
import { readingChain } from '../../rpc/call/onChain.js';
import type { RpcServices } from '../../interfaces/services.js';
import type { MethodTable } from '../../rpc/declare/table.js';
import type { HttpReply } from '../replyStream.js';
import { REST_PATH, targetOf, type RouteTools } from '../routes.js';
import { blockHandler, headersHandler } from './blocks.js';
import { errorReply } from './reply.js';
import { RestError } from './request.js';
import type { RestCall, RestHandler } from './resource.js';
import { chainInfoHandler, mempoolContentsHandler, mempoolInfoHandler } from './state.js';
import { transactionHandler } from './transactions.js';
import { utxosHandler } from './utxos.js';

export interface RestDeps {
  readonly services: RpcServices;
  readonly table: MethodTable;
  /** Returns the reason why the node cannot serve requests yet; null once it can. */
  readonly warmupStatus: () => string | null;
  /** Called with every exception that is not a REST or RPC error. */
  readonly onException: (error: unknown, what: string) => void;
}

/** Handlers of resources by prefix. The first prefix that matches the path is used. */
const RESOURCES: readonly (readonly [prefix: string, handler: RestHandler])[] = [
  ['/rest/tx/', transactionHandler],
  ['/rest/block/notxdetails/', blockHandler(false)],
  ['/rest/block/', blockHandler(true)],
  ['/rest/chaininfo', chainInfoHandler],
  ['/rest/mempool/info', mempoolInfoHandler],
  ['/rest/mempool/contents', mempoolContentsHandler],
  ['/rest/headers/', headersHandler],
  ['/rest/getutxos', utxosHandler],
];

/** Adds the REST interface to the server's routes. */
export function addRestRoutes(app: FastifyInstance, tools: RouteTools, deps: RestDeps): void {
  app.all(REST_PATH, async (request, reply) => {
    const target = targetOf(request);
    const resource = RESOURCES.find(([prefix]) => target.startsWith(prefix));
    if (resource === undefined) {
      await reply.code(404).send();
      return;
    }
    const [prefix, handler] = resource;
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    tools.serve(request, reply, ({ signal, outOfTurn }) =>
      answer(handler, { path: target.slice(prefix.length), body, signal, outOfTurn }, prefix, deps),
    );
  });
}

async function answer(
  handler: RestHandler,
  request: Pick<RestCall, 'path' | 'body' | 'signal' | 'outOfTurn'>,
  prefix: string,
  { services, table, warmupStatus, onException }: RestDeps,
): Promise<HttpReply> {
  try {
    const warmup = warmupStatus();
    if (warmup !== null) throw new RestError(503, `Service temporarily unavailable: ${warmup}`);
    const { reorganisation } = services.chain.chain;
    return await readingChain(reorganisation, request, () => handler({ services, table, ...request }));
  } catch (error) {
    if (error instanceof RpcError && request.signal.aborted)
      return errorReply({ status: 503, message: error.message });
    if (error instanceof RestError) return errorReply(error);
    onException(error, prefix);
    return errorReply({ status: 500, message: 'Internal error' });
  }
}
