/** `preciousblock`: prefers a block among those of equal work. */
import { requireBlock } from '../../lookup/blockLookup.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const preciousBlock = defineMethod({
  name: 'preciousblock',
  category: 'blockchain',
  summary:
    'Treats a block as if it were received before others with the same work.\nA later preciousblock call can override ' +
    'the effect of an earlier one. The effects are not retained across restarts.',
  params: [
    {
      name: 'blockhash',
      type: 'looseHash',
      required: true,
      description: 'The hash of the block to mark as precious',
    },
  ],
  result: t.none(),
  examples: [['"blockhash"']],
  async run({ services: { chain } }, { blockhash }) {
    await chain.chain.preciousBlock(requireBlock(chain, blockhash));
    return null;
  },
});
