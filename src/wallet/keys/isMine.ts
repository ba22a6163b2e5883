/**
 * Determines whether an output belongs to a wallet. The result has the flags of the reference, which listings and filters
 * use. Source: lbrycrd script/ismine.cpp.
 */
import { hash160, ripemd160 } from '../../crypto/hash.js';
import { COMPRESSED_KEY_SIZE } from '../../crypto/ecdsaEncoding.js';
import { decodeClaimScript, stripClaimPrefix } from '../../script/claimScript.js';
import { scriptForDestination, solveScript } from '../../script/standard.js';
import { fromLatin1, type Bytes } from '../../util/bytes.js';
import type { KnownScripts } from './scriptFilter.js';

/** Source: `isminetype`. */
export const MINE = {
  no: 0,
  watchOnly: 1,
  spendable: 2,
  /** Set in addition to `spendable`: the output creates or updates a claim (`claim`), or is a support (`support`). */
  claim: 4,
  support: 8,
} as const;

/** `MINE_ALL`: outputs that the wallet can spend or watches. `MINE_STAKE`: outputs that are claims or supports. */
export const MINE_ALL = MINE.watchOnly | MINE.spendable;
export const MINE_STAKE = MINE.claim | MINE.support;

/** Keys and scripts that the caller provides for the check. Ids are hashes of 20 bytes. */
export interface OwnedKeys {
  hasKey(keyId: Bytes): boolean;
  publicKey(keyId: Bytes): Bytes | null;
  script(scriptId: Bytes): Bytes | null;
  isWatched(script: Bytes): boolean;
}

type Place = 'top' | 'p2sh' | 'witness';
/** Results of the check of a script. A greater number means more ownership. */
const NO = 0;
const WATCHED = 1;
const SPENDABLE = 2;
/** A script that cannot be spent. */
const INVALID = 3;

/** Returns ownership flags (`MINE`) of an output script: whether the wallet can spend it or watches it. */
export function isMine(keys: OwnedKeys, script: Bytes): number {
  const inner = stripClaimPrefix(script);
  const found = ownership(keys, inner, 'top');
  if (found === WATCHED) return MINE.watchOnly;
  if (found !== SPENDABLE) return MINE.no;
  if (inner.length === script.length) return MINE.spendable;
  return MINE.spendable | (decodeClaimScript(script)?.kind === 'support' ? MINE.support : MINE.claim);
}

/** Ownership flags of the P2PKH script of a key id (latin1). Nearly all outputs have this form. */
export function mineOfKeyHash(keys: OwnedKeys & KnownScripts, keyId: string): number {
  if (keys.knowsKeyId(keyId)) return MINE.spendable;
  if (!keys.watchesScripts) return MINE.no;
  const script = scriptForDestination({ type: 'pubkeyhash', hash: fromLatin1(keyId) });
  return keys.isWatched(script) ? MINE.watchOnly : MINE.no;
}

function ownership(keys: OwnedKeys, script: Bytes, place: Place): number {
  const found = keyOwnership(keys, script, place);
  return found === NO && keys.isWatched(script) ? WATCHED : found;
}

function keyOwnership(keys: OwnedKeys, script: Bytes, place: Place): number {
  const template = solveScript(script);
  switch (template.type) {
    case 'pubkey':
      if (place === 'witness' && template.publicKey.length !== COMPRESSED_KEY_SIZE) return INVALID;
      return keys.hasKey(hash160(template.publicKey)) ? SPENDABLE : NO;
    case 'pubkeyhash':
      if (place === 'witness') {
        const known = keys.publicKey(template.hash);
        if (known !== null && known.length !== COMPRESSED_KEY_SIZE) return INVALID;
      }
      return keys.hasKey(template.hash) ? SPENDABLE : NO;
    case 'scripthash': {
      if (place !== 'top') return INVALID;
      const inner = keys.script(template.hash);
      return inner === null ? NO : ownership(keys, inner, 'p2sh');
    }
    case 'witness_v0_keyhash':
      if (place === 'witness') return INVALID;
      if (place === 'top' && keys.script(hash160(script)) === null) return NO;
      return ownership(keys, scriptForDestination({ type: 'pubkeyhash', hash: template.hash }), 'witness');
    case 'witness_v0_scripthash': {
      if (place === 'witness') return INVALID;
      if (place === 'top' && keys.script(hash160(script)) === null) return NO;
      const inner = keys.script(ripemd160(template.hash));
      return inner === null ? NO : ownership(keys, inner, 'witness');
    }
    case 'multisig': {
      // A bare multisig counts as not owned, because other users may be able to spend it too.
      if (place === 'top') return NO;
      const { publicKeys } = template;
      if (place === 'witness' && publicKeys.some((key) => key.length !== COMPRESSED_KEY_SIZE)) return INVALID;
      return publicKeys.every((key) => keys.hasKey(hash160(key))) ? SPENDABLE : NO;
    }
    default:
      return NO;
  }
}
