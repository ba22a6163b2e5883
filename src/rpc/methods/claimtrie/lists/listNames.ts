/** `listnames`: pages of the names with active claims that have a prefix, in byte order. */
import { toHex } from '../../../../util/bytes.js';
import { jsonArray, type JsonOut } from '../../../../util/json/jsonWrite.js';
import type { NamesPage } from '../../../../interfaces/claimReader.js';
import { LISTED_NAME_SCHEMA, listedName, ofBlock, OF_BLOCK_FIELDS } from '../../../format/claimsExplorer.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { BLOCK_PARAM, blockOfHashOrHeight, retryWhileGone } from '../atBlock.js';
import { bytesOfHex, givenName, hexParam } from '../hexNames.js';
import { countParam } from './pages.js';

const NO_CURSOR = 'after must be a name in hex, as "next" of the page before';

function* entries({ names }: NamesPage): Generator<JsonOut> {
  for (const name of names) yield listedName(name);
}

export const listNames = defineMethod({
  name: 'listnames',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  summary:
    'Returns the names with active claims that begin with some text, in byte order, with the claim that controls each. ' +
    'Pages of one block fit together whatever is connected meanwhile: pass the blockhash of the first page on, and ' +
    'each "next" as after.',
  params: [
    {
      name: 'prefix',
      type: 'string',
      default: '',
      description: 'How the names begin; normalized as names are, which leaves bytes alone that are no UTF-8',
    },
    countParam('Most names of the page'),
    {
      name: 'after',
      type: 'string',
      defaultText: 'the first name',
      description: 'The hex of the name behind which the page begins: "next" of the page before',
    },
    BLOCK_PARAM,
    hexParam('prefix'),
  ],
  result: t.object({
    ...OF_BLOCK_FIELDS,
    names: t.array(LISTED_NAME_SCHEMA, 'the names, in byte order of how they are filed'),
    next: t.optional(t.hex('the hex of the last name'), 'when there are more'),
  }),
  examples: [['"m"', '2'], []],
  run({ services }, { prefix, count, after, block, hex }) {
    const cursor = after === undefined ? null : bytesOfHex(after, NO_CURSOR);
    const start = givenName('prefix', prefix, hex);
    const find = () => blockOfHashOrHeight(services, block);
    return retryWhileGone(services, find, async ({ id, height }) => {
      const page = await services.claims.listNames({
        height,
        prefix: start,
        after: cursor,
        count,
      });
      return {
        ...ofBlock(services.chain, id, height),
        names: jsonArray(entries(page)),
        next: page.next === null ? undefined : toHex(page.next),
      };
    });
  },
});
