/** `getblockheader`: a header as hex or decoded. */
import { formatHeader } from '../../../primitives/header.js';
import { HOLE } from '../../../util/json/jsonFrame.js';
import { hexOf, type JsonOut } from '../../../util/json/jsonWrite.js';
import { whenResolved, type MaybePromise } from '../../../util/maybePromise.js';
import { requireBlock } from '../../lookup/blockLookup.js';
import { keptTextsOf } from '../../lookup/keptTexts.js';
import { confirmationsOf, HEADER_SCHEMA, headerAnswer } from '../../format/block.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const getBlockHeader = defineMethod({
  name: 'getblockheader',
  category: 'blockchain',
  explorer: 'console',
  follows: 'chain',
  summary:
    'Returns a block header: as an object with information about it, or with verbose false as a string of serialized, ' +
    'hex-encoded data.',
  params: [
    { name: 'blockhash', type: 'looseHash', required: true, description: 'The block hash' },
    {
      name: 'verbose',
      type: 'verbosity',
      default: 1,
      description: 'true for a json object, false for the hex encoded data',
    },
  ],
  result: t.union([
    { when: 'for verbose = true', schema: HEADER_SCHEMA },
    { when: 'for verbose = false', schema: t.hex('the serialized header in hex') },
  ]),
  examples: [['"9c89283ba0f3227f6c03b70216b9f665f0118d5e0fa729cedf4fb34d6a34f463"']],
  run({ services: { chain, params }, profile }, { blockhash, verbose }): MaybePromise<JsonOut> {
    const id = requireBlock(chain, blockhash);
    if (verbose === 0) return whenResolved(chain.readHeader(id), (header) => hexOf(formatHeader(header)));
    const texts = keptTextsOf(chain);
    const known = texts.header(id, profile);
    if (known !== null) return known.frame.fill(confirmationsOf(chain, id));
    return whenResolved(chain.readHeader(id), (header) => {
      const answer = headerAnswer(chain, id, header, { profile, params });
      texts.keepHeader(id, profile, { ...answer, confirmations: HOLE });
      return answer;
    });
  },
});
