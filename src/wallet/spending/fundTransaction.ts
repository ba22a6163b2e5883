/** Adding inputs and change to a transaction until it pays for its outputs. Source: lbrycrd wallet/wallet.cpp `FundTransaction`. */
import type { Transaction } from '../../primitives/transaction.js';
import { toLatin1 } from '../../util/bytes.js';
import { outputKey } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';
import type { CoinControl } from './coinControl.js';
import { createTransaction } from './createTransaction.js';
import { inSpendTurn } from './spendState.js';

export interface FundRequest {
  readonly control: CoinControl;
  /** −1 anywhere. */
  readonly changePosition: number;
  /** Numbers of outputs from which the fee is taken. */
  readonly subtractsFrom: ReadonlySet<number>;
  /** Whether coins that are added are locked, so that nothing else spends them meanwhile. */
  readonly locksCoins: boolean;
}

export interface Funded {
  readonly tx: Transaction;
  readonly feeSat: bigint;
  /** −1 without change. */
  readonly changePosition: number;
}

/**
 * The transaction with what it lacks; inputs that it has stay as they are, and must spend outputs of transactions that the
 * wallet knows. Added inputs are not signed. The key of the change is in use for good, since nobody tells whether the
 * transaction will be sent. Throws `SpendError`.
 */
export function fundTransaction(wallet: Wallet, tx: Transaction, request: FundRequest): Promise<Funded> {
  const { control, changePosition, subtractsFrom, locksCoins } = request;
  const given = tx.inputs.map(({ prevout }) => outputKey(toLatin1(prevout.hash), prevout.index));
  const selected = new Set([...control.selected, ...given]);
  const recipients = tx.outputs.map(({ script, value }, index) => ({
    script,
    valueSat: value,
    subtractsFee: subtractsFrom.has(index),
  }));
  return inSpendTurn(wallet, async () => {
    const created = await createTransaction(
      wallet,
      recipients,
      { ...control, selected, allowsOtherInputs: true },
      { sign: false, changePosition },
    );
    const { changeKey, coins, feeSat } = created;
    const inputs = [...tx.inputs];
    created.tx.inputs.forEach((input, index) => {
      const { key } = coins[index]!;
      if (selected.has(key)) return;
      inputs.push(input);
      if (locksCoins) wallet.lockedOutputs.add(key);
    });
    if (changeKey !== null) await wallet.change((batch) => wallet.keypool.keep(batch, changeKey));
    const outputs = created.tx.outputs;
    return { tx: { ...tx, inputs, outputs }, feeSat, changePosition: created.changePosition };
  });
}
