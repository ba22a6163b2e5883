/**
 * `getnamehistory`: the history of a name, block by block: items created, spent and moved, and the controlling claims with
 * their amounts.
 */
import type { ChainReader } from '../../../chain/chainReader.js';
import { jsonArray, type JsonOut } from '../../../util/json/jsonWrite.js';
import type { NameBlock } from '../../../store/claims/query/nameHistory.js';
import type { LatestSpan } from '../../../interfaces/claimReader.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import {
  NAME_BLOCK_SCHEMA,
  NAME_HEX,
  nameBlock,
  nameHex,
  ofBlock,
  OF_BLOCK_FIELDS,
} from '../../format/claimsExplorer.js';
import { nameText } from '../../format/claimsText.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import type { RpcServices } from '../../../interfaces/services.js';
import { NAME_PARAM } from './answers.js';
import { blockOfHashOrHeight, retryWhileGone } from './atBlock.js';
import { givenName, hexParam } from './hexNames.js';
import { countParam } from './lists/pages.js';

const ORDERS = ['oldest', 'newest'] as const;

/** Returns the hashes of the blocks. Must be called while the blocks are in the active chain. */
function hashesOf({ chain, headers }: ChainReader, blocks: readonly NameBlock[]): Uint8Array[] {
  return blocks.map(({ height }) => headers.hash(chain.index.active.at(height)));
}

function* entries(blocks: readonly NameBlock[], hashes: readonly Uint8Array[]): Generator<JsonOut> {
  for (const [i, block] of blocks.entries()) yield nameBlock(block, hashes[i]!);
}

async function latestPage({ claims }: RpcServices, name: Uint8Array, span: LatestSpan) {
  const { next, ...page } = await claims.latestHistoryOf(name, span);
  return { ...page, next: next?.to, skip: next?.skip || undefined };
}

export const getNameHistory = defineMethod({
  name: 'getnamehistory',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  summary:
    'Returns the history of a name: each block that changed it, with the claims and supports that were ' +
    'created, updated, activated, abandoned, moved or expired, the controlling claim after the block, ' +
    'and the effective amounts that changed. The history starts with the first block and is complete on ' +
    'a pruned node too; outputs that were created and spent in the same block are left out. Names are ' +
    'normalized as of the last block: to get the history of another spelling before the normalization ' +
    'fork, pass a last block below the fork. Pages are consistent even if blocks are connected between ' +
    'calls, if each call has the blockhash of the first page as "to".',
  params: [
    NAME_PARAM,
    {
      name: 'from',
      type: 'integer',
      default: 0,
      range: { min: 0, max: 0x7fffffff },
      description: 'The height of the first block; for the next page "next" of the previous page',
    },
    {
      name: 'to',
      type: 'hashOrHeight',
      defaultText: 'the tip',
      description: 'The hash or the height of the last block',
    },
    countParam('The page ends with the block that reaches this number of events'),
    hexParam('name'),
    {
      name: 'order',
      type: 'string',
      default: ORDERS[0],
      description:
        '"oldest" begins with the first block; "newest" begins with the latest event of the last block, and ' +
        'a page then has exactly "count" events',
    },
    {
      name: 'skip',
      type: 'integer',
      default: 0,
      range: { min: 0, max: 0x7fffffff },
      description:
        'For "newest": number of the latest events of the last block to skip; for the next page "skip" of ' +
        'the previous page',
    },
  ],
  result: t.object({
    name: t.str('the requested name'),
    normalized_name: t.str('the normalized name, as of the last block'),
    namehex: NAME_HEX,
    ...OF_BLOCK_FIELDS,
    blocks: t.array(NAME_BLOCK_SCHEMA, 'the blocks, in the requested order'),
    next: t.optional(
      t.int(
        'the height from which to continue; for "newest" the height down from which there may be more events',
      ),
      'if there is more',
    ),
    skip: t.optional(
      t.int('number of events of that block in this page'),
      'for "newest", if this page ends within a block',
    ),
  }),
  examples: [['"mindblown"'], ['"mindblown"', '100', '200']],
  run({ services }, { name, from, to, count, hex, order, skip }) {
    const wanted = givenName('name', name, hex);
    const isNewest = ORDERS.indexOf(order as (typeof ORDERS)[number]) === 1;
    if (!isNewest && order !== ORDERS[0])
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, `order must be one of ${ORDERS.join(', ')}`);
    if (skip > 0 && !isNewest)
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'skip is only allowed with order "newest"');
    const find = () => blockOfHashOrHeight(services, to);
    return retryWhileGone(services, find, async ({ id, height }) => {
      if (from > height && to !== undefined) {
        throw rpcError(
          RPC_ERROR.INVALID_PARAMETER,
          `from is above the last block, whose height is ${height}`,
        );
      }
      const span = { from, to: height, count };
      const history = await (isNewest
        ? latestPage(services, wanted, { ...span, skip })
        : services.claims.historyOf(wanted, span));
      const hashes = hashesOf(services.chain, history.blocks);
      return {
        name,
        normalized_name: nameText(history.name),
        namehex: nameHex(history.name),
        ...ofBlock(services.chain, id, height),
        blocks: jsonArray(entries(history.blocks, hashes)),
        next: history.next ?? undefined,
        skip: 'skip' in history ? history.skip : undefined,
      };
    });
  },
});
