/** Payments: account_send, account_fund, account_deposit, wallet_send, txo_spend. */
import { hashFromHex, hashToHex } from '../../../util/bytes.js';
import { txid } from '../../../primitives/transaction.js';
import { badValue } from '../../base/daemonError.js';
import { TXO_TYPE } from '../../ledger/txoQuery.js';
import {
  depositTimeLock,
  fundAccount,
  sendPayment,
  spendOutputs,
  type Sweep,
} from '../../making/payments.js';
import { transactionToJson } from '../../txo/outputJson.js';
import type { ArgsOf } from '../args.js';
import { accountDeposit, accountFund, accountSend } from '../declarations/account.js';
import { txoSpend } from '../declarations/txo.js';
import { walletSend } from '../declarations/wallet.js';
import { implement, type MethodImplementation } from '../implement.js';
import { answerWith, handOf, showPort } from './making.js';

const HASH = /^[0-9a-f]{64}$/i;

function typeNumbers(names: readonly string[]): number[] {
  const types: Readonly<Record<string, number>> = TXO_TYPE;
  return names.map((name) => {
    const type = Object.hasOwn(types, name) ? types[name] : undefined;
    if (type === undefined) throw badValue(`'${name}' is no type of outputs.`);
    return type;
  });
}

/** Which outputs are to be spent. */
function filterOf(args: ArgsOf<typeof txoSpend>): Sweep['filter'] {
  return {
    ...(args.type ? { types: typeNumbers(args.type) } : {}),
    ...(args.txid
      ? { txids: args.txid.filter((id) => HASH.test(id)).map((id) => hashFromHex(id.toLowerCase())) }
      : {}),
    ...(args.claim_id ? { claimIds: args.claim_id } : {}),
    ...(args.name ? { names: args.name } : {}),
    ...(args.channel_id ? { channelIds: args.channel_id } : {}),
    ...(args.not_channel_id ? { notChannelIds: args.not_channel_id } : {}),
    ...(args.reposted_claim_id ? { repostedClaimIds: args.reposted_claim_id } : {}),
    ...(args.has_source ? { hasSource: true } : args.has_no_source ? { hasSource: false } : {}),
    ...(args.is_my_input ? { isMyInput: true } : args.is_not_my_input ? { isMyInput: false } : {}),
    ...(args.exclude_internal_transfers ? { excludeInternalTransfers: true } : {}),
  };
}

export const paymentMethods: readonly MethodImplementation[] = [
  implement(walletSend, async (context, args) => {
    const { maker, wallet } = handOf(context, args.wallet_id);
    const payment = {
      amountDewies: args.amount,
      addresses: args.addresses,
      changeAccountId: args.change_account_id,
      fundingAccountIds: args.funding_account_ids,
    };
    return answerWith(context, await sendPayment(maker, wallet, payment, args), args);
  }),

  implement(accountSend, async (context, args) => {
    const { maker, wallet } = handOf(context, args.wallet_id);
    const accountId = args.account_id || undefined;
    const payment = {
      amountDewies: args.amount,
      addresses: args.addresses,
      changeAccountId: accountId,
      fundingAccountIds: accountId === undefined ? undefined : [accountId],
    };
    return answerWith(context, await sendPayment(maker, wallet, payment, args), args);
  }),

  implement(accountFund, async (context, args) => {
    const { maker, wallet } = handOf(context, args.wallet_id);
    const transfer = {
      toAccount: args.to_account,
      fromAccount: args.from_account,
      amountDewies: args.amount ?? 0n,
      everything: args.everything,
      outputs: args.outputs,
    };
    const options = { preview: !args.broadcast, blocking: false };
    return answerWith(context, await fundAccount(maker, wallet, transfer, options), options);
  }),

  implement(accountDeposit, async (context, args) => {
    const { maker, wallet } = handOf(context, args.wallet_id);
    const deposit = {
      txid: args.txid,
      nout: args.nout,
      redeemScript: args.redeem_script,
      privateKey: args.private_key,
      toAccount: args.to_account,
    };
    return answerWith(context, await depositTimeLock(maker, wallet, deposit, args), args);
  }),

  implement(txoSpend, async (context, args) => {
    const { maker, wallet } = handOf(context, args.wallet_id);
    const sweep = { accountId: args.account_id, filter: filterOf(args), batchSize: args.batch_size };
    const made = await spendOutputs(maker, wallet, sweep, args);
    if (args.blocking && !args.preview) for (const one of made) await maker.waitFor(one);
    const port = showPort(context);
    return made.map((one) =>
      args.include_full_tx ? transactionToJson(one, port) : { txid: hashToHex(txid(one.tx)) },
    );
  }),
];
