/** `pruneblockchain`: deletes old block files manually. */
import { MIN_BLOCKS_TO_KEEP } from '../../../chain/blocks/acceptance.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import type { RpcServices } from '../../../interfaces/services.js';

/** Maximum argument that is a height. Larger numbers are Unix times. */
const LARGEST_HEIGHT = 1_000_000_000;
/** Maximum time in seconds by which a block's time may be too early. Source: `TIMESTAMP_WINDOW`. */
const TIMESTAMP_WINDOW_SEC = 2 * 60 * 60;

/**
 * Returns the height of the first block for which the block's own time, or that of an earlier block, is at least `timeSec`.
 * Source: `CChain::FindEarliestAtLeast`.
 */
function heightAtTime({ chain }: RpcServices, timeSec: number): number {
  const { active } = chain.chain.index;
  for (let height = 0; height <= active.height; height++) {
    if (chain.headers.timeSec(active.at(height)) >= timeSec) return height;
  }
  const message = 'Could not find block with at least the specified timestamp.';
  throw rpcError(RPC_ERROR.INVALID_PARAMETER, message);
}

export const pruneBlockchain = defineMethod({
  name: 'pruneblockchain',
  category: 'blockchain',
  summary: 'Deletes block and undo files up to a height.',
  params: [
    {
      name: 'height',
      type: 'integer',
      required: true,
      description:
        'The block height to prune up to. May be set to a discrete height, or a unix timestamp to prune blocks whose ' +
        'block time is at least 2 hours older than the provided timestamp',
    },
  ],
  result: t.int('height of the last pruned block, -1 for none; in the lbrycrd profile the requested height'),
  examples: [['1000']],
  async run({ services, profile }, args) {
    const { pruner, chain, params } = services;
    if (pruner === null) {
      const message = 'Cannot prune blocks because node is not in prune mode.';
      throw rpcError(RPC_ERROR.MISC_ERROR, message);
    }
    if (args.height < 0) throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Negative block height.');
    const height =
      args.height > LARGEST_HEIGHT ? heightAtTime(services, args.height - TIMESTAMP_WINDOW_SEC) : args.height;
    const tipHeight = chain.chain.height;
    if (tipHeight < params.pruneAfterHeight) {
      throw rpcError(RPC_ERROR.MISC_ERROR, 'Blockchain is too short for pruning.');
    }
    if (height > tipHeight) {
      const message = 'Blockchain is shorter than the attempted prune height.';
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, message);
    }
    const allowed = Math.min(height, tipHeight - MIN_BLOCKS_TO_KEEP);
    const pruned = await pruner.pruneToHeight(allowed);
    return profile === 'lbrycrd' ? allowed : pruned;
  },
});
