/** `verifychain`: verifies the last blocks against stored data. */
import { verifyChain as verifyLastBlocks } from '../../../chain/open/verifyChain.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const verifyChain = defineMethod({
  name: 'verifychain',
  category: 'blockchain',
  summary: 'Verifies blockchain database.',
  params: [
    {
      name: 'checklevel',
      type: 'integer',
      defaultText: '-checklevel, 3',
      description:
        'How thorough the block verification is, 0 to 4: 0 reads blocks, 1 checks their rules, 2 reads their ' +
        'undo data, 3 disconnects them in memory, 4 connects them again',
    },
    {
      name: 'nblocks',
      type: 'integer',
      defaultText: '-checkblocks, 6',
      description: 'The number of blocks to check, 0 for all',
    },
  ],
  result: t.bool('whether the check succeeded'),
  examples: [[], ['4', '10']],
  async run({ services, signal }, { checklevel, nblocks }) {
    const { chain, options } = services;
    const problem = await verifyLastBlocks(chain.chain, {
      level: checklevel ?? options.checkLevel,
      blocks: nblocks ?? options.checkBlocks,
      signal,
    });
    return problem === null;
  },
});
