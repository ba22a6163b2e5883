/** `getconnectioncount`: the number of peers. */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { requirePeers } from './requirePeers.js';

export const getConnectionCount = defineMethod({
  name: 'getconnectioncount',
  category: 'network',
  chainUse: 'none',
  summary: 'Returns the number of connections to other nodes.',
  params: [],
  result: t.int('the connection count'),
  examples: [[]],
  run: ({ services }) => requirePeers(services).list().length,
});
