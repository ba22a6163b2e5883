/** `gettotalvalueofclaims`: the sum of the active claims' own amounts, or only of the controlling claims'. */
import { coins } from '../../../util/json/json.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const getTotalValueOfClaims = defineMethod({
  name: 'gettotalvalueofclaims',
  category: 'claimtrie',
  explorer: 'console',
  follows: 'chain',
  summary: 'Returns the total value of the claims in the trie.',
  params: [
    {
      name: 'controllingOnly|controlling_only',
      type: 'boolean',
      default: false,
      description: 'Only include the value of controlling claims',
    },
  ],
  result: t.coins('the total value of the claims in the trie'),
  examples: [[], ['true']],
  async run({ services }, { controllingOnly }) {
    const { amount, controllingAmount } = await services.claims.totals();
    return coins(controllingOnly ? controllingAmount : amount);
  },
});
