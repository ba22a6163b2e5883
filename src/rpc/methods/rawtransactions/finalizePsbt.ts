/** `finalizepsbt`: completes the inputs of a PSBT that have all signatures (BIP174, finalizer and extractor). */
import { formatTransactionInSlices } from '../../../primitives/transactionSlices.js';
import { extractTransactionInSlices, finalizePsbt as finalize } from '../../../signing/psbtRoles.js';
import { hexOf } from '../../../util/json/jsonWrite.js';
import { inSlices } from '../../../scheduler/slices.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { psbtText, requirePsbt } from './psbtArgument.js';

export const finalizePsbt = defineMethod({
  name: 'finalizepsbt',
  category: 'rawtransactions',
  chainUse: 'none',
  summary:
    'Finalize the inputs of a PSBT. If the transaction is fully signed, it will produce a network serialized transaction ' +
    'which can be broadcast with sendrawtransaction. Otherwise a PSBT will be created which has the final_scriptSig and ' +
    'final_scriptWitness fields filled for inputs that are complete.\nImplements the Finalizer and Extractor roles.',
  params: [
    {
      name: 'psbt',
      type: 'string',
      required: true,
      strict: 'nullable',
      description: 'A base64 string of a PSBT',
    },
    {
      name: 'extract',
      type: 'boolean',
      default: true,
      strict: 'nullable',
      description:
        'If true and the transaction is complete, extract and return the complete transaction instead of the PSBT',
    },
  ],
  result: t.object({
    hex: t.optional(t.hex('the network transaction'), 'if extracted'),
    psbt: t.optional(t.str('the PSBT in base64'), 'if not extracted'),
    complete: t.bool('whether the transaction has a complete set of signatures'),
  }),
  examples: [['"psbt"']],
  async run(_ctx, { psbt: text, extract }) {
    const psbt = await requirePsbt(text);
    const complete = await finalize(psbt);
    if (!complete || !extract) return { psbt: await psbtText(psbt), complete };
    const tx = await inSlices(extractTransactionInSlices(psbt));
    return { hex: hexOf(await inSlices(formatTransactionInSlices(tx))), complete };
  },
});
