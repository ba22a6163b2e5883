/** `sendfrom`: sends one payment from a deprecated account. Source: lbrycrd wallet/rpcwallet.cpp. */
import { hashToHex } from '../../../../util/bytes.js';
import { coinControl } from '../../../../wallet/spending/coinControl.js';
import { MINE } from '../../../../wallet/keys/isMine.js';
import { legacyBalanceSat } from '../../../../wallet/listing/accountBalances.js';
import { ofOneState } from '../../../../wallet/listing/oneState.js';
import { sendMoney } from '../../../../wallet/spending/sendMoney.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { accountMethod } from '../addresses/accountsOption.js';
import { checkLabel } from '../addresses/addressArguments.js';
import { commentNotes, requirePayment } from './sendToAddress.js';
import { COMMENT_PARAMS, scriptOfAddress, spending } from './spendArguments.js';
import { requireUnlocked, walletOf } from '../wallets/walletOf.js';

export const sendFrom = defineMethod({
  name: 'sendfrom',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'DEPRECATED (use sendtoaddress). Send an amount from an account to an address.\n' +
    'The account does not determine which coins are spent; the transaction only changes the balance of ' +
    'the account.',
  params: [
    {
      name: 'fromaccount',
      type: 'string',
      required: true,
      description: 'The account; "" for the default one',
    },
    { name: 'toaddress', type: 'string', required: true, description: 'The address to send to' },
    {
      name: 'amount',
      type: 'amount',
      required: true,
      description: 'The amount in coins; the fee is added on top',
    },
    {
      name: 'minconf',
      type: 'integer',
      default: 1,
      description: 'Minimum number of confirmations of the funds',
    },
    ...COMMENT_PARAMS,
  ],
  result: t.hash('the transaction id'),
  examples: [['""', '"1M72Sfpbz1BPpXFHz9m3CdqATR44Jvaydd"', '0.01']],
  deprecated: accountMethod('sendfrom'),
  async run(ctx, { fromaccount, toaddress, amount, minconf, comment, comment_to }) {
    const wallet = walletOf(ctx);
    const account = checkLabel(fromaccount);
    const script = scriptOfAddress(wallet, toaddress, 'Invalid Bitcoin address');
    const valueSat = requirePayment(amount);
    requireUnlocked(wallet);
    const balanceSat = (): ReturnType<typeof legacyBalanceSat> =>
      legacyBalanceSat(wallet, account, MINE.spendable, minconf);
    if (valueSat > (await ofOneState(wallet, balanceSat)))
      throw rpcError(RPC_ERROR.WALLET_INSUFFICIENT_FUNDS, 'Account has insufficient funds');
    const own = { notes: commentNotes(comment, comment_to), fromAccount: account };
    const control = coinControl(wallet);
    return hashToHex(await spending(() => sendMoney(wallet, { script, valueSat }, control, own)));
  },
});
