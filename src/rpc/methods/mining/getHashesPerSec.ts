/**
 * `gethashespersec`: hash rate of the node's own mining. Always 0, because this node does not mine by itself. Source: lbcd
 * rpcserver.go.
 */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const getHashesPerSec = defineMethod({
  name: 'gethashespersec',
  category: 'mining',
  chainUse: 'none',
  summary: 'Returns the hashes a second of the node mining by itself, which are none.',
  params: [],
  result: t.int('hashes a second'),
  examples: [[]],
  profiles: ['lbcd'],
  run: () => 0,
});
