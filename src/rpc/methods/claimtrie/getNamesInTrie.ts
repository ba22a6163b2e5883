/**
 * `getnamesintrie`: every name with an active claim. The result is created while it is written, so its size is not limited
 * by memory.
 */
import { yieldIfDue } from '../../../scheduler/yield.js';
import { jsonArray } from '../../../util/json/jsonWrite.js';
import { nameText } from '../../format/claimsText.js';
import { defineMethod, type RpcContext } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { blockParam, queriedBlock, whileNoneIsGone } from './atBlock.js';

async function* names({ services }: RpcContext, height: number): AsyncGenerator<string> {
  let since = performance.now();
  for await (const name of services.claims.namesAt(height)) {
    yield nameText(name);
    since = await yieldIfDue(since);
  }
}

export const getNamesInTrie = defineMethod({
  name: 'getnamesintrie',
  category: 'claimtrie',
  chainUse: 'reads',
  summary: 'Returns all claim names in the trie.',
  params: [blockParam('blockhash (optional parameter 1)')],
  result: t.array(t.str('a name'), 'the names with active claims, in byte order'),
  examples: [[]],
  run(ctx, { blockhash }) {
    const { height } = queriedBlock(ctx.services, blockhash);
    return jsonArray(whileNoneIsGone(ctx.services, names(ctx, height)));
  },
});
