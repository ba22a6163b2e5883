/** `invalidateblock`: treats a block as invalid, whatever the rules say. */
import { requireBlock } from '../../blockLookup.js';
import { defineMethod } from '../../method.js';
import { t } from '../../schema.js';

export const invalidateBlock = defineMethod({
  name: 'invalidateblock',
  category: 'hidden',
  summary: 'Permanently marks a block as invalid, as if it violated a consensus rule.',
  params: [
    {
      name: 'blockhash',
      type: 'looseHash',
      required: true,
      description: 'The hash of the block to mark as invalid',
    },
  ],
  result: t.none(),
  examples: [['"blockhash"']],
  async run({ services: { chain } }, { blockhash }) {
    await chain.chain.invalidateBlock(requireBlock(chain, blockhash));
    return null;
  },
});
