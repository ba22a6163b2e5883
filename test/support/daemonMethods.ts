/**
 * Runs methods of the daemon without its program: reads parameters, catches errors, compares answers with their declarations
 * and converts them to plain values.
 */
import type { DaemonServices } from '../../src/daemon/api/context.js';
import type { MethodImplementation } from '../../src/daemon/api/implement.js';
import { checkParams, readParams } from '../../src/daemon/api/paramReading.js';
import { checkJson } from '../../src/schema/schemaCheck.js';
import { parseJson } from '../../src/util/json/jsonParse.js';
import { toPlain, type JsonObject, type JsonValue } from '../../src/util/json/json.js';
import { stringifyJson } from '../../src/util/json/jsonStream.js';

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
  let answer: JsonValue;
  const named = new Map((parseJson(JSON.stringify(params)) as JsonObject).entries);
  try {
    checkParams(method.declaration, { positional: [], named });
    const args = readParams(method.declaration, { positional: [], named });
    const context = {
      services: services as DaemonServices,
      withProtobuf: false,
      signal: new AbortController().signal,
    };
    answer = parseJson(stringifyJson(await method.run(context, args)));
  } catch (error) {
    const { name: kind, message } = error as Error;
    return { error: { name: kind, message } };
  }
  const problems = checkJson(method.declaration.result, answer);
  if (problems.length > 0) throw new Error(`${name} answers otherwise than declared: ${problems.join('; ')}`);
  return { result: toPlain(answer) };
}
