/** What the claim methods share: asking for a name in the profile's way, and shaping one claim in the profile's shape. */
import type { ClaimInfo, NameInfo } from '../../../store/claims/claimQueries.js';
import type { Bytes } from '../../../util/bytes.js';
import type { Soon } from '../../../util/soon.js';
import type { JsonOut } from '../../../util/jsonWrite.js';
import { CLAIM_SCHEMA, documentedClaim } from '../../format/claimsDocumented.js';
import { LBRYCRD_CLAIM_SCHEMA, lbrycrdClaim } from '../../format/claimsLbrycrd.js';
import type { RpcContext } from '../../method.js';
import { claimAtAge } from '../../nameLookup.js';
import { t } from '../../../schema/schema.js';
import { givenName, hexParam } from './hexNames.js';

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

/** How the name is given; the last parameter of methods that take one. */
export const NAME_HEX_PARAM = hexParam('name');

/** The arguments that say which name is asked for. */
export interface GivenName {
  readonly name: string;
  readonly hex: boolean;
}

/** The name after block `height`; in all profiles but the documented one with the reference's oddities. */
export function nameAt(ctx: RpcContext, { name, hex }: GivenName, height: number): Soon<NameInfo> {
  return nameBytesAt(ctx, givenName('name', name, hex), height);
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

/** The claim at a place by age, as the profile counts it. */
export function claimBySequence(
  { profile }: RpcContext,
  info: NameInfo,
  sequence: number,
): ClaimInfo | undefined {
  return claimAtAge(info, sequence, profile !== 'documented');
}
