/** Versions of the hub's protocol, and negotiation with a client. Source: lbryio/hub common.py. */
import type { JsonValue } from '../../util/json/json.js';

/** Version that the hub reports. Tests of lbry-sdk compare it. */
export const SERVER_VERSION = '0.107.0';
export const PROTOCOL_MIN = '0.54.0';
export const PROTOCOL_MAX = '0.199.0';
/** Lowest and highest Electrum protocol version. Compared if the version is not in the range of LBRY versions. */
const ELECTRUM_MIN = '1.1.0';
const ELECTRUM_MAX = '1.4.0';

/** Maximum number of characters of a version. */
const MAX_CHARS = 64;

/** Numbers of a version such as `0.107.0`; `[0]` for an invalid version. Source: `protocol_tuple`. */
function partsOf(version: JsonValue): readonly number[] {
  if (typeof version !== 'string' || version.length > MAX_CHARS) return [0];
  const parts = version.split('.');
  return parts.every((part) => /^\s*[0-9]{1,9}\s*$/.test(part)) ? parts.map(Number) : [0];
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let n = 0; n < Math.min(a.length, b.length); n++) if (a[n] !== b[n]) return a[n]! - b[n]!;
  return a.length - b.length;
}

function common(wanted: JsonValue, least: string, most: string): readonly number[] | null {
  const [leastParts, mostParts] = [partsOf(least), partsOf(most)];
  const isPair = Array.isArray(wanted) && wanted.length === 2;
  const [from, to] = isPair ? wanted : [wanted ?? least, wanted ?? least];
  const [clientLeast, clientMost] = [partsOf(from!), partsOf(to!)];
  const best = compare(clientMost, mostParts) < 0 ? clientMost : mostParts;
  const needed = compare(clientLeast, leastParts) > 0 ? clientLeast : leastParts;
  return compare(best, needed) < 0 ? null : best;
}

/**
 * Highest version that both the client and the hub support; null if there is none. `wanted` is a version, a pair of minimum
 * and maximum, or null.
 */
export function negotiate(wanted: JsonValue): string | null {
  const parts = common(wanted, PROTOCOL_MIN, PROTOCOL_MAX) ?? common(wanted, ELECTRUM_MIN, ELECTRUM_MAX);
  return parts && (parts.length < 2 ? [...parts, 0] : parts).join('.');
}
