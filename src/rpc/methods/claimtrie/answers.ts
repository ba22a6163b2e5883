/** Functions shared by the claim methods: querying a name, and formatting a claim for the profile. */
import type { NameQuery } from '../../../store/claims/query/claimQueries.js';
import type { ClaimChoice, ClaimOfName } from '../../../store/claims/query/oneClaim.js';
import type { Bytes } from '../../../util/bytes.js';
import { whenResolved, type MaybePromise } from '../../../util/maybePromise.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { CLAIM_SCHEMA, documentedClaim } from '../../format/claimsDocumented.js';
import { LBRYCRD_CLAIM_SCHEMA, lbrycrdClaim } from '../../format/claimsLbrycrd.js';
import type { RpcContext } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { givenName, hexParam } from './hexNames.js';

/** Schema of the result of methods that return one claim or an empty object. */
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

/** Declares the parameter for the encoding of the name. It is the last parameter of methods with a name. */
export const NAME_HEX_PARAM = hexParam('name');

/** Arguments that specify a name: its text, and whether the text is hex. */
export interface GivenName {
  readonly name: string;
  readonly hex: boolean;
}

/** Creates the query for a name. In all profiles except the documented one, the result includes the reference's quirks. */
export function queryOf({ services, profile }: RpcContext, name: Bytes, height: number): NameQuery {
  if (profile === 'documented') return { name, height };
  return { name, height, asReference: { tipHeight: services.chain.chain.height } };
}

/** Returns one claim of the name as of block `height`. */
export function claimAt(
  ctx: RpcContext,
  { name, hex }: GivenName,
  height: number,
  choice: ClaimChoice,
): MaybePromise<ClaimOfName> {
  return claimOfBytesAt(ctx, givenName('name', name, hex), height, choice);
}

export function claimOfBytesAt(
  ctx: RpcContext,
  name: Bytes,
  height: number,
  choice: ClaimChoice,
): MaybePromise<ClaimOfName> {
  return ctx.services.claims.claimAt(queryOf(ctx, name, height), choice);
}

/** Formats a claim as of block `height`. If `claim` is absent, the result is an empty object. */
export function oneClaimAnswer(
  { services, profile }: RpcContext,
  soon: MaybePromise<ClaimOfName>,
  height: number,
): MaybePromise<JsonOut> {
  return whenResolved(soon, ({ claim, ...info }) => {
    if (claim === undefined) return {};
    return profile === 'documented'
      ? documentedClaim(services, info, claim)
      : lbrycrdClaim(services, info, claim, height);
  });
}
