/**
 * `getclaimsintrie`: every active claim, name by name. The result is created while it is written, so its size is not limited
 * by memory.
 */
import { yieldIfDue } from '../../../scheduler/yield.js';
import { jsonArray, type JsonOut } from '../../../util/json/jsonWrite.js';
import { documentedEntry, ENTRY_SCHEMA } from '../../format/claimsDocumented.js';
import { LBRYCRD_ENTRY_SCHEMA, lbrycrdEntry } from '../../format/claimsLbrycrd.js';
import { defineMethod, type RpcContext } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { blockParam, queriedBlock, whileNoneIsGone } from './atBlock.js';

async function* entries({ services, profile }: RpcContext, height: number): AsyncGenerator<JsonOut> {
  const { claims } = services;
  let since = performance.now();
  for await (const name of claims.namesAt(height)) {
    const info = await claims.nameAt({ name, height, exact: true });
    yield await (profile === 'documented'
      ? documentedEntry(services, info)
      : lbrycrdEntry(services, info, height));
    since = await yieldIfDue(since);
  }
}

export const getClaimsInTrie = defineMethod({
  name: 'getclaimsintrie',
  category: 'claimtrie',
  chainUse: 'reads',
  summary: 'Returns all claims in the name trie.',
  params: [blockParam('blockhash (optional parameter 1)')],
  result: t.array(
    t.union([
      { when: 'in the documented profile', schema: ENTRY_SCHEMA },
      { when: 'in the other profiles', schema: LBRYCRD_ENTRY_SCHEMA },
    ]),
    'the names with active claims, in byte order',
  ),
  examples: [[]],
  deprecated: {
    option: 'getclaimsintrie',
    message:
      'getclaimsintrie is deprecated and will be removed in v0.18. To use this command, start with ' +
      '-deprecatedrpc=getclaimsintrie',
    profiles: ['lbrycrd'],
  },
  run(ctx, { blockhash }) {
    const { height } = queriedBlock(ctx.services, blockhash);
    return jsonArray(whileNoneIsGone(ctx.services, entries(ctx, height)));
  },
});
