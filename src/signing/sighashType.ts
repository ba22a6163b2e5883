/** Parses the names of signature hash types. Source: Core 0.17 core_read.cpp `ParseSighashString`. */
const HASH_TYPES: ReadonlyMap<string, number> = new Map([
  ['ALL', 0x01],
  ['ALL|ANYONECANPAY', 0x81],
  ['NONE', 0x02],
  ['NONE|ANYONECANPAY', 0x82],
  ['SINGLE', 0x03],
  ['SINGLE|ANYONECANPAY', 0x83],
]);

/** Returns the hash type of a name such as `ALL`; null for an unknown name. */
export function parseSighashType(name: string): number | null {
  return HASH_TYPES.get(name) ?? null;
}
