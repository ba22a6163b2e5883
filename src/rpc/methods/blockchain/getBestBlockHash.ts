/** `getbestblockhash`: the tip of the active chain. */
import { hashToHex } from '../../../util/bytes.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const getBestBlockHash = defineMethod({
  name: 'getbestblockhash',
  category: 'blockchain',
  explorer: 'console',
  chainUse: 'reads',
  summary: 'Returns the hash of the best (tip) block in the longest blockchain.',
  params: [],
  result: t.hash('the block hash'),
  examples: [[]],
  run({ services: { chain } }) {
    return hashToHex(chain.headers.hash(chain.chain.tip));
  },
});
