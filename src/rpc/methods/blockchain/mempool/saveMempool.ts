/** `savemempool`: writes the mempool to disk. */
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';

export const saveMempool = defineMethod({
  name: 'savemempool',
  category: 'blockchain',
  summary: 'Dumps the mempool to disk. It will fail until the previous dump is fully loaded.',
  params: [],
  result: t.none(),
  examples: [[]],
  async run({ services: { mempool } }) {
    if (!mempool.isLoaded) throw rpcError(RPC_ERROR.MISC_ERROR, 'The mempool was not loaded yet');
    try {
      await mempool.save();
    } catch {
      throw rpcError(RPC_ERROR.MISC_ERROR, 'Unable to dump mempool to disk');
    }
    return null;
  },
});
