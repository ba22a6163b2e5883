/**
 * Applies the arguments of a command to a claim. Errors have the names that clients know. Source: lbry-sdk
 * lbry/schema/claim.py, attrs.py, and the commands of lbry/extras/daemon/daemon.py.
 */
import type { Claim } from '../../metadata/messages/claim_pb.js';
import { setClaimFields } from '../../metadata/claimFields.js';
import { MetadataError } from '../../metadata/metadataError.js';
import { JsonObject, type JsonValue } from '../../util/json/json.js';
import { badValue, DaemonError, failure } from '../base/daemonError.js';

/** Arguments of a command by name. Null throws an error; undefined means absent. */
export type ClaimArguments = Readonly<Record<string, JsonValue | undefined>>;

const CLEARS = 'clear_';
/** Beginnings of those error texts whose class in lbry-sdk is the general `Exception`. */
const UNCLASSED = ['In order to set a fee', 'Missing or unknown currency'];
const NULL_REFUSED = 'None or null is not valid value';
/** End of the error text for invalid hex digits. In the reference the error has the class `binascii.Error` of Python. */
const HEX_REFUSED = 'must be an even number of hex digits';

function refusalOf(message: string): DaemonError {
  if (message.endsWith(HEX_REFUSED)) return new DaemonError('Error', message);
  if (message.startsWith(NULL_REFUSED)) return new DaemonError('InputValueIsNoneError', message);
  return UNCLASSED.some((start) => message.startsWith(start)) ? failure(message) : badValue(message);
}

/**
 * Applies the arguments to a claim. Switches that are false count as absent, because the command line sends all switches.
 * `contentExtension` is the file extension that the content of the stream's file indicates; null without a file. Throws
 * `InputValueIsNoneError`, `ValueError`.
 */
export function withArguments(
  claim: Claim,
  args: ClaimArguments,
  contentExtension: string | null = null,
): Claim {
  const given = Object.entries(args).filter(
    (entry): entry is [string, JsonValue] =>
      entry[1] !== undefined && !(entry[0].startsWith(CLEARS) && entry[1] === false),
  );
  try {
    return setClaimFields(claim, new JsonObject(given), { contentExtension });
  } catch (error) {
    if (error instanceof MetadataError) throw refusalOf(error.message);
    throw error;
  }
}
