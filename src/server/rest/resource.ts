/** Types of a REST resource: the handler of all paths with the resource's prefix, and the node services that handlers use. */
import { scriptContextOf } from '../../rpc/format/scriptContext.js';
import type { ScriptContext } from '../../rpc/format/script.js';
import type { RpcContext } from '../../rpc/declare/method.js';
import type { RpcServices } from '../../interfaces/services.js';
import type { MethodTable } from '../../rpc/declare/table.js';
import type { HttpReply } from '../replyStream.js';

/** One request. */
export interface RestCall {
  readonly services: RpcServices;
  readonly table: MethodTable;
  /** The path after the prefix, including the query. */
  readonly path: string;
  /** Body of the request; empty for a GET. */
  readonly body: Buffer;
  /** Aborted when the client disconnects, or when the node stops. */
  readonly signal: AbortSignal;
  readonly outOfTurn: RpcContext['outOfTurn'];
}

/** Handles a request. Throws `RestError` for an error response. */
export type RestHandler = (call: RestCall) => HttpReply | Promise<HttpReply>;

/** RPC profile of all REST responses: that of the reference, lbrycrd. */
const PROFILE = 'lbrycrd';

export function scriptContext({ services }: RestCall): ScriptContext {
  return scriptContextOf(services, PROFILE);
}

/** Context for the RPC methods that create the data of a resource. */
export function rpcContext({ services, table, signal, outOfTurn }: RestCall): RpcContext {
  return {
    profile: PROFILE,
    services,
    signal,
    outOfTurn,
    walletName: undefined,
    table,
    isDeprecatedEnabled: () => false,
  };
}
