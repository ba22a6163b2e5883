/** `getcfilter`: the compact filter of a block. Source: lbcd rpcserver.go. */
import { toHex } from '../../../../util/bytes.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { CFILTER_PARAMS, lbcdFilter } from './filterAnswers.js';

export const getCFilter = defineMethod({
  name: 'getcfilter',
  category: 'blockchain',
  chainUse: 'reads',
  summary: 'Returns the compact filter of a block of the active chain (BIP158; needs -blockfilterindex).',
  params: CFILTER_PARAMS,
  result: t.hex('the filter; empty for an unknown block'),
  examples: [['"9c89283ba0f3227f6c03b70216b9f665f0118d5e0fa729cedf4fb34d6a34f463"', '0']],
  profiles: ['lbcd'],
  async run({ services }, args) {
    const found = await lbcdFilter(services, args);
    return found === null ? '' : toHex(found.filter);
  },
});
