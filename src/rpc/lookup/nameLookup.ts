/** Finds a claim or support among all items of a name, which may be thousands. Reads no rows. */
import { pointKey } from '../../claimtrie/item.js';
import {
  byAge,
  type ClaimInfo,
  type NameInfo,
  type OutputInfo,
} from '../../store/claims/query/claimQueries.js';
import type { Foreseen } from '../../claimtrie/forecast.js';
import type { BidsPage } from '../../store/claims/query/nameTimeline.js';
import type { NameBids } from '../../interfaces/claimReader.js';
import { beginsWith, type ClaimChoice } from '../../store/claims/query/oneClaim.js';
import { equalBytes, type Bytes } from '../../util/bytes.js';

/** Wraps a function so that its result is computed once per `NameInfo` and cached as long as the `NameInfo` object exists. */
function perName<T>(workOut: (info: NameInfo) => T): (info: NameInfo) => T {
  const known = new WeakMap<NameInfo, T>();
  return (info) => {
    let found = known.get(info);
    if (found === undefined) known.set(info, (found = workOut(info)));
    return found;
  };
}

const ID_BYTES = 20;

/** Returns the first claim whose id in display order begins with these lower-case hex digits. */
export function claimByDigits({ claims }: NameInfo, digits: string): ClaimInfo | undefined {
  return claims.find(({ claimId }) => beginsWith(claimId, 0, digits));
}

export function claimById({ claims }: NameInfo, claimId: Bytes): ClaimInfo | undefined {
  const last = claimId[ID_BYTES - 1];
  return claims.find((claim) => claim.claimId[ID_BYTES - 1] === last && equalBytes(claim.claimId, claimId));
}

const inDocumentedOrder = perName(({ claims }) => byAge(claims, false));
const inReferenceOrder = perName(({ claims }) => byAge(claims, true));

/** Returns all claims by age, oldest first. The list is shared between callers and must not be modified. */
export function claimsByAge(info: NameInfo): readonly ClaimInfo[] {
  return inDocumentedOrder(info);
}

/** Returns a page of the claims of a name, with its forecast. */
export function bidsOf(info: NameInfo, { order, from, count }: BidsPage, coming: Foreseen | null): NameBids {
  const { name, lastTakeoverHeight, claims, supportsWithoutClaim } = info;
  const sorted = order === 'bid' ? claims : claimsByAge(info);
  const end = order === 'newest' ? sorted.length - from : from + count;
  const bids =
    order === 'newest'
      ? sorted.slice(Math.max(0, end - count), Math.max(0, end)).reverse()
      : sorted.slice(from, end);
  return {
    name,
    lastTakeoverHeight,
    claims: claims.length,
    active: claims.reduce((sum, claim) => sum + (claim.active ? 1 : 0), 0),
    supportsWithoutClaim: supportsWithoutClaim.length,
    holder: claims[0]?.active === true ? claims[0] : undefined,
    bids,
    coming,
  };
}

/**
 * Returns the claim at a position in the order of age. If a claim is listed twice, it has the bid rank of the first
 * occurrence.
 */
export function claimAtAge(info: NameInfo, sequence: number, asReference: boolean): ClaimInfo | undefined {
  const found = (asReference ? inReferenceOrder : inDocumentedOrder)(info)[sequence];
  return found && { ...found, bid: claimById(info, found.claimId)!.bid, sequence };
}

/** Returns the claim that `choice` selects, by the rules of the reference or of the documented profile. */
export function chosenClaim(
  info: NameInfo,
  choice: ClaimChoice,
  asReference: boolean,
): ClaimInfo | undefined {
  if ('bid' in choice) return info.claims[choice.bid];
  if ('sequence' in choice) return claimAtAge(info, choice.sequence, asReference);
  return 'claimId' in choice ? claimById(info, choice.claimId) : claimByDigits(info, choice.digits);
}

/** A claim or support that is stored under a name. */
export interface FiledOutput {
  readonly output: OutputInfo;
  readonly claim: ClaimInfo | null;
}

const filedOutputs = perName(({ claims, supportsWithoutClaim }) => {
  const filed = new Map<string, FiledOutput>();
  const add = (output: OutputInfo, claim: ClaimInfo | null): void => {
    const point = pointKey(output.txid, output.n);
    if (!filed.has(point)) filed.set(point, { output, claim });
  };
  for (const claim of claims) add(claim, claim);
  for (const { supports } of claims) for (const support of supports) add(support, null);
  for (const support of supportsWithoutClaim) add(support, null);
  return filed;
});

/** Returns the claim or support of an output; undefined if it is not stored under the name. */
export function filedOutput(info: NameInfo, txid: Bytes, n: number): FiledOutput | undefined {
  return filedOutputs(info).get(pointKey(txid, n));
}
