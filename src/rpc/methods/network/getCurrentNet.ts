/** `getcurrentnet`: the magic of the network as a number. Source: lbcd rpcserver.go. */
import { asBuffer } from '../../../util/bytes.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';

export const getCurrentNet = defineMethod({
  name: 'getcurrentnet',
  category: 'network',
  chainUse: 'none',
  summary: 'Returns the four bytes that messages of the network begin with, as a little-endian number.',
  params: [],
  result: t.int('the number'),
  examples: [[]],
  profiles: ['lbcd'],
  run: ({ services: { params } }) => asBuffer(params.magic).readUInt32LE(),
});
