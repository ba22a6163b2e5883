/** Methods of the daemon run without its program: parameters are read, errors are caught, answers become plain values. */
import type { DaemonServices } from '../../src/daemon/api/context.js';
import type { MethodImplementation } from '../../src/daemon/api/implement.js';
import { checkParams, readParams } from '../../src/daemon/api/paramReading.js';
import { parseJson } from '../../src/util/jsonParse.js';
import { toPlain, type JsonObject } from '../../src/util/json.js';
import { stringifyJson } from '../../src/util/jsonWrite.js';

export interface MethodAnswer {
  readonly result?: unknown;
  readonly error?: { readonly name: string; readonly message: string };
}

/** Runs the method of that name with named parameters. */
export async function callMethod(
  methods: readonly MethodImplementation[],
  services: Partial<DaemonServices>,
  name: string,
  params: object,
): Promise<MethodAnswer> {
  const method = methods.find(({ declaration }) => declaration.name === name);
  if (method === undefined) throw new Error(`there is no method ${name}`);
  const named = new Map((parseJson(JSON.stringify(params)) as JsonObject).entries);
  try {
    checkParams(method.declaration, { positional: [], named });
    const args = readParams(method.declaration, { positional: [], named });
    const context = {
      services: services as DaemonServices,
      withProtobuf: false,
      signal: new AbortController().signal,
    };
    return { result: toPlain(parseJson(stringifyJson(await method.run(context, args)))) };
  } catch (error) {
    const { name: kind, message } = error as Error;
    return { error: { name: kind, message } };
  }
}
