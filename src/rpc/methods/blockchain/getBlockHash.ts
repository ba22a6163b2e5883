/** `getblockhash`: a block of the active chain by its height. */
import { NO_HEADER } from '../../../store/files/headerTable.js';
import { hashToHex } from '../../../util/bytes.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const getBlockHash = defineMethod({
  name: 'getblockhash',
  category: 'blockchain',
  explorer: 'console',
  chainUse: 'reads',
  summary: 'Returns hash of block in best-block-chain at height provided.',
  params: [{ name: 'height', type: 'integer', required: true, description: 'The height index' }],
  result: t.hash('the block hash'),
  examples: [['1000']],
  run({ services: { chain }, profile }, { height }) {
    const id = chain.chain.index.active.at(height);
    if (id === NO_HEADER) {
      if (profile === 'lbcd') throw rpcError(RPC_ERROR.MISC_ERROR, 'Block number out of range');
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Block height out of range');
    }
    return hashToHex(chain.headers.hash(id));
  },
});
