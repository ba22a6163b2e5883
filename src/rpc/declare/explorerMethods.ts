/**
 * Methods that the web explorer may call (`MethodDecl.explorer`). A method is forbidden unless its declaration allows the
 * call.
 */
import type { RpcMethod } from './method.js';

/** Code that calls a method for the explorer: its own pages, or its console for visitors. */
export type ExplorerCaller = 'page' | 'console';

/** Whether the caller may call the method. Pages may also call all methods that the console may call. */
export function isOpenTo(caller: ExplorerCaller, { explorer }: Pick<RpcMethod, 'explorer'>): boolean {
  return explorer === 'console' || explorer === caller;
}
