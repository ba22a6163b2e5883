/** `getcurrentnet`: the magic of the network as a number. Source: lbcd rpcserver.go. */
import { asBuffer } from '../../../util/bytes.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const getCurrentNet = defineMethod({
  name: 'getcurrentnet',
  category: 'network',
  chainUse: 'none',
  summary:
    'Returns the four magic bytes at the beginning of P2P messages of the network, as a little-endian number.',
  params: [],
  result: t.int('the number'),
  examples: [[]],
  profiles: ['lbcd'],
  run: ({ services: { params } }) => asBuffer(params.magic).readUInt32LE(),
});
