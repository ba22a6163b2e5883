/** `converttopsbt`: converts a serialized transaction to a PSBT. Source: Core 0.17 rpc/rawtransaction.cpp. */
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { decodeTransaction } from '../../format/decodeTransaction.js';
import { defineMethod } from '../../declare/method.js';
import { t } from '../../../schema/schema.js';
import { barePsbtText } from './psbtArgument.js';

export const convertToPsbt = defineMethod({
  name: 'converttopsbt',
  category: 'rawtransactions',
  chainUse: 'none',
  summary:
    'Converts a network serialized transaction to a PSBT. This should be used only with createrawtransaction and ' +
    'fundrawtransaction.\ncreatepsbt and walletcreatefundedpsbt should be used for new applications.',
  params: [
    {
      name: 'hexstring',
      type: 'string',
      required: true,
      strict: 'nullable',
      description: 'The hex string of a raw transaction',
    },
    {
      name: 'permitsigdata',
      type: 'boolean',
      default: false,
      strict: 'nullable',
      description:
        'If true, any signatures in the input will be discarded and conversion will continue. If false, the call fails ' +
        'if any signatures are present',
    },
    {
      name: 'iswitness',
      type: 'boolean',
      strict: 'nullable',
      defaultText: 'whichever form can be decoded',
      description:
        'Whether the transaction hex is a serialized witness transaction. Only has an effect if permitsigdata is true',
    },
  ],
  result: t.str('the PSBT in base64'),
  examples: [['"rawtransaction"']],
  async run(_ctx, { hexstring, permitsigdata, iswitness }) {
    const tryWithout = !permitsigdata || iswitness !== true;
    const tryWith = permitsigdata && iswitness !== false;
    const tx = await decodeTransaction(hexstring, tryWithout, tryWith);
    if (tx === null) throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, 'TX decode failed');
    const isSigned = tx.inputs.some((input) => input.scriptSig.length > 0 || input.witness.length > 0);
    if (isSigned && !permitsigdata) {
      throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, 'Inputs must not have scriptSigs and scriptWitnesses');
    }
    return barePsbtText(tx);
  },
});
