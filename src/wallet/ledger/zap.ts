/**
 * Deletes a wallet's transactions at start, so that the blocks restore them. Source: lbrycrd wallet/wallet.cpp
 * `CreateWalletFromFile`, wallet/walletdb.cpp `ZapWalletTx`.
 */
import { txid } from '../../primitives/transaction.js';
import { kindPrefix } from '../store/records.js';
import type { WalletFile } from '../store/walletFile.js';
import type { Wallet } from '../wallet.js';
import { parseTxRecord } from './txRecord.js';

/** With `transactions` the owner's notes of transactions that are found again are restored. */
export type Zap = 'nothing' | 'transactions' | 'all';

/** Deletes the rows of all transactions and returns them. The wallet must not be loaded yet. */
export async function zapTransactions(file: WalletFile): Promise<Buffer[]> {
  const rows = [...file.rows(kindPrefix('tx'))];
  await file.commit(rows.map(([key]) => [key, null]));
  return rows.map(([, value]) => value);
}

/** Restores the notes of the old rows for transactions that were found again. */
export async function restoreNotes(wallet: Wallet, rows: readonly Buffer[]): Promise<void> {
  await wallet.change((batch) => {
    for (const row of rows) {
      const record = parseTxRecord(row);
      const entry = wallet.ledger.find(txid(record.tx));
      if (entry !== undefined) wallet.ledger.restore(batch, entry, record);
    }
  });
}
