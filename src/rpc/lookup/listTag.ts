/**
 * Tags of lists in cursors. A cursor contains a tag of its method and of the subject of the list (a name, a claim, addresses), so
 * that a cursor of another list is refused and does not select a wrong page.
 */
import { sha256 } from '../../crypto/hash.js';
import { concatBytes, equalBytes, fromLatin1, type Bytes } from '../../util/bytes.js';
import { RPC_ERROR, rpcError } from '../declare/errors.js';

/** Length of a tag in bytes. It detects mistakes, it does not authenticate. */
export const TAG_BYTES = 4;

/** Returns the tag of the list of a method. `subject` identifies the list among those of the method. */
export function listTag(method: string, subject: Bytes): Bytes {
  return sha256(concatBytes(fromLatin1(`${method}\0`), subject)).subarray(0, TAG_BYTES);
}

/** Removes the tag from the end of a cursor. Throws if it is the tag of another list. `parameter` is the cursor's parameter. */
export function withoutTag(cursor: Bytes, tag: Bytes, parameter = 'after'): Bytes {
  const end = Math.max(0, cursor.length - TAG_BYTES);
  if (!equalBytes(cursor.subarray(end), tag))
    throw rpcError(
      RPC_ERROR.INVALID_PARAMETER,
      `${parameter} is the cursor of another list: it belongs to another method, or to another name, claim or address`,
    );
  return cursor.subarray(0, end);
}
