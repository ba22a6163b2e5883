/** `waitforblockheight`: waits until the chain has at least this height. */
import { defineMethod } from '../../declare/method.js';
import { TIMEOUT_PARAM, TIP_SCHEMA, waitForTip } from './tipWait.js';

export const waitForBlockHeight = defineMethod({
  name: 'waitforblockheight',
  category: 'hidden',
  summary:
    'Waits for (at least) block height and returns the height and hash of the current tip.\nReturns the current block ' +
    'on timeout or exit.',
  params: [
    { name: 'height', type: 'integer', required: true, description: 'Block height to wait for' },
    TIMEOUT_PARAM,
  ],
  result: TIP_SCHEMA,
  examples: [['100', '1000']],
  run(ctx, { height, timeout }) {
    const { chain } = ctx.services.chain;
    return waitForTip(ctx, timeout, () => chain.height >= height);
  },
});
