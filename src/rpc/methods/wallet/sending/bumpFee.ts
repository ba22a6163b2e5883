/** `bumpfee`: replaces an unconfirmed transaction with one that pays a higher fee. Source: lbrycrd wallet/rpcwallet.cpp. */
import { formatMoney } from '../../../../consensus/limits.js';
import { hashToHex } from '../../../../util/bytes.js';
import { coins, type JsonObject, type JsonValue } from '../../../../util/json/json.js';
import { bumpFee as bump } from '../../../../wallet/spending/bumpFee.js';
import { coinControl, type CoinControl } from '../../../../wallet/spending/coinControl.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { RPC_ERROR, rpcError, type RpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { getBool, getInt, getInt64, getString } from '../../../declare/paramTypes.js';
import { t } from '../../../../schema/schema.js';
import { checkOptions, confirmTargetOf, feeModeOf, spending } from './spendArguments.js';
import { requireUnlocked, walletOf } from '../wallets/walletOf.js';

export const bumpFee = defineMethod({
  name: 'bumpfee',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Bumps the fee of an opt-in-RBF transaction T, replacing it with a new transaction B.\nAn opt-in RBF transaction with ' +
    'the given txid must be in the wallet.\nThe command will pay the additional fee by decreasing (or perhaps removing) ' +
    'its change output. If the change output is not big enough to cover the increased fee, the command will fail.\nThe ' +
    "command will fail if the wallet or mempool contains a transaction that spends one of T's outputs.\nBy default, the " +
    'new fee will be calculated automatically using estimatesmartfee. The user can specify a confirmation target, or ' +
    'totalFee, or use settxfee to set a higher fee rate.\nAt a minimum, the new fee rate must be high enough to pay an ' +
    "additional new relay fee (incrementalfee returned by getnetworkinfo) to enter the node's mempool.",
  params: [
    {
      name: 'txid',
      type: 'looseHash',
      required: true,
      strict: true,
      description: 'The transaction to be bumped',
    },
    {
      name: 'options',
      type: 'object',
      strict: true,
      description:
        '"confTarget" (numeric: confirmation target in blocks), "totalFee" (numeric: the whole fee, in satoshis), ' +
        '"replaceable" (boolean, default true: whether the new transaction may be replaced too), "estimate_mode" (UNSET, ' +
        'ECONOMICAL or CONSERVATIVE)',
    },
  ],
  result: t.object({
    txid: t.hash('the new transaction'),
    origfee: t.coins('the fee of the replaced transaction'),
    fee: t.coins('the fee of the new transaction'),
    errors: t.array(t.str('description of the error')),
  }),
  examples: [['"txid"']],
  async run(ctx, { txid, options }) {
    const wallet = walletOf(ctx);
    const { control, totalFeeSat } = readOptions(wallet, options);
    requireUnlocked(wallet);
    const bumped = await spending(() => bump(wallet, txid, control, totalFeeSat));
    return {
      txid: hashToHex(bumped.txid),
      origfee: coins(bumped.oldFeeSat),
      fee: coins(bumped.feeSat),
      errors: bumped.errors,
    };
  },
});

const invalid = (message: string): RpcError => rpcError(RPC_ERROR.INVALID_PARAMETER, message);

function readOptions(
  wallet: Wallet,
  options: JsonObject | undefined,
): { readonly control: CoinControl; readonly totalFeeSat: bigint } {
  if (options === undefined)
    return { control: coinControl(wallet, { signalsReplacement: true }), totalFeeSat: 0n };
  const option = checkOptions(options, {
    confTarget: 'number',
    totalFee: 'number',
    replaceable: 'bool',
    estimate_mode: 'string',
  });
  const given = <T>(name: string, read: (value: JsonValue) => T): T | undefined => {
    const value = option(name);
    return value === undefined ? undefined : read(value);
  };
  if (option('confTarget') !== undefined && option('totalFee') !== undefined) {
    throw invalid(
      'confTarget and totalFee options should not both be set. Please provide either a confirmation target for fee estimation or an explicit total fee for the transaction.',
    );
  }
  const target = given('confTarget', (value) => confirmTargetOf(wallet, getInt(value)));
  const totalFeeSat = given('totalFee', getInt64);
  if (totalFeeSat !== undefined && totalFeeSat <= 0n)
    throw invalid(`Invalid totalFee ${formatMoney(totalFeeSat)} (must be greater than 0)`);
  const signalsReplacement = given('replaceable', getBool) ?? true;
  const feeMode = given('estimate_mode', (value) => feeModeOf(getString(value))) ?? 'UNSET';
  const control = coinControl(wallet, { signalsReplacement, feeMode, confirmTarget: target ?? null });
  return { control, totalFeeSat: totalFeeSat ?? 0n };
}
