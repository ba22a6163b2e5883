/** `getchaintxstats`: number and rate of transactions over a window of blocks. */
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { hashToHex } from '../../../util/bytes.js';
import { requireBlock } from '../../lookup/blockLookup.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

const MONTH_SEC = 30 * 24 * 60 * 60;

export const getChainTxStats = defineMethod({
  name: 'getchaintxstats',
  category: 'blockchain',
  explorer: 'console',
  chainUse: 'reads',
  summary: 'Compute statistics about the total number and rate of transactions in the chain.',
  params: [
    {
      name: 'nblocks',
      type: 'integer',
      defaultText: 'one month of blocks',
      description: 'Size of the window in number of blocks',
    },
    {
      name: 'blockhash',
      type: 'looseHash',
      defaultText: 'the tip',
      description: 'The hash of the block that ends the window',
    },
  ],
  result: t.object({
    time: t.time('the time of the final block of the window'),
    txcount: t.int('the number of transactions in the chain up to the final block'),
    window_final_block_hash: t.hash('the hash of the final block'),
    window_block_count: t.int('the size of the window in blocks'),
    window_tx_count: t.optional(t.int('transactions in the window'), 'if the window has blocks'),
    window_interval: t.optional(
      t.int('seconds between the median times of the first and last block of the window'),
      'if the window has blocks',
    ),
    txrate: t.optional(t.num('transactions per second in the window'), 'if the interval is positive'),
  }),
  examples: [[], ['2016']],
  run({ services: { chain, params } }, { nblocks, blockhash }) {
    const { headers } = chain;
    const { active } = chain.chain.index;
    const last = blockhash === undefined ? chain.chain.tip : requireBlock(chain, blockhash);
    if (!active.contains(last)) throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Block is not in main chain');
    const height = headers.height(last);
    const month = Math.trunc(MONTH_SEC / params.targetSpacingSec);
    const count = nblocks ?? Math.max(0, Math.min(month, height - 1));
    if (count < 0 || (count > 0 && count >= height)) {
      throw rpcError(
        RPC_ERROR.INVALID_PARAMETER,
        "Invalid block count: should be between 0 and the block's height - 1",
      );
    }
    const first = active.at(height - count);
    const intervalSec = active.medianTimeOf(last) - active.medianTimeOf(first);
    const txCount = headers.chainTxCount(last) - headers.chainTxCount(first);
    return {
      time: headers.timeSec(last),
      txcount: headers.chainTxCount(last),
      window_final_block_hash: hashToHex(headers.hash(last)),
      window_block_count: count,
      window_tx_count: count > 0 ? txCount : undefined,
      window_interval: count > 0 ? intervalSec : undefined,
      txrate: count > 0 && intervalSec > 0 ? txCount / intervalSec : undefined,
    };
  },
});
