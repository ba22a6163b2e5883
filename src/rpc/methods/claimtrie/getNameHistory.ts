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

/** Returns the hashes of the blocks. They are read while the blocks are in the active chain. */
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
    'Returns the life of a name: each block that did something to it, the oldest or the newest first, with claims and supports that ' +
    'came, were updated, entered, were abandoned, expired or moved, who controlled it then, and the effective amounts ' +
    'that changed. All of it is kept from the first block on, on a pruned node too; only what a block made and spent ' +
    'again is in no history. A name is looked up as it is filed after the last block: the life of another spelling ' +
    'before the normalization fork is told when the last block is below the fork. Pages fit together whatever is ' +
    'connected meanwhile; the blockhash of the first as to keeps them at the same last block.',
  params: [
    NAME_PARAM,
    {
      name: 'from',
      type: 'integer',
      default: 0,
      range: { min: 0, max: 0x7fffffff },
      description: 'The height of the first block; for another page "next" of the one before',
    },
    {
      name: 'to',
      type: 'hashOrHeight',
      defaultText: 'the tip',
      description: 'The hash or the height of the last block',
    },
    countParam('The page ends with the block that brings so many events'),
    hexParam('name'),
    {
      name: 'order',
      type: 'string',
      default: ORDERS[0],
      description:
        'oldest: from the first block on; newest: from the last block back, the latest event first, and exactly so ' +
        'many events',
    },
    {
      name: 'skip',
      type: 'integer',
      default: 0,
      range: { min: 0, max: 0x7fffffff },
      description:
        'With newest, how many of the latest events of the last block are left out; for another page "skip" of the ' +
        'one before',
    },
  ],
  result: t.object({
    name: t.str('the name as it was asked for'),
    normalized_name: t.str('the name as it is filed after the last block'),
    namehex: NAME_HEX,
    ...OF_BLOCK_FIELDS,
    blocks: t.array(NAME_BLOCK_SCHEMA, 'the blocks, in the order asked for'),
    next: t.optional(
      t.int('the height from which on there is more; with newest, the height up to which there may be more'),
      'when there is more',
    ),
    skip: t.optional(t.int('events of that block that were on this page'), 'with newest, when there are any'),
  }),
  examples: [['"mindblown"'], ['"mindblown"', '100', '200']],
  run({ services }, { name, from, to, count, hex, order, skip }) {
    const wanted = givenName('name', name, hex);
    const isNewest = ORDERS.indexOf(order as (typeof ORDERS)[number]) === 1;
    if (!isNewest && order !== ORDERS[0])
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, `order must be one of ${ORDERS.join(', ')}`);
    if (skip > 0 && !isNewest) throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'skip needs the order newest');
    const find = () => blockOfHashOrHeight(services, to);
    return retryWhileGone(services, find, async ({ id, height }) => {
      if (from > height && to !== undefined) {
        throw rpcError(RPC_ERROR.INVALID_PARAMETER, `from is above the last block, which is at ${height}`);
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
