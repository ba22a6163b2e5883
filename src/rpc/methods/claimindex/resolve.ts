/** `resolve`: the claims to which URLs resolve. */
import type { ResolveFailure } from '../../../index/claims/claimReader.js';
import { LONGEST_URL } from '../../../index/claims/resolveUrl.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import type { JsonValue } from '../../../util/json/json.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { ClaimShower, CONFIRMED_ONLY, FULL_CLAIM, requireClaimIndex, shownBy } from './claimAnswer.js';

/** Maximum number of URLs in one call. Arbitrary: ten times the number that wallets request. */
const MOST_URLS = 1000;

const ERROR_NAMES: Readonly<Record<ResolveFailure['kind'], string>> = {
  'not-found-claim': 'NOT_FOUND',
  'not-found-channel': 'NOT_FOUND',
  invalid: 'INVALID',
  blocked: 'BLOCKED',
};

function parseUrls(value: JsonValue): string[] {
  const urls = Array.isArray(value) ? value : [value];
  if (urls.length > MOST_URLS)
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, `At most ${MOST_URLS} URLs can be resolved in one call`);
  const texts = urls.filter((url) => typeof url === 'string');
  if (texts.length < urls.length)
    throw rpcError(RPC_ERROR.TYPE_ERROR, 'urls must be a URL or an array of URLs, each a string');
  // URLs are the keys of the result. Their length is limited, because V8 gives all strings of more than 16,383 characters
  // equal hashes.
  if (texts.some(({ length }) => length > LONGEST_URL))
    throw rpcError(RPC_ERROR.INVALID_PARAMETER, `A URL has at most ${LONGEST_URL} characters`);
  return [...new Set(texts)];
}

export const resolve = defineMethod({
  name: 'resolve',
  category: 'claimindex',
  explorer: 'console',
  chainUse: 'reads',
  summary:
    'Resolves lbry:// URLs to claims as of the latest block (needs -claimindex). A URL names a channel, ' +
    'a claim, or a claim in a channel. Claims with the same name are distinguished by "#" or ":" and the ' +
    'first digits of the claim id, or by "$" and the position in the order of amounts. Updates in the ' +
    'mempool are included; new claims in the mempool only if no confirmed claim matches.',
  params: [
    {
      name: 'urls',
      type: 'textOrArray',
      required: true,
      description: 'A URL, with or without lbry://, or an array of URLs',
    },
    CONFIRMED_ONLY,
  ],
  result: t.map(
    'url',
    t.union([
      { when: 'if a claim was found', schema: FULL_CLAIM },
      {
        when: 'otherwise',
        schema: t.object({
          error: t.object({
            name: t.str('"NOT_FOUND", or "INVALID" for an invalid URL'),
            text: t.str('description of the error'),
          }),
        }),
      },
    ]),
  ),
  examples: [['"lbry://@lbry/demo"'], ['["@lbry#3f", "one"]']],
  async run({ services }, { urls, confirmedonly }): Promise<JsonOut> {
    const index = requireClaimIndex(services);
    const texts = parseUrls(urls);
    const found = await shownBy(services, index, confirmedonly).resolve(texts);
    const shower = new ClaimShower(services, index);
    const answer = new Map<string, JsonOut>();
    let since = performance.now();
    for (const [i, text] of texts.entries()) {
      const { claim, failure, ...references } = found[i]!;
      if (claim === null || failure !== null)
        answer.set(text, { error: { name: ERROR_NAMES[failure!.kind], text: failure!.text } });
      else answer.set(text, await shower.full({ claim, ...references }));
      since = await yieldIfDue(since);
    }
    return answer;
  },
});
