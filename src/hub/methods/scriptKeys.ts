/**
 * Computes script keys from the names that clients use for scripts: addresses and script hashes. Source: lbryio/hub
 * herald/session.py.
 */
import { SCRIPT_KEY_BYTES, scriptKeyOf } from '../../index/addressScripts.js';
import { decodeDestination, type AddressPrefixes } from '../../script/address.js';
import { scriptForDestination } from '../../script/standard.js';
import { hashFromHex, isHex, toLatin1 } from '../../util/bytes.js';
import type { JsonValue } from '../../util/json/json.js';
import { badRequest } from '../protocol/hubError.js';
import { pythonText } from '../protocol/pythonText.js';

/** Maximum length of an address in characters. */
const MAX_ADDRESS_CHARS = 120;

export type KeyOf = (text: JsonValue | undefined, prefixes: AddressPrefixes) => string;

export const addressKey: KeyOf = (text, prefixes) => {
  if (typeof text === 'string' && text.length <= MAX_ADDRESS_CHARS) {
    const destination = decodeDestination(text, prefixes);
    const key = destination && scriptKeyOf(scriptForDestination(destination));
    if (key !== null) return key;
  }
  throw badRequest(`${pythonText(text ?? null)} is not a valid address`);
};

/** Script key for a script hash. The address index uses the first bytes of the hash as the key. */
export const scriptHashKey: KeyOf = (text) => {
  if (typeof text === 'string' && text.length === 64 && isHex(text))
    return toLatin1(hashFromHex(text).subarray(0, SCRIPT_KEY_BYTES));
  throw badRequest(`${pythonText(text ?? null)} is not a valid script hash`);
};
