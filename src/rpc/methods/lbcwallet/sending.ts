/** Methods of lbcwallet for payments from accounts. */
import { decodeDestination } from '../../../script/address.js';
import { scriptForDestination } from '../../../script/standard.js';
import { DEFAULT_ACCOUNT, LbcdAccounts } from '../../../wallet/lbcd/accounts.js';
import { PaymentError, sendFromAccount } from '../../../wallet/lbcd/sendFromAccount.js';
import type { Recipient } from '../../../wallet/spending/createTransaction.js';
import type { Wallet } from '../../../wallet/wallet.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { hashToHex } from '../../../util/bytes.js';
import { RPC_ERROR, rpcError } from '../../declare/errors.js';
import { getReal } from '../../declare/paramTypes.js';
import { t } from '../../../schema/schema.js';
import { walletOf } from '../wallet/wallets/walletOf.js';
import {
  ADDRESS_TYPE_PARAM,
  addressKind,
  callNode,
  lbcwalletMethod,
  MINCONF_PARAM,
  satoshisOf,
  unlockNeeded,
} from './lbcwalletMethod.js';

const COMMENT_PARAM = {
  name: 'comment',
  type: 'string',
  default: '',
  description: 'Not supported: a comment is refused',
} as const;
const COMMENT_TO_PARAM = { ...COMMENT_PARAM, name: 'commentto' } as const;

function refuseComments(...comments: readonly string[]): void {
  if (comments.every((comment) => comment === '')) return;
  throw rpcError(RPC_ERROR.MISC_ERROR, 'Transaction comments are not yet supported');
}

function recipientOf(wallet: Wallet, address: string, valueSat: bigint): Recipient {
  if (valueSat < 0n) throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'amount must be positive');
  const destination = decodeDestination(address, wallet.prefixes);
  if (destination === null) {
    const message = 'cannot decode address: decoded address is of unknown format';
    throw rpcError(RPC_ERROR.WALLET_ERROR, message);
  }
  return { script: scriptForDestination(destination), valueSat };
}

async function send(
  wallet: Wallet,
  recipients: readonly Recipient[],
  account: number,
  minDepth: number,
): Promise<string> {
  if (minDepth < 0) throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'minconf must be positive');
  if (wallet.isLocked) throw unlockNeeded();
  try {
    return hashToHex(await sendFromAccount(wallet, recipients, account, minDepth));
  } catch (error) {
    if (error instanceof PaymentError) throw rpcError(RPC_ERROR.INTERNAL_ERROR, error.message);
    throw error;
  }
}

export const sendFrom = lbcwalletMethod({
  name: 'sendfrom',
  summary: 'Sends an amount from an account to an address.',
  params: [
    { name: 'fromaccount', type: 'string', required: true, description: 'The account' },
    { name: 'toaddress', type: 'string', required: true, description: 'The address' },
    { name: 'amount', type: 'number', required: true, description: 'The amount' },
    MINCONF_PARAM,
    ADDRESS_TYPE_PARAM,
    COMMENT_PARAM,
    COMMENT_TO_PARAM,
  ],
  result: t.hash('the transaction'),
  run(ctx, { fromaccount, toaddress, amount, minconf, addresstype, comment, commentto }) {
    const wallet = walletOf(ctx);
    refuseComments(comment, commentto);
    const account = new LbcdAccounts(wallet).numberOf(fromaccount);
    addressKind(addresstype);
    return send(wallet, [recipientOf(wallet, toaddress, satoshisOf(amount))], account, minconf);
  },
});

export const sendMany = lbcwalletMethod({
  name: 'sendmany',
  summary: 'Sends amounts from an account to several addresses in one transaction.',
  params: [
    { name: 'fromaccount', type: 'string', required: true, description: 'The account' },
    {
      name: 'amounts',
      type: 'object',
      required: true,
      description: 'Object with an amount for each address',
    },
    MINCONF_PARAM,
    ADDRESS_TYPE_PARAM,
    COMMENT_PARAM,
  ],
  result: t.hash('the transaction'),
  async run(ctx, { fromaccount, amounts, minconf, addresstype, comment }) {
    const wallet = walletOf(ctx);
    refuseComments(comment);
    const account = new LbcdAccounts(wallet).numberOf(fromaccount);
    addressKind(addresstype);
    const recipients: Recipient[] = [];
    let since = performance.now();
    for (const [address, amount] of amounts.entries) {
      recipients.push(recipientOf(wallet, address, satoshisOf(getReal(amount))));
      since = await yieldIfDue(since);
    }
    return send(wallet, recipients, account, minconf);
  },
});

export const sendToAddress = lbcwalletMethod({
  name: 'sendtoaddress',
  summary: 'Sends an amount to an address, using confirmed coins of the default account.',
  params: [
    { name: 'address', type: 'string', required: true, description: 'The address' },
    { name: 'amount', type: 'number', required: true, description: 'The amount' },
    ADDRESS_TYPE_PARAM,
    COMMENT_PARAM,
    COMMENT_TO_PARAM,
  ],
  result: t.hash('the transaction'),
  run(ctx, { address, amount, addresstype, comment, commentto }) {
    const wallet = walletOf(ctx);
    refuseComments(comment, commentto);
    addressKind(addresstype);
    return send(wallet, [recipientOf(wallet, address, satoshisOf(amount))], DEFAULT_ACCOUNT, 1);
  },
});

export const setTxFee = lbcwalletMethod({
  name: 'settxfee',
  summary: 'Has no effect: payments through this port use a fixed fee rate.',
  params: [
    { name: 'amount', type: 'number', required: true, description: 'An amount of at least 0; it is ignored' },
  ],
  result: t.bool('true'),
  run(_ctx, { amount }) {
    if (amount < 0) throw rpcError(RPC_ERROR.INVALID_PARAMETER, 'amount must be positive');
    return true;
  },
});

export const signRawTransaction = lbcwalletMethod({
  name: 'signrawtransaction',
  summary: 'Signs a transaction with the keys of the wallet, or with the given keys.',
  params: [
    { name: 'rawtx', type: 'string', required: true, description: 'The transaction, in hexadecimal' },
    { name: 'inputs', type: 'array', description: 'Spent outputs that the node does not know' },
    { name: 'privkeys', type: 'array', description: "Private keys to use instead of the wallet's keys" },
    { name: 'flags', type: 'string', default: 'ALL', description: 'The signature hash type' },
  ],
  result: t.object({
    hex: t.hex('the transaction'),
    complete: t.bool('whether the transaction is completely signed'),
    errors: t.optional(t.array(t.any('the error of an input')), 'when there are any'),
  }),
  run(ctx, { rawtx, inputs = [], privkeys = [], flags }) {
    return privkeys.length > 0
      ? callNode(ctx, 'signrawtransactionwithkey', [rawtx, privkeys, inputs, flags])
      : callNode(ctx, 'signrawtransactionwithwallet', [rawtx, inputs, flags]);
  },
});
