/** Combines the declaration of a method with its implementation. */
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { AnyArgs, ApiArgsOf } from './args.js';
import type { DaemonContext } from './context.js';
import type { MethodDeclaration } from './declaration.js';

export interface MethodImplementation {
  readonly declaration: MethodDeclaration;
  readonly run: (context: DaemonContext, args: AnyArgs) => Promise<JsonOut> | JsonOut;
}

/**
 * Pairs a declaration with its implementation. `run` receives parameters that were checked against the declaration. An error
 * that `run` throws becomes the error of the answer.
 */
export function implement<D extends MethodDeclaration>(
  declaration: D,
  run: (context: DaemonContext, args: ApiArgsOf<D>) => Promise<JsonOut> | JsonOut,
): MethodImplementation {
  // The parameters were checked against the declaration from which `ApiArgsOf` derives their types, so the cast is safe.
  return { declaration, run: run as unknown as MethodImplementation['run'] };
}
