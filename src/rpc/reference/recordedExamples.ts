/**
 * Results of sample calls, recorded from a node on regtest. They are the examples in the OpenRPC document and the method
 * reference. `test/functional/openRpc.test.ts` records the results, and compares the types of new results with those of the
 * recorded results.
 */
import { readFileSync } from 'node:fs';
import type { JsonObject, JsonValue } from '../../util/json/json.js';
import { parseJson } from '../../util/json/jsonParse.js';
import { stringifyJson } from '../../util/json/jsonStream.js';
import { projectFile } from '../../util/project.js';
import { PROFILES, type Profile } from '../declare/method.js';
import type { ExampleCall } from './openRpc.js';

/** Path of the recorded examples, relative to the root of the repository. */
export const EXAMPLES_FILE = 'data/rpcExamples.json';

export interface RecordedCall extends ExampleCall {
  /** Profile of the result. A call whose result has the same type in all profiles is recorded only for the first profile. */
  readonly profile: Profile;
}

let recorded: readonly RecordedCall[] | undefined;

/** Returns all recorded calls. The file is read at the first call. */
export function recordedCalls(): readonly RecordedCall[] {
  recorded ??= readRecords(readFileSync(projectFile(...EXAMPLES_FILE.split('/')), 'utf8'));
  return recorded;
}

function readRecords(text: string): RecordedCall[] {
  return (parseJson(text, Infinity) as JsonObject[]).map((record) => ({
    method: record.get('method') as string,
    profile: record.get('profile') as Profile,
    params: record.get('params') as JsonValue[],
    result: record.get('result') ?? null,
  }));
}

/**
 * Returns the examples for a profile. For a method that has separate results in this profile, only these are returned,
 * because the arguments may differ too. Other methods use the examples of an earlier profile.
 */
export function examplesFor(
  profile: Profile,
  calls: readonly RecordedCall[] = recordedCalls(),
): RecordedCall[] {
  const order = PROFILES.slice(0, PROFILES.indexOf(profile) + 1);
  const rank = (call: RecordedCall): number => order.indexOf(call.profile);
  const best = new Map<string, number>();
  for (const call of calls) best.set(call.method, Math.max(rank(call), best.get(call.method) ?? -1));
  return calls.filter((call) => rank(call) >= 0 && rank(call) === best.get(call.method));
}

/** Returns the key of a call, which does not depend on the profile. */
export function callKey({ method, params }: Pick<ExampleCall, 'method' | 'params'>): string {
  return `${method} ${stringifyJson(params)}`;
}
