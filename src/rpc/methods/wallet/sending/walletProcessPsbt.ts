/** `walletprocesspsbt`: adds the wallet's data and signatures to a PSBT. Source: lbrycrd wallet/rpcwallet.cpp. */
import { SIGHASH } from '../../../../script/sighash.js';
import { parseSighashType } from '../../../../signing/sighashType.js';
import { fillPsbt } from '../../../../wallet/spending/fillPsbt.js';
import { SpendError } from '../../../../wallet/spending/spendError.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod, type ParamDecl } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { psbtText, requirePsbt } from '../../rawtransactions/psbtArgument.js';
import { walletOf } from '../wallets/walletOf.js';

export const BIP32_DERIVS_PARAM = {
  name: 'bip32derivs',
  type: 'boolean',
  default: false,
  description: 'Includes the BIP32 derivation paths for public keys that are known',
} as const satisfies ParamDecl;

/** Runs a task on a PSBT and converts PSBT errors to RPC errors. */
export async function filling<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (error instanceof SpendError) throw rpcError(RPC_ERROR.DESERIALIZATION_ERROR, error.message);
    throw error;
  }
}

export const walletProcessPsbt = defineMethod({
  name: 'walletprocesspsbt',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Update a PSBT with input information from our wallet and then sign inputs that we can sign for.\nRequires wallet ' +
    'passphrase to be set with walletpassphrase call.',
  params: [
    { name: 'psbt', type: 'string', required: true, strict: true, description: 'The PSBT in base64' },
    {
      name: 'sign',
      type: 'boolean',
      default: true,
      strict: true,
      description: 'Also sign the transaction when updating',
    },
    {
      name: 'sighashtype',
      type: 'string',
      strict: true,
      defaultText: 'ALL',
      description:
        'The signature hash type to sign with: ALL, NONE, SINGLE, ALL|ANYONECANPAY, NONE|ANYONECANPAY or ' +
        'SINGLE|ANYONECANPAY',
    },
    BIP32_DERIVS_PARAM,
  ],
  result: t.object({
    psbt: t.str('the PSBT in base64'),
    complete: t.bool('whether the transaction has a complete set of signatures'),
  }),
  examples: [['"psbt"']],
  async run(ctx, { psbt: text, sign, sighashtype, bip32derivs }) {
    const wallet = walletOf(ctx);
    const psbt = await requirePsbt(text);
    const hashType = sighashtype === undefined ? SIGHASH.ALL : parseSighashType(sighashtype);
    if (hashType === null)
      throw rpcError(RPC_ERROR.MISC_ERROR, `${sighashtype} is not a valid sighash parameter.`);
    const request = { hashType, signs: sign, tellsPaths: bip32derivs };
    const complete = await filling(() => fillPsbt(wallet, psbt, request));
    return { psbt: await psbtText(psbt), complete };
  },
});
