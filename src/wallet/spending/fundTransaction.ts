/**
 * Adds inputs and change to a transaction until the inputs pay for its outputs. Source: lbrycrd wallet/wallet.cpp
 * `FundTransaction`.
 */
import type { Transaction } from '../../primitives/transaction.js';
import { toLatin1 } from '../../util/bytes.js';
import { inSlices } from '../../scheduler/slices.js';
import type { Slices } from '../../util/slices.js';
import { outputKey } from '../ledger/entry.js';
import type { Wallet } from '../wallet.js';
import type { CoinControl } from './coinControl.js';
import { createTransaction, type Recipient } from './createTransaction.js';
import { inSpendTurn } from './spendState.js';

export interface FundRequest {
  readonly control: CoinControl;
  /** Position of the change output; −1 for a random position. */
  readonly changePosition: number;
  /** Numbers of the outputs from which the fee is subtracted. */
  readonly subtractsFrom: ReadonlySet<number>;
  /** Whether the added coins are locked, so that other payments do not spend them. */
  readonly locksCoins: boolean;
}

export interface Funded {
  readonly tx: Transaction;
  readonly feeSat: bigint;
  /** Position of the change among the outputs; −1 without change. */
  readonly changePosition: number;
}

/** Number of inputs or outputs that are processed between two yields to the event loop. A caller may send very many. */
const ITEMS_AT_ONCE = 256;

/** Keys of the outputs that must be spent: the outputs selected in `control`, and those that existing inputs spend. */
function* selectedFor({ inputs }: Transaction, control: CoinControl): Slices<Set<string>> {
  const selected = new Set(control.selected);
  for (let n = 0; n < inputs.length; n++) {
    const { prevout } = inputs[n]!;
    selected.add(outputKey(toLatin1(prevout.hash), prevout.index));
    if (n % ITEMS_AT_ONCE === ITEMS_AT_ONCE - 1) yield;
  }
  return selected;
}

function* recipientsOf({ outputs }: Transaction, subtractsFrom: ReadonlySet<number>): Slices<Recipient[]> {
  const recipients: Recipient[] = [];
  for (const { script, value } of outputs) {
    recipients.push({ script, valueSat: value, subtractsFee: subtractsFrom.has(recipients.length) });
    if (recipients.length % ITEMS_AT_ONCE === 0) yield;
  }
  return recipients;
}

/**
 * Returns the transaction with the added inputs and change. Existing inputs stay unchanged. They must spend outputs of
 * transactions in the wallet. Added inputs are not signed. The key of the change is marked as used, because the transaction
 * may be sent later. Throws `SpendError`.
 */
export async function fundTransaction(
  wallet: Wallet,
  tx: Transaction,
  request: FundRequest,
): Promise<Funded> {
  const { control, changePosition, subtractsFrom, locksCoins } = request;
  const selected = await inSlices(selectedFor(tx, control));
  const recipients = await inSlices(recipientsOf(tx, subtractsFrom));
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
