/** `decodepsbt`: decodes a PSBT. */
import { inSlices } from '../../../scheduler/slices.js';
import { addressPrefixes } from '../../format/addresses.js';
import { defineMethod } from '../../declare/method.js';
import { psbtAnswer, PSBT_SCHEMA } from './psbtAnswer.js';
import { requirePsbt } from './psbtArgument.js';

export const decodePsbt = defineMethod({
  name: 'decodepsbt',
  category: 'rawtransactions',
  chainUse: 'none',
  summary: 'Return a JSON object representing the serialized, base64-encoded partially signed transaction.',
  params: [
    {
      name: 'psbt',
      type: 'string',
      required: true,
      strict: true,
      description: 'The PSBT base64 string',
    },
  ],
  result: PSBT_SCHEMA,
  examples: [['"psbt"']],
  async run({ services: { params }, profile }, { psbt }) {
    return inSlices(psbtAnswer(await requirePsbt(psbt), { prefixes: addressPrefixes(params), profile }));
  },
});
