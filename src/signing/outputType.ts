/**
 * Address types for a key or a script, and whether a witness program can be used. Source: Core 0.17 outputtype.cpp.
 */
import { COMPRESSED_KEY_SIZE } from '../crypto/ecdsaEncoding.js';
import { hash160, sha256 } from '../crypto/hash.js';
import { scriptForDestination, type Destination } from '../script/standard.js';
import type { Bytes } from '../util/bytes.js';
import { isSolvable } from './produceSignature.js';
import type { SigningProvider } from './signingProvider.js';

export const OUTPUT_TYPES = ['legacy', 'p2sh-segwit', 'bech32'] as const;
export type OutputType = (typeof OUTPUT_TYPES)[number];

export function isOutputType(name: string): name is OutputType {
  return (OUTPUT_TYPES as readonly string[]).includes(name);
}

function wrapped(program: Destination, type: OutputType): Destination {
  return type === 'bech32' ? program : { type: 'scripthash', hash: hash160(scriptForDestination(program)) };
}

/**
 * Destination of a public key for an address type. For an uncompressed key it is always P2PKH. Source:
 * `GetDestinationForKey`.
 */
export function destinationForKey(publicKey: Bytes, type: OutputType): Destination {
  const hash = hash160(publicKey);
  if (type === 'legacy' || publicKey.length !== COMPRESSED_KEY_SIZE) return { type: 'pubkeyhash', hash };
  return wrapped({ type: 'witness_v0_keyhash', hash }, type);
}

/** All destinations that one key alone can spend from. Source: `GetAllDestinationsForKey`. */
export function destinationsForKey(publicKey: Bytes): Destination[] {
  const plain = destinationForKey(publicKey, 'legacy');
  if (publicKey.length !== COMPRESSED_KEY_SIZE) return [plain];
  return [plain, destinationForKey(publicKey, 'p2sh-segwit'), destinationForKey(publicKey, 'bech32')];
}

/** A key and script store to which scripts can be added. */
export interface ScriptStore extends SigningProvider {
  /** Adds a script. Returns false, without adding the script, if it is too long to be pushed on the stack. */
  addScript(script: Bytes): boolean;
}

/**
 * The destination of a script. The script and its witness program are added to the store. The destination is P2SH if a
 * witness output could not be spent (uncompressed keys). Source: `AddAndGetDestinationForScript`.
 */
export function destinationForScript(store: ScriptStore, script: Bytes, type: OutputType): Destination {
  store.addScript(script);
  const plain: Destination = { type: 'scripthash', hash: hash160(script) };
  if (type === 'legacy') return plain;
  const program: Destination = { type: 'witness_v0_scripthash', hash: sha256(script) };
  const programScript = scriptForDestination(program);
  if (!isSolvable(store, programScript)) return plain;
  store.addScript(programScript);
  return wrapped(program, type);
}
