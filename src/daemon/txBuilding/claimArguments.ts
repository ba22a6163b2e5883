/**
 * The arguments of a command that say what a claim holds: set on the claim, with refusals by the class names that clients
 * know. Source: lbry-sdk lbry/schema/claim.py, attrs.py, and the commands of lbry/extras/daemon/daemon.py.
 */
import type { Claim } from '../../metadata/messages/claim_pb.js';
import { setClaimFields } from '../../metadata/claimFields.js';
import { MetadataError } from '../../metadata/metadataError.js';
import { JsonObject, type JsonValue } from '../../util/json/json.js';
import { badValue, DaemonError, failure } from '../base/daemonError.js';

/** Arguments by name; null is a value that is refused, undefined one that was not given. */
export type ClaimArguments = Readonly<Record<string, JsonValue | undefined>>;

const CLEARS = 'clear_';
/** How the refusals begin that the reference has no class for. */
const UNCLASSED = ['In order to set a fee', 'Missing or unknown currency'];
const NULL_REFUSED = 'None or null is not valid value';

function refusalOf(message: string): DaemonError {
  if (message.startsWith(NULL_REFUSED)) return new DaemonError('InputValueIsNoneError', message);
  return UNCLASSED.some((start) => message.startsWith(start)) ? failure(message) : badValue(message);
}

/**
 * The claim with the arguments set. Switches that are off count as not given: the command line sends them all.
 * `contentExtension` is that of the stream's file, where there is one. Throws `InputValueIsNoneError`, `ValueError`.
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
