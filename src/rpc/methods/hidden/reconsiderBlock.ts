/** `reconsiderblock`: reverts `invalidateblock`. */
import { requireBlock } from '../../lookup/blockLookup.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const reconsiderBlock = defineMethod({
  name: 'reconsiderblock',
  category: 'hidden',
  summary:
    'Removes invalidity status of a block and its descendants, reconsider them for activation.\nThis can be used to ' +
    'undo the effects of invalidateblock.',
  params: [
    {
      name: 'blockhash',
      type: 'looseHash',
      required: true,
      description: 'The hash of the block to reconsider',
    },
  ],
  result: t.none(),
  examples: [['"blockhash"']],
  async run({ services: { chain } }, { blockhash }) {
    await chain.chain.reconsiderBlock(requireBlock(chain, blockhash));
    return null;
  },
});
