/** `rescanblockchain`: scans blocks for transactions of the wallet. Source: lbrycrd wallet/rpcwallet.cpp. */
import { rescanBlocks } from '../../../../wallet/scan/rescan.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { withScanTurn } from './rescanning.js';
import { walletOf } from '../wallets/walletOf.js';

export const rescanBlockchain = defineMethod({
  name: 'rescanblockchain',
  category: 'wallet',
  needsWallet: 'one',
  summary: 'Rescan the local blockchain for wallet related transactions.',
  params: [
    {
      name: 'start_height',
      type: 'integer',
      default: 0,
      description: 'The height of the block where the rescan should start',
    },
    {
      name: 'stop_height',
      type: 'integer',
      defaultText: 'the tip',
      description: 'The last block that should be scanned',
    },
  ],
  result: t.object({
    start_height: t.int('the height where the rescan has started'),
    stop_height: t.int('the height of the last block that was rescanned'),
  }),
  examples: [['100000', '120000']],
  async run(ctx, { start_height, stop_height }) {
    const wallet = walletOf(ctx);
    return withScanTurn(wallet, true, async (turn) => {
      const { chain } = wallet.node;
      const fail = (code: number, message: string): never => {
        throw rpcError(code, message);
      };
      if (chain.hashAt(start_height) === null) fail(RPC_ERROR.INVALID_PARAMETER, 'Invalid start_height');
      if (stop_height !== undefined && chain.hashAt(stop_height) === null)
        fail(RPC_ERROR.INVALID_PARAMETER, 'Invalid stop_height');
      const last = stop_height ?? chain.height;
      if (last < start_height)
        fail(RPC_ERROR.INVALID_PARAMETER, 'stop_height must be greater than start_height');
      const behind = ctx.services.chain.chain.index.snapshotHeight;
      if (start_height <= behind)
        fail(
          RPC_ERROR.MISC_ERROR,
          `Can't rescan from height ${start_height}: the node was started from a snapshot of block ${behind}, ` +
            `and the blocks up to it are not validated yet. Rescan from height ${behind + 1}, or retry later.`,
        );
      // Pruning removes the lowest blocks first, so it is sufficient to check the first block.
      if (ctx.services.pruner !== null && !chain.hasBlock(start_height)) {
        fail(
          RPC_ERROR.MISC_ERROR,
          "Can't rescan beyond pruned data. Use RPC call getblockchaininfo to determine your pruned height.",
        );
      }
      const bounds = { first: start_height, last: stop_height ?? null };
      const { isComplete, unreadable } = await ctx.outOfTurn(() => rescanBlocks(wallet, turn!, bounds));
      if (!isComplete) fail(RPC_ERROR.MISC_ERROR, 'Rescan aborted.');
      if (unreadable >= 0) fail(RPC_ERROR.MISC_ERROR, 'Rescan failed. Potentially corrupted data files.');
      return { start_height, stop_height: last };
    });
  },
});
