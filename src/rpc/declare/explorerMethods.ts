/**
 * The methods that the web explorer may call (`MethodDecl.explorer`): an allow-list, since a method is closed unless its
 * declaration opens it.
 */
import type { RpcMethod } from './method.js';

/** The caller: the explorer's own pages, or a visitor in its console. */
export type ExplorerCaller = 'page' | 'console';

/** Whether that caller may call the method. Pages may call all methods open to visitors. */
export function isOpenTo(caller: ExplorerCaller, { explorer }: Pick<RpcMethod, 'explorer'>): boolean {
  return explorer === 'console' || explorer === caller;
}
