/** All methods of the daemon: what is implemented, by name. */
import type { MethodImplementation } from './implement.js';
import { resolvingMethods } from './methods/resolving.js';

/** By group, in the order of the file names in `methods`. */
const IMPLEMENTED: readonly (readonly MethodImplementation[])[] = [resolvingMethods];

/** Throws where two have one name. */
export function implementationsByName(): ReadonlyMap<string, MethodImplementation> {
  const byName = new Map<string, MethodImplementation>();
  for (const method of IMPLEMENTED.flat()) {
    const { name } = method.declaration;
    if (byName.has(name)) throw new Error(`two methods are named ${name}`);
    byName.set(name, method);
  }
  return byName;
}
