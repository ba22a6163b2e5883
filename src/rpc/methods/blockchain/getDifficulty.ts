/** `getdifficulty`: the difficulty of the tip. */
import { difficultyAnswer } from '../../format/difficulty.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const getDifficulty = defineMethod({
  name: 'getdifficulty',
  category: 'blockchain',
  explorer: 'console',
  chainUse: 'reads',
  summary: 'Returns the proof-of-work difficulty as a multiple of the minimum difficulty.',
  params: [],
  result: t.num('the difficulty'),
  examples: [[]],
  run: ({ services: { chain, params }, profile }) =>
    difficultyAnswer(chain.headers.bits(chain.chain.tip), { profile, params }),
});
