/**
 * Outputs of whole transactions, and the view of a transaction by its txid. Source: lbry-sdk lbry/wallet/database.py
 * `get_transactions`, lbry/wallet/manager.py `get_transaction`.
 */
import { decodePurchase } from '../../metadata/purchase.js';
import { formatOutPoint, parseTransaction, type Transaction } from '../../primitives/transaction.js';
import { hashToHex, type Bytes } from '../../util/bytes.js';
import { Reader } from '../../util/reader.js';
import type { DaemonLedger } from '../ledger/ledger.js';
import type { TransactionRow } from '../ledger/ledgerDatabase.js';
import type { TxoRow } from '../ledger/txoQuery.js';
import type { TransactionJson } from '../txo/outputJson.js';
import { Txo } from '../txo/txo.js';
import { rowTxos, type WalletView } from './rowTxos.js';

/** Printed id of the claim that an output records as bought; null for other outputs. */
function purchaseIn(txo: Txo | undefined): string | null {
  const data = txo?.isData ? txo.read?.values['data'] : undefined;
  if (data === undefined) return null;
  try {
    return hashToHex(decodePurchase(data).claimHash);
  } catch {
    return null;
  }
}

/** All outputs of a transaction. Their notes contain only the bought claim of a purchase. */
export function outputsOf(tx: Transaction, txid: Bytes, height: number): Txo[] {
  const [first] = tx.inputs;
  const firstOutPoint = first ? formatOutPoint(first.prevout) : null;
  const txos = tx.outputs.map(
    ({ value, script }, nout) => new Txo({ txid, nout, height, amountDewies: value, script, firstOutPoint }),
  );
  const purchased = purchaseIn(txos[1]);
  if (purchased !== null) txos[0]!.notes.purchasedClaimId = purchased;
  return txos;
}

export const transactionOf = (row: TransactionRow): Transaction => parseTransaction(new Reader(row.raw));

/** Transaction from the wallet's database or a hub; null if unknown. */
export async function shownTransaction(
  txid: Bytes,
  ledger: Pick<DaemonLedger, 'database' | 'transaction'>,
  view: WalletView,
): Promise<TransactionJson | null> {
  const [row] = await ledger.database.transactions({ accountIds: null, txids: [txid] }, {}, view.accountIds);
  if (row !== undefined) return shownRow(row, ledger, view);
  const found = await ledger.transaction(txid);
  if (found === null) return null;
  const { tx } = found;
  // Hubs report unconfirmed transactions with height -1; address histories contain 0.
  const height = found.height > 0 ? found.height : -1;
  return { tx, height, spent: tx.inputs.map(() => null), outputs: outputsOf(tx, txid, height) };
}

async function shownRow(
  row: TransactionRow,
  { database }: Pick<DaemonLedger, 'database'>,
  view: WalletView,
): Promise<TransactionJson> {
  const tx = transactionOf(row);
  const known = row.outputs.filter((output) => output !== null);
  const byPlace = new Map(known.map((output, n) => [output.nout, n]));
  const txos = await rowTxos(known, view, database, () => ({}));
  return {
    tx,
    height: row.height,
    spent: await spentOf(row.spent, view, database),
    outputs: outputsOf(tx, row.txid, row.height).map((output) => {
      const n = byPlace.get(output.nout);
      if (n === undefined) {
        output.notes.isMyOutput = false;
        return output;
      }
      const { purchasedClaimId } = output.notes;
      if (purchasedClaimId !== undefined) txos[n]!.notes.purchasedClaimId = purchasedClaimId;
      return txos[n]!;
    }),
  };
}

async function spentOf(
  spent: readonly (TxoRow | null)[],
  view: WalletView,
  database: DaemonLedger['database'],
): Promise<(Txo | null)[]> {
  const txos = await rowTxos(
    spent.filter((row) => row !== null),
    view,
    database,
    () => ({}),
  );
  let next = 0;
  return spent.map((row) => (row === null ? null : txos[next++]!));
}
