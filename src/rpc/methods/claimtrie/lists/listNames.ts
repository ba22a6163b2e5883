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

const NO_CURSOR = 'after must be a name in hex, the value "next" of the previous page';

function* entries({ names }: NamesPage): Generator<JsonOut> {
  for (const name of names) yield listedName(name);
}

export const listNames = defineMethod({
  name: 'listnames',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  summary:
    'Returns the names with active claims that begin with a text, in byte order, with the controlling ' +
    'claim of each. Pages are consistent even if blocks are connected between calls: pass the blockhash ' +
    'of the first page as "block", and each "next" as "after".',
  params: [
    {
      name: 'prefix',
      type: 'string',
      default: '',
      description:
        'Beginning of the names. It is normalized like names; bytes that are not valid UTF-8 are not changed',
    },
    countParam('Maximum number of names of the page'),
    {
      name: 'after',
      type: 'string',
      defaultText: 'the first name',
      description: 'Hex of the name after which the page begins: "next" of the previous page',
    },
    BLOCK_PARAM,
    hexParam('prefix'),
  ],
  result: t.object({
    ...OF_BLOCK_FIELDS,
    names: t.array(LISTED_NAME_SCHEMA, 'the names, in byte order of their normalized form'),
    next: t.optional(t.hex('hex of the last name of the page, to be passed as "after"'), 'if there are more'),
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
