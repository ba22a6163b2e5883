/**
 * A fast check of raw output scripts: whether a script could belong to the wallet. It excludes nearly all outputs of a block
 * without parsing them. `isMine` checks the remaining outputs exactly.
 */
import { hash160, ripemd160 } from '../../crypto/hash.js';
import { claimPrefixLength } from '../../script/claimScript.js';
import { OP } from '../../script/opcodes.js';
import { toLatin1 } from '../../util/bytes.js';

/** Access to the wallet's keys and scripts by id. Ids are latin1 strings. */
export interface KnownScripts {
  knowsKeyId(id: string): boolean;
  knowsScriptId(id: string): boolean;
  /**
   * `watchesScripts`: whether the wallet watches any output script as a whole. `isWatched`: whether it watches the given
   * script.
   */
  readonly watchesScripts: boolean;
  isWatched(script: Buffer): boolean;
  /** Returns false only if no known id of a key or script starts with the twelve bytes at `start`. */
  mayKnowId(bytes: Uint8Array, start: number): boolean;
}

/**
 * Variant of `couldBeMine` for a script that is part of a larger buffer. Usual forms are checked in place, without creating
 * a string or a view.
 */
export function couldPayTo(known: KnownScripts, raw: Buffer, start: number, length: number): boolean {
  if (!known.watchesScripts) {
    const hashAt = hashOffset(raw, start, length);
    if (hashAt > 0 && !known.mayKnowId(raw, start + hashAt)) return false;
  }
  return couldBeMine(known, raw.subarray(start, start + length));
}

/** Offset of the 20-byte hash within a P2PKH, P2SH or P2WPKH script; 0 for other scripts. */
function hashOffset(raw: Buffer, start: number, length: number): number {
  const first = raw[start];
  if (length === 25)
    return first === OP.OP_DUP && raw[start + 1] === OP.OP_HASH160 && raw[start + 2] === 20 ? 3 : 0;
  if (length === 23) return first === OP.OP_HASH160 && raw[start + 1] === 20 ? 2 : 0;
  return length === 22 && first === 0 && raw[start + 1] === 20 ? 2 : 0;
}

/** Fast check of an output script. Returns false only if the wallet neither owns nor watches the script. */
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
      // The script may be the P2WPKH script of a watch-only key.
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
  // Bare multisig counts as not owned. Other types of scripts can only be watched, which was checked before.
  return false;
}
