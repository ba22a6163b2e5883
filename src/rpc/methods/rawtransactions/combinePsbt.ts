/** `combinepsbt`: combines the data of several PSBTs of one transaction (BIP174, combiner). */
import { txidInSlices } from '../../../primitives/transactionSlices.js';
import { isPsbtSane, type Psbt } from '../../../signing/psbt.js';
import { PsbtError } from '../../../signing/psbtCodec.js';
import { combinePsbtInSlices } from '../../../signing/psbtRoles.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { equalBytes } from '../../../util/bytes.js';
import { inSlices } from '../../../scheduler/slices.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { defineMethod } from '../../declare/method.js';
import { getString } from '../../declare/paramTypes.js';
import { t } from '../../../schema/schema.js';
import { psbtText, requirePsbt } from './psbtArgument.js';

function refuse(error: unknown): never {
  if (!(error instanceof PsbtError)) throw error;
  throw rpcError(RPC_ERROR.INVALID_PARAMETER, `Merged PSBT has ${error.message}`);
}

export const combinePsbt = defineMethod({
  name: 'combinepsbt',
  category: 'rawtransactions',
  chainUse: 'none',
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
  async run(_ctx, { txs }) {
    const psbts: Psbt[] = [];
    let since = performance.now();
    for (const text of txs) {
      psbts.push(await requirePsbt(getString(text)));
      since = await yieldIfDue(since);
    }
    const [merged, ...others] = psbts;
    if (merged === undefined) {
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, "Parameter 'txs' cannot be empty");
    }
    const txid = await inSlices(txidInSlices(merged.tx));
    for (const other of others) {
      if (!equalBytes(txid, await inSlices(txidInSlices(other.tx)))) {
        throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'PSBTs do not refer to the same transactions.');
      }
      await inSlices(combinePsbtInSlices(merged, other)).catch(refuse);
      since = await yieldIfDue(since);
    }
    if (!isPsbtSane(merged)) {
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Merged PSBT is inconsistent');
    }
    return psbtText(merged);
  },
});
