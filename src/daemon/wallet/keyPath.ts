/** Derivation paths of keys in the notation of other wallets, such as `m/44'/140'/0'`. Source: BIP32, BIP44. */
import { HARDENED, type ExtendedKey } from '../../signing/extendedKey.js';
import { badValue } from '../base/daemonError.js';
import { childKey } from './keys.js';

/** Maximum number of levels of a path. BIP44 has five levels; the third is the account. */
const MAX_DEPTH = 10;
const PART = /^([0-9]{1,10})(['hH]?)$/;

/** Parses a path to child numbers. A hardened number includes the bit `HARDENED`. Throws `ValueError`. */
export function parseKeyPath(text: string): readonly number[] {
  const [root, ...parts] = text.trim().split('/');
  if ((root !== 'm' && root !== 'M') || parts.length > MAX_DEPTH)
    throw badValue(`Invalid value for 'path': '${text}' is not a path of keys such as m/44'/140'/0'.`);
  return parts.map((part) => {
    const [, digits, mark] = PART.exec(part) ?? [];
    const number = Number(digits);
    if (digits === undefined || number >= HARDENED)
      throw badValue(`Invalid value for 'path': '${part}' is not a number from 0 to 2147483647.`);
    return mark === '' ? number : number + HARDENED;
  });
}

/** Formats a path as text, with an apostrophe after each hardened number. */
export function keyPathText(path: readonly number[]): string {
  return ['m', ...path.map((n) => (n >= HARDENED ? `${n - HARDENED}'` : `${n}`))].join('/');
}

/** Derives the key at the end of the path. Throws `ValueError` for a hardened number after a public key. */
export function keyAlong(root: ExtendedKey, path: readonly number[]): ExtendedKey {
  if (root.privateKey === null && path.some((n) => n >= HARDENED))
    throw badValue(`A public key cannot derive hardened keys such as ${keyPathText(path)}.`);
  return path.reduce(childKey, root);
}
