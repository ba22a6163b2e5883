/** Which methods the web explorer may ask (`MethodDecl.explorer`): an allow-list, since a method is closed unless it says more. */
import type { RpcMethod } from './method.js';

/** Who asks: the explorer's own pages, or a visitor in its console. */
export type ExplorerCaller = 'page' | 'console';

/** Whether that caller may ask the method. Pages may ask whatever visitors may ask. */
export function isOpenTo(caller: ExplorerCaller, { explorer }: Pick<RpcMethod, 'explorer'>): boolean {
  return explorer === 'console' || explorer === caller;
}
