/** `getclaimstates`: for each of many ids whether a claim with it exists, waits, has ended, or was never made. */
import { REMOVAL } from '../../../claimtrie/item.js';
import type { ClaimPlace } from '../../../index/claims/claimIndexQueries.js';
import { normalizeKey } from '../../../claimtrie/nameKey.js';
import { fromLatin1, hashFromHex, hashToHex, toLatin1, type Bytes } from '../../../util/bytes.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import type { JsonValue } from '../../../util/json/json.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { NAME_HEX, nameHex } from '../../format/claimsExplorer.js';
import { nameText } from '../../format/claimsText.js';
import { t } from '../../../schema/schema.js';
import { requireClaimIndex, shownBy } from './claimAnswer.js';

/** Maximum number of ids in one call. Arbitrary: the largest page of a list. */
const MOST_IDS = 1000;
const CLAIM_ID = /^[0-9a-f]{40}$/i;

function parseIds(values: readonly JsonValue[]): Bytes[] {
  if (values.length > MOST_IDS)
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, `At most ${MOST_IDS} claim ids can be looked up in one call`);
  return values.map((value) => {
    if (typeof value !== 'string' || !CLAIM_ID.test(value))
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'claimids must be strings of 40 hexadecimal digits');
    return hashFromHex(value);
  });
}

/** The members of a name in an answer, as in `getclaimstatus`. `filed` is the name under which the claim trie stored an ended claim. */
function namesOf(
  name: Bytes,
  filed: Bytes = fromLatin1(normalizeKey(toLatin1(name))),
): Record<string, JsonOut> {
  const hex = nameHex(name);
  return {
    name: nameText(name),
    normalized_name: nameText(filed),
    ...(hex === undefined ? {} : { namehex: hex }),
  };
}

function placeAnswer({ item, hasEnded }: ClaimPlace): Record<string, JsonOut> {
  const name = fromLatin1(item.rawName);
  if (!hasEnded) return { state: item.activated === 0 ? 'pending' : 'active', ...namesOf(name) };
  const state = item.removal === REMOVAL.expired ? 'expired' : 'spent';
  return { state, ...namesOf(name, fromLatin1(item.name)), endedHeight: item.removed };
}

export const getClaimStates = defineMethod({
  name: 'getclaimstates',
  category: 'claimindex',
  explorer: 'console',
  chainUse: 'reads',
  summary:
    'Returns the states of many claims as of the latest block and the mempool, in the order of the ids (needs ' +
    '-claimindex). Supports and values can name claims that do not exist. See getclaimstatus for more ' +
    'about one claim.',
  params: [
    {
      name: 'claimids',
      type: 'array',
      required: true,
      description: `The claim ids, each of 40 hex digits; at most ${MOST_IDS}`,
    },
  ],
  result: t.array(
    t.object({
      claimId: t.claimId('the claim id'),
      state: t.oneOf(
        ['active', 'pending', 'waiting', 'spent', 'expired', 'unknown'],
        'active, pending: the claim trie contains it; waiting: it is only in the mempool; spent, expired: it has ended; ' +
          'unknown: the chain never had it',
      ),
      name: t.optional(t.str('the name in the last output'), 'unless the claim is unknown'),
      normalized_name: t.optional(
        t.str('the normalized name, by which the claim trie stores or stored the claim'),
        'unless the claim is unknown',
      ),
      namehex: NAME_HEX,
      endedHeight: t.optional(
        t.int('the height at which it was spent or expired'),
        'if it was spent or has expired',
      ),
    }),
    'one state for each id',
  ),
  examples: [['["36a719a156a1df178531f3c712b8b37f8e7cc3b3"]']],
  async run({ services }, { claimids }): Promise<JsonOut> {
    const index = requireClaimIndex(services);
    const ids = parseIds(claimids);
    const { places, isKnown } = await index.places(ids);
    const missing = ids.filter((_, i) => places[i] === null);
    const waiting = new Map<string, JsonOut>();
    for (const claim of await shownBy(services, index, false).latest(missing))
      if (claim !== null) waiting.set(toLatin1(claim.claimId), { state: 'waiting', ...namesOf(claim.name) });
    return ids.map((id, i): JsonOut => {
      const place = places[i]!;
      const state = place === null ? waiting.get(toLatin1(id)) : placeAnswer(place);
      if (state === undefined && !isKnown)
        throw rpcError(
          RPC_ERROR.MISC_ERROR,
          'Claims that ended are not available yet: the claim index was written by an older version, and an ' +
            'upgrade runs in the background. Retry later',
        );
      return { claimId: hashToHex(id), ...((state ?? { state: 'unknown' }) as Record<string, JsonOut>) };
    });
  },
});
