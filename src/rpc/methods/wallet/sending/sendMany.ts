/** `sendmany`: sends several payments in one transaction. Source: lbrycrd wallet/rpcwallet.cpp. */
import { FastChance, shuffle } from '../../../../signing/coinSelection/random.js';
import { hashToHex, toLatin1 } from '../../../../util/bytes.js';
import type { JsonObject, JsonValue } from '../../../../util/json/json.js';
import { MINE } from '../../../../wallet/keys/isMine.js';
import { legacyBalanceSat } from '../../../../wallet/listing/accountBalances.js';
import { ofOneState } from '../../../../wallet/listing/oneState.js';
import { coinControl } from '../../../../wallet/spending/coinControl.js';
import { sendTransaction } from '../../../../wallet/spending/commitTransaction.js';
import type { Recipient } from '../../../../wallet/spending/createTransaction.js';
import { SpendError } from '../../../../wallet/spending/spendError.js';
import type { Wallet } from '../../../../wallet/wallet.js';
import { yieldIfDue } from '../../../../scheduler/yield.js';
import { SpreadMap } from '../../../../util/spreadMap.js';
import { RPC_ERROR, rpcError } from '../../../declare/errors.js';
import { defineMethod } from '../../../declare/method.js';
import { getString, parseAmount } from '../../../declare/paramTypes.js';
import { t } from '../../../../schema/schema.js';
import { ACCOUNTS } from '../addresses/accountsOption.js';
import { checkLabel } from '../addresses/addressArguments.js';
import { commentNotes, requirePayment } from './sendToAddress.js';
import { FEE_PARAMS, feeControl, scriptOfAddress } from './spendArguments.js';
import { requireUnlocked, walletOf } from '../wallets/walletOf.js';

export const sendMany = defineMethod({
  name: 'sendmany',
  category: 'wallet',
  needsWallet: 'one',
  summary:
    'Send multiple times. Amounts are double-precision floating point numbers.\n' +
    'Note that the "fromaccount" argument has an effect only with -deprecatedrpc=accounts.',
  params: [
    {
      name: 'fromaccount|dummy',
      type: 'string',
      required: true,
      description: 'Must be "" for backwards compatibility, except with -deprecatedrpc=accounts',
    },
    {
      name: 'amounts',
      type: 'object',
      required: true,
      description: 'Object with an amount in coins (numeric or string) for each address',
    },
    {
      name: 'minconf',
      type: 'integer',
      default: 1,
      description: 'Minimum number of confirmations of the balance',
    },
    { name: 'comment', type: 'string', default: '', description: 'A comment, kept in the wallet' },
    {
      name: 'subtractfeefrom',
      type: 'array',
      description:
        'Addresses from whose amounts the fee is deducted, in equal parts; without any, the sender pays the ' +
        'fee in addition',
    },
    ...FEE_PARAMS,
  ],
  result: t.hash('the transaction id; there is one transaction for all addresses'),
  examples: [['""', '{"1D1ZrZNe3JUo7ZycKEYQQiQAWd9y54F4XX":0.01,"1353tsE8YMTA4EuV7dgUXGjNFf9KpVvKHz":0.02}']],
  async run(ctx, { fromaccount, amounts, minconf, comment, subtractfeefrom = [], ...fees }) {
    const wallet = walletOf(ctx);
    const hasAccounts = ctx.isDeprecatedEnabled(ACCOUNTS);
    if (!hasAccounts && fromaccount !== '')
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'Dummy value must be set to ""');
    const account = checkLabel(fromaccount);
    const control = coinControl(wallet, feeControl(wallet, fees));
    const { recipients, totalSat } = await readRecipients(wallet, amounts, subtractfeefrom);
    requireUnlocked(wallet);
    const haveSat = await ofOneState(wallet, () =>
      legacyBalanceSat(wallet, hasAccounts ? account : null, MINE.spendable, minconf),
    );
    if (totalSat > haveSat) {
      const who = hasAccounts ? 'Account' : 'Wallet';
      throw rpcError(RPC_ERROR.WALLET_INSUFFICIENT_FUNDS, `${who} has insufficient funds`);
    }
    // Shuffles the recipients, so that the order of outputs does not reveal the order of the arguments.
    shuffle(recipients, new FastChance());
    const own = { notes: commentNotes(comment, ''), fromAccount: account };
    try {
      return hashToHex(await sendTransaction(wallet, recipients, control, own));
    } catch (error) {
      if (!(error instanceof SpendError)) throw error;
      throw rpcError(RPC_ERROR.WALLET_INSUFFICIENT_FUNDS, error.message);
    }
  },
});

async function readRecipients(
  wallet: Wallet,
  amounts: JsonObject,
  subtractFeeFrom: readonly JsonValue[],
): Promise<{ recipients: Recipient[]; totalSat: bigint }> {
  const payers = new SpreadMap<true>();
  let hasPayers = false;
  const seen = new SpreadMap<true>();
  const recipients: Recipient[] = [];
  let totalSat = 0n;
  let since = performance.now();
  for (const [address, amount] of amounts.entries) {
    const script = scriptOfAddress(wallet, address, `Invalid Bitcoin address: ${address}`);
    const name = toLatin1(script);
    if (seen.has(name)) {
      throw rpcError(RPC_ERROR.INVALID_PARAMETER, `Invalid parameter, duplicated address: ${address}`);
    }
    seen.set(name, true);
    const valueSat = requirePayment(parseAmount(amount));
    // The list of payers is parsed only if there is at least one recipient, as in the reference.
    if (!hasPayers) {
      for (const payer of subtractFeeFrom) {
        payers.set(getString(payer), true);
        hasPayers = true;
        since = await yieldIfDue(since);
      }
    }
    totalSat += valueSat;
    recipients.push({ script, valueSat, subtractsFee: payers.has(address) });
    since = await yieldIfDue(since);
  }
  return { recipients, totalSat };
}
