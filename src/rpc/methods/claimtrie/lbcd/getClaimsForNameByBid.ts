/**
 * lbcd's `getclaimsfornamebybid`: the claims of a name with the given ranks by effective amount. A repeated rank gives a
 * repeated claim.
 */
import type { JsonValue } from '../../../../util/json/json.js';
import type { Slices } from '../../../../util/slices.js';
import { LBCD_NAME_SCHEMA, type ChosenClaims, type RankedClaim } from '../../../format/claimsLbcd.js';
import { defineMethod } from '../../../declare/method.js';
import { getInt } from '../../../declare/paramTypes.js';
import { NAME_HEX_PARAM, NAME_PARAM } from '../answers.js';
import { HASH_OR_HEIGHT_PARAM } from './lbcdBlock.js';
import { INCLUDE_VALUES_PARAM, checkItems, ITEMS_AT_ONCE, lbcdNameAnswer } from './lbcdNames.js';

export const getClaimsForNameByBid = defineMethod({
  name: 'getclaimsfornamebybid',
  category: 'claimtrie',
  follows: 'chain',
  summary:
    'Returns claims for a name by their positions in the order of effective amounts, in the order of the ' +
    'given positions.',
  params: [
    NAME_PARAM,
    {
      name: 'bids',
      type: 'array',
      required: true,
      description: 'Positions in the order of effective amounts; 0 is the highest amount',
    },
    HASH_OR_HEIGHT_PARAM,
    INCLUDE_VALUES_PARAM,
    NAME_HEX_PARAM,
  ],
  result: LBCD_NAME_SCHEMA,
  examples: [['"mindblown"', '[0, 1]']],
  profiles: ['lbcd'],
  async run(ctx, args) {
    await checkItems(args.bids, getInt);
    return lbcdNameAnswer(ctx, args, (claims) => choose(claims, args.bids));
  },
});

function* choose(claims: readonly RankedClaim[], bids: readonly JsonValue[]): Slices<ChosenClaims> {
  const distinct = new Set<RankedClaim>();
  /**
   * `bids` is processed in stretches of `ITEMS_AT_ONCE` elements. Contains the start index of each stretch that selects an
   * existing claim. Other stretches are skipped when the result is written.
   */
  const stretches: number[] = [];
  for (let from = 0; from < bids.length; from += ITEMS_AT_ONCE) {
    let isAny = false;
    for (const claim of inStretch(claims, bids, from)) {
      distinct.add(claim);
      isAny = true;
    }
    if (isAny) stretches.push(from);
    yield;
  }
  return {
    claims: [...distinct],
    shown: {
      *[Symbol.iterator]() {
        for (const from of stretches) yield* inStretch(claims, bids, from);
      },
    },
    shownCount: bids.length,
  };
}

function* inStretch(
  claims: readonly RankedClaim[],
  bids: readonly JsonValue[],
  from: number,
): Generator<RankedClaim> {
  const end = Math.min(bids.length, from + ITEMS_AT_ONCE);
  for (let n = from; n < end; n++) {
    const claim = claims[getInt(bids[n]!)];
    if (claim !== undefined) yield claim;
  }
}
