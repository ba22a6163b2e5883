/** Methods for payments: account_send, account_fund, account_deposit, wallet_send, txo_spend. */
import { txid } from '../../../primitives/transaction.js';
import { hashToHex } from '../../../util/bytes.js';
import type { TxoFilter } from '../../ledger/txoQuery.js';
import { txoFilterOf } from '../../lists/txoFilters.js';
import { depositTimeLock, fundAccount, sendPayment, spendOutputs } from '../../txBuilding/payments.js';
import { transactionToJson } from '../../txo/outputJson.js';
import type { ApiArgsOf } from '../args.js';
import { accountDeposit, accountFund, accountSend } from '../declarations/account.js';
import { txoSpend } from '../declarations/txo.js';
import { walletSend } from '../declarations/wallet.js';
import { implement, type MethodImplementation } from '../implement.js';
import { showPortOf } from '../showPort.js';
import { answerWith, handOf } from './txBuilding.js';

/** Filter for the outputs to spend. Whatever the arguments are, it requires unspent outputs of the wallet. */
const filterOf = (args: ApiArgsOf<typeof txoSpend>): TxoFilter =>
  txoFilterOf([], {
    ...args,
    is_spent: false,
    is_my_input_or_output: false,
    is_my_output: true,
    is_not_my_output: false,
  });

export const paymentMethods: readonly MethodImplementation[] = [
  implement(walletSend, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    const payment = {
      amountDewies: args.amount,
      addresses: args.addresses,
      changeAccountId: args.change_account_id,
      fundingAccountIds: args.funding_account_ids,
    };
    return answerWith(context, await sendPayment(txBuilder, wallet, payment, args), args);
  }),

  implement(accountSend, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    const accountId = args.account_id;
    const payment = {
      amountDewies: args.amount,
      addresses: args.addresses,
      changeAccountId: accountId,
      fundingAccountIds: accountId === undefined ? undefined : [accountId],
    };
    return answerWith(context, await sendPayment(txBuilder, wallet, payment, args), args);
  }),

  implement(accountFund, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    const transfer = {
      toAccount: args.to_account,
      fromAccount: args.from_account,
      amountDewies: args.amount ?? 0n,
      everything: args.everything,
      outputs: args.outputs,
    };
    const options = { preview: !args.broadcast, blocking: false };
    return answerWith(context, await fundAccount(txBuilder, wallet, transfer, options), options);
  }),

  implement(accountDeposit, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    const deposit = {
      txid: args.txid,
      nout: args.nout,
      redeemScript: args.redeem_script,
      privateKey: args.private_key,
      toAccount: args.to_account,
    };
    return answerWith(context, await depositTimeLock(txBuilder, wallet, deposit, args), args);
  }),

  implement(txoSpend, async (context, args) => {
    const { txBuilder, wallet } = handOf(context, args.wallet_id);
    const sweep = { accountId: args.account_id, filter: filterOf(args), batchSize: args.batch_size };
    const made = await spendOutputs(txBuilder, wallet, sweep, args);
    if (args.blocking && !args.preview) for (const one of made) await txBuilder.waitFor(one);
    const port = showPortOf(context);
    return made.map((one) =>
      args.include_full_tx ? transactionToJson(one, port) : { txid: hashToHex(txid(one.tx)) },
    );
  }),
];
