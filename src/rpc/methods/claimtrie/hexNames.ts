/** Parses names and prefixes of names. They are given as text or, because they may be any bytes, in hex. */
import { fromHex, isHex } from '../../../util/bytes.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { nameBytes } from '../../format/claimsText.js';

/** Declares the parameter that says whether the parameter `label` is text or hex. */
export function hexParam(label: string) {
  return {
    name: 'hex',
    type: 'boolean',
    default: false,
    description: `${label} is the hex encoding of its bytes, which need not be valid UTF-8`,
  } as const;
}

/**
 * Like `hexParam`, for the methods of the wallet. They accept it only in the documented profile. Declare it last, after the
 * arguments that lbrycrd accepts (`maxArgsInReference`).
 */
export function walletHexParam(label: string) {
  const param = hexParam(label);
  return {
    ...param,
    late: true,
    description: `${param.description}. Only in the documented profile`,
  } as const;
}

/** Parses hex digits to bytes. An empty text means the empty name. Throws an error with the text `complaint` for other text. */
export function bytesOfHex(digits: string, complaint: string): Buffer {
  if (digits !== '' && !isHex(digits)) throw rpcError(RPC_ERROR.INVALID_PARAMETER, complaint);
  return Buffer.from(fromHex(digits));
}

/** Returns the bytes of the name in the parameter `label`, which is text or hex. */
export function givenName(label: string, text: string, hex: boolean): Buffer {
  return hex ? bytesOfHex(text, `${label} must be in hex`) : nameBytes(text);
}
