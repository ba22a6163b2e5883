/** `getclaimsforname`: every claim and support of a name. The declaration for lbcd's clients is in `lbcdGetClaimsForName.ts`. */
import type { RpcServices } from '../../../interfaces/services.js';
import type { NameQuery } from '../../../store/claims/query/claimQueries.js';
import { hashToHex, type Bytes } from '../../../util/bytes.js';
import { HOLE, JsonFrame } from '../../../util/json/jsonFrame.js';
import type { JsonOut } from '../../../util/json/jsonWrite.js';
import { whenResolved, type MaybePromise } from '../../../util/maybePromise.js';
import { documentedName, NAME_SCHEMA } from '../../format/claimsDocumented.js';
import { listTag } from '../../lookup/listTag.js';
import { LBRYCRD_NAME_SCHEMA, lbrycrdName } from '../../format/claimsLbrycrd.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { NAME_HEX_PARAM, NAME_PARAM, queryOf } from './answers.js';
import { atBlock, blockParam, retryWhileGone, type QueriedBlock } from './atBlock.js';
import { givenName } from './hexNames.js';
import { blockOfPage, cursorText } from './lists/cursors.js';
import { afterParam, optionalCountParam, requestedPage, type ClaimsPageRequest } from './lists/pages.js';

/** Maximum number of characters of a text that is cached. Arbitrary: nearly all names have shorter ones. */
const MOST_CHARS = 16_384;

/**
 * Returns the answer in the documented profile. Its text is cached until a block changes the name, except on a pruned node and
 * while the blocks below a snapshot are downloaded: there a block that is deleted or stored may change the answer.
 */
function documentedAnswer(
  services: RpcServices,
  query: NameQuery,
  { id, height }: QueriedBlock,
): MaybePromise<JsonOut> {
  const { claims, chain, pruner } = services;
  const blockhash = hashToHex(chain.headers.hash(id));
  const isWhole = pruner === null && chain.transactionsBehindSnapshot === null;
  const text = isWhole ? claims.textOf(query) : null;
  if (text !== null && text.known !== null) return text.known.fill(height, `"${blockhash}"`);
  return whenResolved(claims.nameAt(query), (info) =>
    whenResolved(documentedName(services, info, height, blockhash), (answer) => {
      const frame = text && JsonFrame.of({ ...answer, height: HOLE, blockhash: HOLE }, MOST_CHARS);
      if (frame !== null) text?.keep(frame);
      return answer;
    }),
  );
}

const tagOf = (name: Bytes): Bytes => listTag('getclaimsforname', name);

/** Returns a page of the answer in the documented profile. */
function pageAt(
  services: RpcServices,
  query: NameQuery,
  { id, height }: QueriedBlock,
  { count, cursor }: ClaimsPageRequest,
): MaybePromise<JsonOut> {
  const { claims, chain } = services;
  const blockHash = chain.headers.hash(id);
  const cursorAt = (place: number, tag: Bytes): string => cursorText({ blockHash, order: 0, place }, tag);
  const page = { from: cursor?.place ?? 0, count, cursorAt, tag: tagOf(query.name) };
  return whenResolved(claims.nameAt(query), (info) =>
    documentedName(services, info, height, hashToHex(blockHash), page),
  );
}

export const getClaimsForName = defineMethod({
  name: 'getclaimsforname',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  summary:
    'Returns all claims and supports for a name, or in the documented profile a page of them: first the claims, then the ' +
    'supports without claims. All pages describe the block of the first page.',
  params: [
    NAME_PARAM,
    blockParam('blockhash (optional parameter 2)'),
    NAME_HEX_PARAM,
    optionalCountParam(
      'Maximum number of claims and supports without claims of the page, and of supports of each claim. Only in the ' +
        'documented profile',
    ),
    afterParam('"next" of the previous page'),
  ],
  maxArgsInReference: 3,
  result: t.union([
    { when: 'in the documented profile', schema: NAME_SCHEMA },
    { when: 'in the lbrycrd profile', schema: LBRYCRD_NAME_SCHEMA },
  ]),
  examples: [
    ['"mindblown"'],
    ['"mindblown"', '"9c89283ba0f3227f6c03b70216b9f665f0118d5e0fa729cedf4fb34d6a34f463"', 'false', '100'],
  ],
  profiles: ['documented', 'lbrycrd'],
  run(ctx, { name, hex, blockhash, count, after }) {
    const { services, profile } = ctx;
    const page = requestedPage(count, after, () => tagOf(givenName('name', name, hex)), 'next');
    if (page !== null) {
      const wanted = givenName('name', name, hex);
      const find = (): QueriedBlock => blockOfPage(services, page.cursor, blockhash, 'blockhash');
      return retryWhileGone(services, find, (block) =>
        pageAt(services, queryOf(ctx, wanted, block.height), block, page),
      );
    }
    return atBlock(services, blockhash, (block) => {
      const query = queryOf(ctx, givenName('name', name, hex), block.height);
      return profile === 'lbrycrd'
        ? whenResolved(services.claims.nameAt(query), (info) => lbrycrdName(services, info, block.height))
        : documentedAnswer(services, query, block);
    });
  },
});
