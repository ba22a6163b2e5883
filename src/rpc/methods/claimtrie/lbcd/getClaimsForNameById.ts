/** lbcd's `getclaimsfornamebyid`: the claims of a name whose ids begin with one of the given prefixes. */
import { hashToHex } from '../../../../util/bytes.js';
import { LBCD_NAME_SCHEMA, type RankedClaim } from '../../../format/claimsLbcd.js';
import { defineMethod } from '../../../declare/method.js';
import { getString } from '../../../declare/paramTypes.js';
import { NAME_HEX_PARAM, NAME_PARAM } from '../answers.js';
import { HASH_OR_HEIGHT_PARAM } from './lbcdBlock.js';
import { INCLUDE_VALUES_PARAM, checkItems, ITEMS_AT_ONCE, lbcdNameAnswer } from './lbcdNames.js';

const CLAIM_ID_DIGITS = 40;

export const getClaimsForNameById = defineMethod({
  name: 'getclaimsfornamebyid',
  category: 'claimtrie',
  follows: 'chain',
  summary: 'Returns claims for a name by their ids, highest effective amount first.',
  params: [
    NAME_PARAM,
    {
      name: 'partialclaimids',
      type: 'array',
      required: true,
      description: 'Claim ids, or their first digits, in lower case',
    },
    HASH_OR_HEIGHT_PARAM,
    INCLUDE_VALUES_PARAM,
    NAME_HEX_PARAM,
  ],
  result: LBCD_NAME_SCHEMA,
  examples: [['"mindblown"', '["36a7"]']],
  profiles: ['lbcd'],
  async run(ctx, args) {
    const beginnings = args.partialclaimids;
    await checkItems(beginnings, getString);
    return lbcdNameAnswer(ctx, args, function* (claims) {
      const byId = claims
        .map((ranked) => ({ ranked, id: hashToHex(ranked.claim.claimId) }))
        .sort((a, b) => (a.id < b.id ? -1 : 1));
      /**
       * For each position, the number of id ranges that start there minus the number that end there. A running sum shows
       * which claims are selected.
       */
      const edges = new Int32Array(byId.length + 1);
      for (let n = 0; n < beginnings.length; n++) {
        if (n % ITEMS_AT_ONCE === 0) yield;
        const beginning = getString(beginnings[n]!);
        if (beginning.length > CLAIM_ID_DIGITS) continue;
        edges[placeOf(byId, beginning)]!++;
        // The ids with the prefix sort before the prefix followed by `g`, where the range therefore ends.
        edges[placeOf(byId, `${beginning}g`)]!--;
      }
      const chosen = new Set<RankedClaim>();
      let open = 0;
      for (const [at, { ranked }] of byId.entries()) {
        open += edges[at]!;
        if (open > 0) chosen.add(ranked);
      }
      return { claims: claims.filter((ranked) => chosen.has(ranked)) };
    });
  },
});

/** Returns the position of the first id that is not less than a text. */
function placeOf(sorted: readonly { readonly id: string }[], text: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (sorted[middle]!.id < text) low = middle + 1;
    else high = middle;
  }
  return low;
}
