/** `getcfilterheader`: the filter header of a block. Source: lbcd rpcserver.go. */
import { hashToHex } from '../../../../util/bytes.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { CFILTER_PARAMS, LBCD_NOT_FOUND, lbcdFilter } from './filterAnswers.js';

export const getCFilterHeader = defineMethod({
  name: 'getcfilterheader',
  category: 'blockchain',
  chainUse: 'reads',
  summary:
    'Returns the header that commits to the compact filters up to a block of the active chain (BIP157; needs -blockfilterindex).',
  params: CFILTER_PARAMS,
  result: t.hash('the filter header'),
  examples: [['"9c89283ba0f3227f6c03b70216b9f665f0118d5e0fa729cedf4fb34d6a34f463"', '0']],
  profiles: ['lbcd'],
  async run({ services }, args) {
    const found = await lbcdFilter(services, args);
    if (found === null) throw LBCD_NOT_FOUND();
    return hashToHex(found.header);
  },
});
