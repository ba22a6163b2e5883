/** `waitfornewblock`: waits until the tip changes. */
import { defineMethod } from '../../declare/method.js';
import { TIMEOUT_PARAM, TIP_SCHEMA, waitForTip } from './tipWait.js';

export const waitForNewBlock = defineMethod({
  name: 'waitfornewblock',
  category: 'hidden',
  summary:
    'Waits for a specific new block and returns useful info about it.\nReturns the current block on timeout or exit.',
  params: [TIMEOUT_PARAM],
  result: TIP_SCHEMA,
  examples: [['1000']],
  run(ctx, { timeout }) {
    const { chain } = ctx.services.chain;
    const before = chain.tip;
    return waitForTip(ctx, timeout, () => chain.tip !== before);
  },
});
