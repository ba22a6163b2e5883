/** `getzmqnotifications`: the ZeroMQ notifiers and their addresses. Source: lbrycrd zmq/zmqrpc.cpp. */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const getZmqNotifications = defineMethod({
  name: 'getzmqnotifications',
  category: 'zmq',
  chainUse: 'none',
  summary: 'Returns information about the active ZeroMQ notifications.',
  params: [],
  result: t.array(
    t.object({
      type: t.str('the type of notification, such as pubhashtx'),
      address: t.str('the address of the publisher'),
    }),
  ),
  examples: [[]],
  run: ({ services }) => services.zmqNotifiers().map(({ type, address }) => ({ type, address })),
});
