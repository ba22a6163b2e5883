/** `createpsbt`: creates a PSBT of an unsigned transaction (BIP174, creator). */
import { inSlices } from '../../../scheduler/slices.js';
import { addressPrefixes } from '../../format/addresses.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { CONSTRUCT_PARAMS, constructTransaction } from './constructTransaction.js';
import { barePsbtText } from './psbtArgument.js';

export const createPsbt = defineMethod({
  name: 'createpsbt',
  category: 'rawtransactions',
  chainUse: 'none',
  summary: 'Creates a transaction in the Partially Signed Transaction format.\nImplements the Creator role.',
  params: CONSTRUCT_PARAMS,
  result: t.str('the PSBT in base64'),
  examples: [['[{"txid":"myid","vout":0}]', '[{"data":"00010203"}]']],
  async run({ services: { params } }, args) {
    const tx = await inSlices(constructTransaction(args, addressPrefixes(params)));
    return barePsbtText(tx);
  },
});
