/** `getdifficulty`: how hard the tip was to find. */
import { difficultyOf } from '../../../consensus/compactTarget.js';
import { defineMethod } from '../../method.js';
import { t } from '../../schema.js';

export const getDifficulty = defineMethod({
  name: 'getdifficulty',
  category: 'blockchain',
  summary: 'Returns the proof-of-work difficulty as a multiple of the minimum difficulty.',
  params: [],
  result: t.num('the difficulty'),
  examples: [[]],
  run: ({ services: { chain } }) => difficultyOf(chain.headers.bits(chain.chain.tip)),
});
