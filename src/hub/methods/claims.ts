/** `blockchain.claimtrie.*`, and what other hubs do not have: `lbcnode.claimtrie.*`. Source: lbryio/hub herald/session.py. */
import { setTimeout as sleep } from 'node:timers/promises';
import { givenConstraints } from '../../search/givenConstraints.js';
import { hashFromHex, hashToHex, isHex } from '../../util/bytes.js';
import type { JsonObject, JsonValue } from '../../util/json.js';
import type { JsonOut } from '../../util/jsonWrite.js';
import { booleanOf, nonNegativeInteger } from '../arguments.js';
import type { ClaimAnswers } from '../claimAnswers.js';
import { badRequest, HUB_ERROR, HubError, internalError } from '../hubError.js';
import type { HubCall, HubMethod } from '../method.js';
import { pythonText } from '../pythonText.js';
import { supportSums } from '../supportSums.js';

const CLAIM_ID_DIGITS = 40;
/** lbry-sdk asks for 100 at most; the reference has no bound. */
const MAX_URLS = 2000;
/** Source: `TooManyClaimSearchParametersError`. */
const MAX_LIST_LENGTH = 2048;
/** How long who sends longer lists waits for the error. Source: `claimtrie_search`. */
const LONG_LIST_DELAY_MS = 2000;

function claimsOf({ hub }: HubCall): ClaimAnswers {
  if (hub.claims === null) throw new HubError(HUB_ERROR.internal, 'the node keeps no claim index', true);
  return hub.claims;
}

async function search(call: HubCall, named: JsonObject | null): Promise<string> {
  const claims = claimsOf(call);
  for (const [key, value] of named?.entries ?? []) {
    if (!Array.isArray(value) || value.length <= MAX_LIST_LENGTH) continue;
    await call.turn.outside(() => sleep(LONG_LIST_DELAY_MS, undefined, { ref: false }));
    throw badRequest(`${pythonText(key)} cant have more than ${MAX_LIST_LENGTH} items.`);
  }
  const constraints = named === null ? {} : givenConstraints(named);
  return claims.search(constraints, call.turn, call.client);
}

/** Sums of a page that is not told its size. Arbitrary. */
const DEFAULT_SUMS = 100;
const MAX_SUMS = 1000;

async function sumSupports(
  call: HubCall,
  [claimId, withContent = false, offset = 0, limit = DEFAULT_SUMS]: readonly (JsonValue | undefined)[],
): Promise<JsonOut> {
  const { claims, claimIndex: index, chain } = call.hub.node;
  if (index === null) throw new HubError(HUB_ERROR.internal, 'the node keeps no claim index', true);
  const first = nonNegativeInteger(offset);
  const count = Math.min(nonNegativeInteger(limit), MAX_SUMS);
  const sums = await supportSums(
    { claims, index, chain },
    hashFromHex(claimIdOf(claimId)),
    booleanOf(withContent),
    call.turn,
  );
  return sums.slice(first, first + count).map(({ channel, amountSat, count: supports }) => ({
    channel_id: hashToHex(channel.claimId),
    name: Buffer.from(channel.name).toString('utf8'),
    short_url: channel.shortUrl,
    amount: String(amountSat),
    supports,
  }));
}

/** As printed. */
function claimIdOf(value: JsonValue | undefined): string {
  if (typeof value !== 'string' || value.length !== CLAIM_ID_DIGITS || !isHex(value)) throw internalError();
  return value;
}

export const CLAIM_METHODS: readonly HubMethod[] = [
  {
    name: 'blockchain.claimtrie.resolve',
    spread: true,
    run(call, urls) {
      if (urls.length > MAX_URLS) throw badRequest(`too many urls in request: ${urls.length}`);
      // The reference trips over what is no text.
      if (!urls.every((url): url is string => typeof url === 'string')) throw internalError();
      return claimsOf(call).resolve(urls, call.turn);
    },
  },
  {
    name: 'blockchain.claimtrie.getclaimbyid',
    params: ['claim_id'],
    run(call, [claimId]) {
      return claimsOf(call).byId(claimIdOf(claimId));
    },
  },
  {
    name: 'blockchain.claimtrie.search',
    params: [],
    named: true,
    run: (call, _args, named) => search(call, named),
  },
  {
    name: 'lbcnode.claimtrie.support_sum',
    params: ['claim_id', 'include_channel_content', 'offset', 'limit'],
    required: 1,
    run: sumSupports,
  },
];
