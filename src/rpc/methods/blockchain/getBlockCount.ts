/** `getblockcount`: the height of the tip. */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const getBlockCount = defineMethod({
  name: 'getblockcount',
  category: 'blockchain',
  explorer: 'console',
  chainUse: 'reads',
  summary: 'Returns the number of blocks in the longest blockchain.',
  params: [],
  result: t.int('the current block count'),
  examples: [[]],
  run: ({ services: { chain } }) => chain.chain.height,
});
