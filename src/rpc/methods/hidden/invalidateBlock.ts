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
      const height = chain.headers.height(pruned);
      const reason =
        height <= chain.chain.index.snapshotHeight
          ? `the node was started from a snapshot of block ${chain.chain.index.snapshotHeight} whose blocks are not validated yet`
          : 'the data of that block was pruned or has not been downloaded';
      throw new RpcError(
        RPC_ERROR.DATABASE_ERROR,
        `Blocks below height ${height} cannot be disconnected: ${reason}`,
      );
    }
    return null;
  },
});
