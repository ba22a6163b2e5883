/** Names and prefixes of names, given as text or, since they may be any bytes, in hex. */
import { fromHex, isHex } from '../../../util/bytes.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { nameBytes } from '../../format/claimsText.js';

/** Declares the parameter for the encoding of the parameter `label`. */
export function hexParam(label: string) {
  return {
    name: 'hex',
    type: 'boolean',
    default: false,
    description: `Whether ${label} is given as the hex of its bytes, which need not be UTF-8`,
  } as const;
}

/** No digits mean the empty name. */
export function bytesOfHex(digits: string, complaint: string): Buffer {
  if (digits !== '' && !isHex(digits)) throw rpcError(RPC_ERROR.INVALID_PARAMETER, complaint);
  return Buffer.from(fromHex(digits));
}

/** The bytes of the parameter `label`. */
export function givenName(label: string, text: string, hex: boolean): Buffer {
  return hex ? bytesOfHex(text, `${label} must be in hex`) : nameBytes(text);
}
