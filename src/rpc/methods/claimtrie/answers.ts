/** What the claim methods share: asking for a name in the profile's way, and shaping one claim in the profile's shape. */
import { byAge, type ClaimInfo, type NameInfo } from '../../../store/claims/claimQueries.js';
import { equalBytes, hashToHex, type Bytes } from '../../../util/bytes.js';
import type { Soon } from '../../../util/soon.js';
import type { JsonOut } from '../../../util/jsonWrite.js';
import { CLAIM_SCHEMA, documentedClaim } from '../../format/claimsDocumented.js';
import { LBRYCRD_CLAIM_SCHEMA, lbrycrdClaim } from '../../format/claimsLbrycrd.js';
import { nameBytes } from '../../format/claimsText.js';
import type { RpcContext } from '../../method.js';
import { t } from '../../../schema/schema.js';

/** Result of the methods that answer with one claim, or with an empty object. */
export const ONE_CLAIM_SCHEMA = t.union([
  { when: 'in the documented profile', schema: CLAIM_SCHEMA },
  { when: 'in the other profiles', schema: LBRYCRD_CLAIM_SCHEMA },
]);

export const NAME_PARAM = {
  name: 'name',
  type: 'string',
  required: true,
  description: 'The name to look up',
} as const;

/** The name after block `height`; in all profiles but the documented one with the reference's oddities. */
export function nameAt(ctx: RpcContext, name: string, height: number): Soon<NameInfo> {
  return nameBytesAt(ctx, nameBytes(name), height);
}

export function nameBytesAt({ services, profile }: RpcContext, name: Bytes, height: number): Soon<NameInfo> {
  const { claims, chain } = services;
  if (profile === 'documented') return claims.nameAt({ name, height });
  return claims.nameAt({ name, height, asReference: { tipHeight: chain.chain.height } });
}

/** One claim of a name, as of block `height`; an empty object for none. */
export function oneClaimAnswer(
  { services, profile }: RpcContext,
  info: NameInfo,
  claim: ClaimInfo | undefined,
  height: number,
): Soon<JsonOut> {
  if (claim === undefined) return {};
  return profile === 'documented'
    ? documentedClaim(services, info, claim)
    : lbrycrdClaim(services, info, claim, height);
}

/** The first claim whose printed id begins with these lower-case digits. */
export function claimByDigits({ claims }: NameInfo, digits: string): ClaimInfo | undefined {
  return claims.find((claim) => hashToHex(claim.claimId).startsWith(digits));
}

export function claimById({ claims }: NameInfo, claimId: Bytes): ClaimInfo | undefined {
  return claims.find((claim) => equalBytes(claim.claimId, claimId));
}

/** The claim at a place by age. One that is listed twice keeps the bid of its first mention. */
export function claimBySequence(
  { profile }: RpcContext,
  info: NameInfo,
  sequence: number,
): ClaimInfo | undefined {
  const found = byAge(info.claims, profile !== 'documented')[sequence];
  return found && { ...found, bid: claimById(info, found.claimId)!.bid, sequence };
}
