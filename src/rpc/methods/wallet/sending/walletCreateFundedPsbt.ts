/** `walletcreatefundedpsbt`: creates a PSBT and adds inputs of the wallet. Source: lbrycrd wallet/rpcwallet.cpp. */
import { createPsbt } from '../../../../signing/psbtRoles.js';
import { SIGHASH } from '../../../../script/sighash.js';
import { coins } from '../../../../util/json/json.js';
import { inSlices } from '../../../../scheduler/slices.js';
import { fillPsbt } from '../../../../wallet/spending/fillPsbt.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { CONSTRUCT_PARAMS, constructTransaction } from '../../rawtransactions/constructTransaction.js';
import { psbtText } from '../../rawtransactions/psbtArgument.js';
import { FUND_OPTIONS_TEXT, fundByOptions } from './fundOptions.js';
import { BIP32_DERIVS_PARAM, filling } from './walletProcessPsbt.js';
import { walletOf } from '../wallets/walletOf.js';

const [INPUTS, OUTPUTS, LOCKTIME] = CONSTRUCT_PARAMS;

export const walletCreateFundedPsbt = defineMethod({
  name: 'walletcreatefundedpsbt',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Creates and funds a transaction in the Partially Signed Transaction format. Inputs will be added if supplied inputs ' +
    'are not enough.\nImplements the Creator and Updater roles.',
  params: [
    INPUTS,
    OUTPUTS,
    LOCKTIME,
    { name: 'options', type: 'object', strict: 'nullable', description: FUND_OPTIONS_TEXT },
    { ...BIP32_DERIVS_PARAM, strict: 'nullable' },
  ],
  result: t.object({
    psbt: t.str('the PSBT in base64'),
    fee: t.coins('the fee that the transaction pays'),
    changepos: t.int('the position of the added change output, or -1'),
  }),
  examples: [['[{"txid":"myid","vout":0}]', '[{"data":"00010203"}]']],
  async run(ctx, { inputs, outputs, locktime, options, bip32derivs }) {
    const wallet = walletOf(ctx);
    const said = options?.get('replaceable') ?? null;
    const replaceable = said === null ? undefined : said === true;
    const args = { inputs, outputs, locktime, replaceable };
    const tx = await inSlices(constructTransaction(args, wallet.prefixes));
    const funded = await fundByOptions(wallet, tx, options);
    const psbt = createPsbt(funded.tx);
    const request = { hashType: SIGHASH.ALL, signs: false, tellsPaths: bip32derivs };
    await filling(() => fillPsbt(wallet, psbt, request));
    return { psbt: await psbtText(psbt), fee: coins(funded.feeSat), changepos: funded.changePosition };
  },
});
