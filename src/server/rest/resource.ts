/** What a REST resource is: a handler of the paths that begin with its prefix, and what handlers may ask of the node. */
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
  /** What follows the prefix, query included. */
  readonly path: string;
  /** The body; empty for a GET. */
  readonly body: Buffer;
  /** Aborted when the client goes away or the node stops. */
  readonly signal: AbortSignal;
  readonly outOfTurn: RpcContext['outOfTurn'];
}

/** Throws `RestError` for what is answered with an error. */
export type RestHandler = (call: RestCall) => HttpReply | Promise<HttpReply>;

/** REST is the reference's: it answers in no other profile. */
const PROFILE = 'lbrycrd';

export function scriptContext({ services }: RestCall): ScriptContext {
  return scriptContextOf(services, PROFILE);
}

/** In which methods answer what a resource shows. */
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
