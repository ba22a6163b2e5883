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
  summary: "Returns the hash rate of the node's own mining, which is always 0.",
  params: [],
  result: t.int('hashes per second'),
  examples: [[]],
  profiles: ['lbcd'],
  run: () => 0,
});
