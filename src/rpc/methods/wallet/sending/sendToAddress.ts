/** `sendtoaddress`: sends one payment. Source: lbrycrd wallet/rpcwallet.cpp. */
import { hashToHex } from '../../../../util/bytes.js';
import { coinControl } from '../../../../wallet/spending/coinControl.js';
import { sendMoney } from '../../../../wallet/spending/sendMoney.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { t } from '../../../../schema/schema.js';
import { COMMENT_PARAMS, FEE_PARAMS, feeControl, scriptOfAddress, spending } from './spendArguments.js';
import { requireUnlocked, walletOf } from '../wallets/walletOf.js';

/** Returns the notes that the caller wants to store with a transaction. Empty notes are omitted. */
export function commentNotes(comment: string, to: string): ReadonlyMap<string, string> {
  return new Map(Object.entries({ comment, to }).filter(([, text]) => text !== ''));
}

/** Checks that an amount is positive and returns it. Throws error −3 if it is not. */
export function requirePayment(amountSat: bigint): bigint {
  if (amountSat <= 0n) throw rpcError(RPC_ERROR.TYPE_ERROR, 'Invalid amount for send');
  return amountSat;
}

export const sendToAddress = defineMethod({
  name: 'sendtoaddress',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Send an amount to a given address.\nRequires wallet passphrase to be set with walletpassphrase call.',
  params: [
    { name: 'address', type: 'string', required: true, description: 'The address to send to' },
    { name: 'amount', type: 'amount', required: true, description: 'The amount to send, in coins' },
    ...COMMENT_PARAMS,
    {
      name: 'subtractfeefromamount',
      type: 'boolean',
      default: false,
      description: 'The fee is deducted from the amount that is sent',
    },
    ...FEE_PARAMS,
  ],
  result: t.hash('the transaction id'),
  examples: [
    ['"1M72Sfpbz1BPpXFHz9m3CdqATR44Jvaydd"', '0.1'],
    ['"1M72Sfpbz1BPpXFHz9m3CdqATR44Jvaydd"', '0.1', '"donation"', '"seans outpost"'],
  ],
  async run(ctx, { address, amount, comment, comment_to, subtractfeefromamount, ...fees }) {
    const wallet = walletOf(ctx);
    const script = scriptOfAddress(wallet, address, 'Invalid address');
    const recipient = { script, valueSat: requirePayment(amount), subtractsFee: subtractfeefromamount };
    const control = coinControl(wallet, feeControl(wallet, fees));
    requireUnlocked(wallet);
    const notes = commentNotes(comment, comment_to);
    return hashToHex(await spending(() => sendMoney(wallet, recipient, control, { notes })));
  },
});
