/** `invalidateblock`: marks a block as invalid, regardless of the rules. */
import { NO_HEADER } from '../../../store/files/headerTable.js';
import { requireBlock } from '../../lookup/blockLookup.js';
import { RPC_ERROR, RpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const invalidateBlock = defineMethod({
  name: 'invalidateblock',
  category: 'hidden',
  summary: 'Permanently marks a block as invalid, as if it violated a consensus rule.',
  params: [
    {
      name: 'blockhash',
      type: 'looseHash',
      required: true,
      description: 'The hash of the block to mark as invalid',
    },
  ],
  result: t.none(),
  examples: [['"blockhash"']],
  async run({ services: { chain } }, { blockhash }) {
    const pruned = await chain.chain.invalidateBlock(requireBlock(chain, blockhash));
    if (pruned !== NO_HEADER) {
      throw new RpcError(
        RPC_ERROR.DATABASE_ERROR,
        `The chain cannot be taken back below height ${chain.headers.height(pruned)}: data of that block was pruned or is not there yet`,
      );
    }
    return null;
  },
});
