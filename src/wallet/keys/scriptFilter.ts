/**
 * A fast filter on raw output scripts: whether a script could be the wallet's. It excludes nearly all outputs of a block
 * without parsing; `isMine` decides the rest.
 */
import { hash160, ripemd160 } from '../../crypto/hash.js';
import { claimPrefixLength } from '../../script/claimScript.js';
import { OP } from '../../script/opcodes.js';
import { toLatin1 } from '../../util/bytes.js';

/** Ids are latin1 strings. */
export interface KnownScripts {
  knowsKeyId(id: string): boolean;
  knowsScriptId(id: string): boolean;
  /** Whether any script is watched as a whole, and whether this script is. */
  readonly watchesScripts: boolean;
  isWatched(script: Buffer): boolean;
  /** False only if no known id of a key or script starts with the twelve bytes at `start`. */
  mayKnowId(bytes: Uint8Array, start: number): boolean;
}

/**
 * `couldBeMine` for a script within other bytes. The usual forms are checked there, without creating a string or a view.
 */
export function couldPayTo(known: KnownScripts, raw: Buffer, start: number, length: number): boolean {
  if (!known.watchesScripts) {
    const hashAt = hashOffset(raw, start, length);
    if (hashAt > 0 && !known.mayKnowId(raw, start + hashAt)) return false;
  }
  return couldBeMine(known, raw.subarray(start, start + length));
}

/** Offset of the 20-byte hash in a P2PKH, P2SH or P2WPKH script; 0 for other scripts. */
function hashOffset(raw: Buffer, start: number, length: number): number {
  const first = raw[start];
  if (length === 25)
    return first === OP.OP_DUP && raw[start + 1] === OP.OP_HASH160 && raw[start + 2] === 20 ? 3 : 0;
  if (length === 23) return first === OP.OP_HASH160 && raw[start + 1] === 20 ? 2 : 0;
  return length === 22 && first === 0 && raw[start + 1] === 20 ? 2 : 0;
}

/** False only if the script is neither the wallet's nor watched. */
export function couldBeMine(known: KnownScripts, script: Buffer): boolean {
  if (known.watchesScripts && known.isWatched(script)) return true;
  const first = script[0];
  if (first === OP.OP_CLAIM_NAME || first === OP.OP_UPDATE_CLAIM || first === OP.OP_SUPPORT_CLAIM) {
    const prefix = claimPrefixLength(script);
    if (prefix > 0) return couldBeMine(known, script.subarray(prefix));
  }
  switch (script.length) {
    case 25:
      if (first === OP.OP_DUP && script[1] === OP.OP_HASH160 && script[2] === 20)
        return known.knowsKeyId(script.toString('latin1', 3, 23));
      break;
    case 23:
      if (first === OP.OP_HASH160 && script[1] === 20)
        return known.knowsScriptId(script.toString('latin1', 2, 22));
      break;
    case 22:
      if (first !== 0 || script[1] !== 20) break;
      if (known.knowsKeyId(script.toString('latin1', 2, 22))) return true;
      // The script may be that of a watch-only key.
      return known.watchesScripts && known.knowsScriptId(toLatin1(hash160(script)));
    case 34:
      if (first === 0 && script[1] === 32)
        return known.knowsScriptId(toLatin1(ripemd160(script.subarray(2, 34))));
      break;
    case 35:
    case 67:
      if (first === script.length - 2 && script[script.length - 1] === OP.OP_CHECKSIG)
        return known.knowsKeyId(toLatin1(hash160(script.subarray(1, script.length - 1))));
      break;
    default:
  }
  // Bare multisig counts as not owned; other scripts are only watched.
  return false;
}
