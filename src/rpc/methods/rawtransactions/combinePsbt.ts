/** `combinepsbt`: what several PSBTs of one transaction know, together (BIP174, combiner). */
import { isPsbtSane } from '../../../signing/psbt.js';
import { combinePsbt as combine, isSameTransaction } from '../../../signing/psbtRoles.js';
import { RPC_ERROR, rpcError } from '../../errors.js';
import { defineMethod } from '../../method.js';
import { getString } from '../../paramTypes.js';
import { t } from '../../schema.js';
import { psbtText, requirePsbt } from './psbtArgument.js';

export const combinePsbt = defineMethod({
  name: 'combinepsbt',
  category: 'rawtransactions',
  summary:
    'Combine multiple partially signed transactions into one transaction.\nImplements the Combiner role.',
  params: [
    {
      name: 'txs',
      type: 'array',
      required: true,
      strict: 'nullable',
      description: 'The base64 strings of partially signed transactions',
    },
  ],
  result: t.str('the combined PSBT in base64'),
  examples: [['["mybase64_1", "mybase64_2", "mybase64_3"]']],
  run(_ctx, { txs }) {
    const [merged, ...others] = txs.map((text) => requirePsbt(getString(text)));
    // The reference reads beyond its list here.
    if (merged === undefined) {
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, "Parameter 'txs' cannot be empty");
    }
    for (const other of others) {
      if (!isSameTransaction(merged, other)) {
        throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'PSBTs do not refer to the same transactions.');
      }
      combine(merged, other);
    }
    if (!isPsbtSane(merged)) {
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Merged PSBT is inconsistent');
    }
    return psbtText(merged);
  },
});
