/**
 * Encodes destinations as short latin1 strings, whose first character is the type. All maps by destination use these strings
 * as keys, because they need no base58 encoding and sort in the order of the reference. Source: lbrycrd script/standard.h
 * `CTxDestination`.
 */
import type { Destination } from '../script/standard.js';
import { fromLatin1 } from '../util/bytes.js';

/** Numbers of the destination types: their positions in `CTxDestination`. */
const KINDS = {
  pubkeyhash: 1,
  scripthash: 2,
  witness_v0_scripthash: 3,
  witness_v0_keyhash: 4,
  witness_unknown: 5,
} as const;
/** Scratch buffer for one key. Witness programs have at most 40 bytes. */
const scratch = Buffer.alloc(64);

export function destinationKey(destination: Destination): string {
  // One flat string is created from the bytes, because a concatenated string needs twice the memory.
  scratch[0] = KINDS[destination.type];
  if (destination.type !== 'witness_unknown') {
    scratch.set(destination.hash, 1);
    return scratch.toString('latin1', 0, 1 + destination.hash.length);
  }
  const { version, program } = destination;
  scratch[1] = version;
  scratch[2] = program.length;
  scratch.set(program, 3);
  return scratch.toString('latin1', 0, 3 + program.length);
}

/** Decodes a string that `destinationKey` created. */
export function keyedDestination(key: string): Destination {
  const bytes = fromLatin1(key);
  const hash = bytes.subarray(1);
  switch (bytes[0]) {
    case KINDS.pubkeyhash:
      return { type: 'pubkeyhash', hash };
    case KINDS.scripthash:
      return { type: 'scripthash', hash };
    case KINDS.witness_v0_scripthash:
      return { type: 'witness_v0_scripthash', hash };
    case KINDS.witness_v0_keyhash:
      return { type: 'witness_v0_keyhash', hash };
    default:
      return { type: 'witness_unknown', version: bytes[1]!, program: bytes.subarray(3) };
  }
}
