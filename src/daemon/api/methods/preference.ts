/** Preferences that applications keep in a wallet. Source: lbry-sdk daemon.py `jsonrpc_preference_*`. */
import { parseJson } from '../../../util/json/jsonParse.js';
import type { JsonValue } from '../../../util/json/json.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { badValue } from '../../base/daemonError.js';
import { preferenceGet, preferenceSet } from '../declarations/preference.js';
import { implement, type MethodImplementation } from '../implement.js';

const get = implement(preferenceGet, ({ services }, args) => {
  const { wallet } = services.wallets.get(args.wallet_id);
  const all = new Map<string, JsonOut>(wallet.preferenceKeys().map((key) => [key, wallet.preference(key)!]));
  if (args.key === undefined || args.key === '') return all;
  const value = all.get(args.key);
  return value === undefined ? null : new Map([[args.key, value]]);
});

const set = implement(preferenceSet, async ({ services }, args) => {
  const value = readValue(args.value);
  await services.wallets.get(args.wallet_id).setPreference(args.key, value);
  return new Map<string, JsonOut>([[args.key, value]]);
});

/**
 * Parses text that begins like a JSON list or object. Other values are returned unchanged. Throws `ValueError` for invalid
 * JSON.
 */
function readValue(value: JsonValue): JsonValue {
  if (typeof value !== 'string' || !/^[[{]/.test(value)) return value;
  try {
    return parseJson(value);
  } catch (error) {
    throw badValue(`The value begins like JSON but is not valid: ${(error as Error).message}`);
  }
}

export const preferenceMethods: readonly MethodImplementation[] = [get, set];
