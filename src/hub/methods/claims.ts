/** Methods `blockchain.claimtrie.*`. Source: lbryio/hub herald/session.py. */
import { setTimeout as sleep } from 'node:timers/promises';
import { givenConstraints } from '../../search/query/givenConstraints.js';
import type { JsonObject } from '../../util/json/json.js';
import { claimIdOf } from '../protocol/arguments.js';
import { messageOf } from '../claims/foundOutputs.js';
import { badRequest, internalError } from '../protocol/hubError.js';
import type { HubCall, HubMethod } from './method.js';
import { pythonText } from '../protocol/pythonText.js';

/** Maximum number of URLs per request. lbry-sdk sends at most 100; the reference has no limit. */
const MAX_URLS = 2000;
/** Source: `TooManyClaimSearchParametersError`. */
const MAX_LIST_LENGTH = 2048;
/** Milliseconds by which the error for a list that is too long is delayed. Source: `claimtrie_search`. */
const LONG_LIST_DELAY_MS = 2000;

async function search({ client, turn, hub }: HubCall, named: JsonObject | null): Promise<string> {
  for (const [key, value] of named?.entries ?? []) {
    if (!Array.isArray(value) || value.length <= MAX_LIST_LENGTH) continue;
    await turn.outside(() => sleep(LONG_LIST_DELAY_MS, undefined, { ref: false }));
    throw badRequest(`${pythonText(key)} cant have more than ${MAX_LIST_LENGTH} items.`);
  }
  hub.unknownConstraints.note(named?.keys() ?? []);
  const constraints = named === null ? {} : givenConstraints(named);
  const found = await hub.claims.search(client, turn, constraints);
  return found === null ? '' : messageOf(found);
}

export const CLAIM_METHODS: readonly HubMethod[] = [
  {
    name: 'blockchain.claimtrie.resolve',
    spread: true,
    async run({ turn, hub }, urls) {
      if (urls.length > MAX_URLS) throw badRequest(`too many urls in request: ${urls.length}`);
      // For values that are not strings the reference returns an internal error.
      if (!urls.every((url): url is string => typeof url === 'string')) throw internalError();
      return messageOf(await hub.claims.resolve(turn, urls));
    },
  },
  {
    name: 'blockchain.claimtrie.getclaimbyid',
    params: ['claim_id'],
    async run({ hub }, [claimId]) {
      return messageOf(await hub.claims.claim(claimIdOf(claimId)));
    },
  },
  {
    name: 'blockchain.claimtrie.search',
    params: [],
    named: true,
    run: (call, _args, named) => search(call, named),
  },
];
