/** `getblock`: a block as hex, or decoded with transaction ids or with its transactions. */
import { hexOf, type JsonOut } from '../../../util/json/jsonWrite.js';
import { formatBlock, parseBlockBytes } from '../../../primitives/block.js';
import { readBlockBytesChecked, readBlockChecked, requireBlock } from '../../lookup/blockLookup.js';
import {
  BLOCK_SCHEMA,
  BLOCK_WITH_TRANSACTIONS_SCHEMA,
  blockAnswer,
  keptBlockAnswer,
} from '../../format/block.js';
import { scriptContextOf } from '../../format/scriptContext.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const getBlock = defineMethod({
  name: 'getblock',
  category: 'blockchain',
  explorer: 'console',
  follows: 'chain',
  summary:
    'Returns a block: for verbosity 0 as a string of serialized, hex-encoded data, for verbosity 1 as an object with ' +
    'information about it, for verbosity 2 with information about each of its transactions too.',
  params: [
    { name: 'blockhash', type: 'looseHash', required: true, description: 'The block hash' },
    {
      name: 'verbosity|verbose',
      type: 'verbosity',
      default: 1,
      description: '0 for hex encoded data, 1 for a json object, and 2 for json object with transaction data',
    },
  ],
  result: t.union([
    { when: 'for verbosity = 0', schema: t.hex('the serialized block') },
    { when: 'for verbosity = 1', schema: BLOCK_SCHEMA },
    { when: 'for verbosity = 2', schema: BLOCK_WITH_TRANSACTIONS_SCHEMA },
  ]),
  examples: [['"9c89283ba0f3227f6c03b70216b9f665f0118d5e0fa729cedf4fb34d6a34f463"']],
  async run({ services, profile }, { blockhash, verbosity }): Promise<JsonOut> {
    const { chain, params, options } = services;
    const id = requireBlock(chain, blockhash);
    const shown = {
      context: scriptContextOf(services, profile),
      withTransactions: verbosity >= 2,
      serializeWitness: options.serializeWitness,
      params,
      texts: services.blockTexts,
    };
    const kept = verbosity > 0 && chain.hasData(id) ? keptBlockAnswer(chain, id, shown) : null;
    if (kept !== null) return kept;
    if (verbosity <= 0) {
      const raw = await readBlockBytesChecked(services, id);
      return hexOf(options.serializeWitness ? raw : formatBlock(parseBlockBytes(raw), false));
    }
    return blockAnswer(chain, id, await readBlockChecked(services, id), shown);
  },
});
