/** Table of the declared methods, with lookup by name and profile. `helpText.ts` formats the help texts. */
import { assert } from '../../util/assert.js';
import { PROFILES, type DeclaredMethods, type Profile, type RpcMethod } from './method.js';

export class MethodTable implements DeclaredMethods {
  readonly methods: readonly RpcMethod[];
  private readonly byProfile: ReadonlyMap<Profile, ReadonlyMap<string, RpcMethod>>;

  constructor(methods: readonly RpcMethod[]) {
    this.methods = methods;
    this.byProfile = new Map(PROFILES.map((profile) => [profile, indexMethods(methods, profile)]));
  }

  find(name: string, profile: Profile): RpcMethod | undefined {
    return this.byProfile.get(profile)?.get(name);
  }

  list(profile: Profile): RpcMethod[] {
    const methods = [...(this.byProfile.get(profile)?.values() ?? [])];
    const key = (method: RpcMethod): string => method.category + method.name;
    return methods.sort((a, b) => (key(a) < key(b) ? -1 : 1));
  }
}

function indexMethods(methods: readonly RpcMethod[], profile: Profile): Map<string, RpcMethod> {
  const index = new Map<string, RpcMethod>();
  for (const method of methods) {
    if (method.profiles !== undefined && !method.profiles.includes(profile)) continue;
    assert(!index.has(method.name), `the method ${method.name} is declared twice in the ${profile} profile`);
    index.set(method.name, method);
  }
  return index;
}
