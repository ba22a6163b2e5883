/**
 * `getgenerate`: whether the node itself is mining. Always false, because this node does not mine by itself. Source: lbcd
 * rpcserver.go.
 */
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const getGenerate = defineMethod({
  name: 'getgenerate',
  category: 'mining',
  chainUse: 'none',
  summary:
    'Returns whether the node mines by itself. This is always false: blocks come from miners or from ' +
    'generatetoaddress.',
  params: [],
  result: t.bool('whether it mines'),
  examples: [[]],
  profiles: ['lbcd'],
  run: () => false,
});
