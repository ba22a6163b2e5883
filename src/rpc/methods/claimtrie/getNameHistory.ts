/** `getnamehistory`: the life of a name, block by block: what was made, spent and moved, who controlled it and for how much. */
import type { ChainReader } from '../../../chain/chainReader.js';
import { jsonArray, type JsonOut } from '../../../util/json/jsonWrite.js';
import type { NameBlock } from '../../../store/claims/query/nameHistory.js';
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
import { NAME_PARAM } from './answers.js';
import { blockOfHashOrHeight, retryWhileGone } from './atBlock.js';
import { givenName, hexParam } from './hexNames.js';
import { countParam } from './lists/pages.js';

/** Hashes of the blocks, taken while they are in the active chain. */
function hashesOf({ chain, headers }: ChainReader, blocks: readonly NameBlock[]): Uint8Array[] {
  return blocks.map(({ height }) => headers.hash(chain.index.active.at(height)));
}

function* entries(blocks: readonly NameBlock[], hashes: readonly Uint8Array[]): Generator<JsonOut> {
  for (const [i, block] of blocks.entries()) yield nameBlock(block, hashes[i]!);
}

export const getNameHistory = defineMethod({
  name: 'getnamehistory',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  summary:
    'Returns the life of a name: each block that did something to it, the oldest first, with claims and supports that ' +
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
  ],
  result: t.object({
    name: t.str('the name as it was asked for'),
    normalized_name: t.str('the name as it is filed after the last block'),
    namehex: NAME_HEX,
    ...OF_BLOCK_FIELDS,
    blocks: t.array(NAME_BLOCK_SCHEMA, 'the blocks, the oldest first'),
    next: t.optional(t.int('the height from which on there is more'), 'when there is more'),
  }),
  examples: [['"mindblown"'], ['"mindblown"', '100', '200']],
  run({ services }, { name, from, to, count, hex }) {
    const wanted = givenName('name', name, hex);
    const find = () => blockOfHashOrHeight(services, to);
    return retryWhileGone(services, find, async ({ id, height }) => {
      if (from > height && to !== undefined) {
        throw rpcError(RPC_ERROR.INVALID_PARAMETER, `from is above the last block, which is at ${height}`);
      }
      const history = await services.claims.historyOf(wanted, { from, to: height, count });
      const hashes = hashesOf(services.chain, history.blocks);
      return {
        name,
        normalized_name: nameText(history.name),
        namehex: nameHex(history.name),
        ...ofBlock(services.chain, id, height),
        blocks: jsonArray(entries(history.blocks, hashes)),
        next: history.next ?? undefined,
      };
    });
  },
});
