import { expect, it } from 'vitest';
import { getZmqNotifications } from '../../../../../src/rpc/methods/zmq/getZmqNotifications.js';
import { TestChain } from '../../../../support/testChain.js';

it('lists the published notifications and their addresses', async () => {
  const chain = await TestChain.open();
  try {
    expect(await chain.call(getZmqNotifications)).toEqual({
      result: [{ type: 'pubhashtx', address: 'tcp://127.0.0.1:28332' }],
    });
  } finally {
    await chain.close();
  }
});
