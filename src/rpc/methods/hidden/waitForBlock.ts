/** `waitforblock`: waits until a certain block is the tip. */
import { equalBytes } from '../../../util/bytes.js';
import { defineMethod } from '../../declare/method.js';
import { TIMEOUT_PARAM, TIP_SCHEMA, waitForTip } from './tipWait.js';

export const waitForBlock = defineMethod({
  name: 'waitforblock',
  category: 'hidden',
  summary:
    'Waits for a specific new block and returns useful info about it.\nReturns the current block on timeout or exit.',
  params: [
    { name: 'blockhash', type: 'looseHash', required: true, description: 'Block hash to wait for' },
    TIMEOUT_PARAM,
  ],
  result: TIP_SCHEMA,
  examples: [['"0000000000079f8ef3d2c688c244eb7a4570b24c9ed7b4a8c619eb02596f8862"', '1000']],
  run(ctx, { blockhash, timeout }) {
    const { chain, headers } = ctx.services.chain;
    return waitForTip(ctx, timeout, () => equalBytes(headers.hash(chain.tip), blockhash));
  },
});
