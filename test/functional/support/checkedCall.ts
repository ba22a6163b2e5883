/** Calls over HTTP whose answers are compared with the declaration of the method. */
import type { RpcMethod } from '../../../src/rpc/declare/method.js';
import { checkJson } from '../../../src/schema/schemaCheck.js';
import { parseJson } from '../../../src/util/json/jsonParse.js';
import type { JsonObject } from '../../../src/util/json/json.js';

export interface Failure {
  readonly code: number;
  readonly message: string;
}

/** Posts one call. Throws if the result does not match the declaration. `method` is undefined for a method without a declaration. */
export async function checkedCall<T>(
  url: string,
  method: RpcMethod | undefined,
  name: string,
  params: readonly unknown[] = [],
): Promise<{ readonly result: T; readonly error: Failure | null }> {
  const { username, password, origin, pathname } = new URL(url);
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const body = JSON.stringify({ jsonrpc: '1.0', id: 1, method: name, params });
  const response = await fetch(`${origin}${pathname}`, { method: 'POST', headers: { authorization }, body });
  const text = await response.text();
  const answer = JSON.parse(text) as { result: T; error: Failure | null };
  if (answer.error === null && method !== undefined) {
    const problems = checkJson(method.result, (parseJson(text) as JsonObject).get('result')!);
    if (problems.length > 0) throw new Error(`${name}: ${problems.join('; ')}\n${text.slice(0, 500)}`);
  }
  return answer;
}
