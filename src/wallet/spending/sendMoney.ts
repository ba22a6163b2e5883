/** Sends one payment. Error messages are those of the reference. Source: lbrycrd wallet/rpcwallet.cpp `SendMoney`. */
import { formatMoney } from '../../consensus/limits.js';
import type { Bytes } from '../../util/bytes.js';
import { balance } from '../ledger/balances.js';
import type { OwnTransaction } from '../ledger/ledgerPort.js';
import type { Wallet } from '../wallet.js';
import { commitTransaction } from './commitTransaction.js';
import { createTransaction, type CoinControl, type Recipient } from './createTransaction.js';
import { SPEND_ERROR, SpendError } from './spendError.js';
import { inSpendTurn } from './spendState.js';

/** Sends a payment. Resolves with the txid in wire order. Throws `SpendError`. */
export async function sendMoney(
  wallet: Wallet,
  recipient: Recipient,
  control: CoinControl,
  own: OwnTransaction = {},
): Promise<Bytes> {
  const { valueSat, subtractsFee = false } = recipient;
  if (valueSat <= 0n) throw new SpendError('Invalid amount', SPEND_ERROR.invalidParameter);
  return inSpendTurn(wallet, async () => {
    const { trusted } = balance(wallet.ledger, wallet.balanceOptions);
    if (valueSat > trusted) throw new SpendError('Insufficient funds', SPEND_ERROR.insufficientFunds);
    try {
      const created = await createTransaction(wallet, [recipient], control);
      return await commitTransaction(wallet, created, own);
    } catch (error) {
      if (!(error instanceof SpendError) || subtractsFee || valueSat + error.feeSat <= trusted) throw error;
      throw new SpendError(
        `Error: This transaction requires a transaction fee of at least ${formatMoney(error.feeSat)}`,
      );
    }
  });
}
