/** `setmocktime`: sets the node's clock to a fixed time. Only on a test network. */
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const setMockTime = defineMethod({
  name: 'setmocktime',
  category: 'hidden',
  summary: 'Set the local time to given timestamp (-regtest only).',
  params: [
    {
      name: 'timestamp',
      type: 'int64',
      required: true,
      strict: true,
      description: 'Unix seconds-since-epoch timestamp. Pass 0 to go back to using the system time',
    },
  ],
  result: t.none(),
  examples: [['1700000000']],
  run({ services: { params, clock } }, { timestamp }) {
    if (!params.mineBlocksOnDemand) {
      const message = 'setmocktime for regression testing (-regtest mode) only';
      throw rpcError(RPC_ERROR.MISC_ERROR, message);
    }
    clock.setMockTime(Number(timestamp));
    return null;
  },
});
