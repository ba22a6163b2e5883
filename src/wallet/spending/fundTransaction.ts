/** Adding inputs and change to a transaction until it pays for its outputs. Source: lbrycrd wallet/wallet.cpp `FundTransaction`. */
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

/** Inputs or outputs looked at between two pauses: what callers send may have very many. */
const ITEMS_AT_ONCE = 256;

/** What must be spent: what was named, and what the transaction spends already. */
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
 * The transaction with what it lacks; inputs that it has stay as they are, and must spend outputs of transactions that the
 * wallet knows. Added inputs are not signed. The key of the change is in use permanently, since the transaction may be sent
 * later. Throws `SpendError`.
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
