/**
 * Forgetting a wallet's transactions at start, so that the blocks restore them. Source: lbrycrd
 * wallet/wallet.cpp `CreateWalletFromFile`, wallet/walletdb.cpp `ZapWalletTx`.
 */
import { txid } from '../../primitives/transaction.js';
import { kindPrefix } from '../store/records.js';
import type { WalletFile } from '../store/walletFile.js';
import type { Wallet } from '../wallet.js';
import { parseTxRecord } from './txRecord.js';

/** With `transactions` what the owner noted of those that are found again stays. */
export type Zap = 'nothing' | 'transactions' | 'all';

/** Deletes the rows of all transactions; answers them. The wallet must not be loaded yet. */
export async function zapTransactions(file: WalletFile): Promise<Buffer[]> {
  const rows = [...file.rows(kindPrefix('tx'))];
  await file.commit(rows.map(([key]) => [key, null]));
  return rows.map(([, value]) => value);
}

/** Gives transactions that were found again what the old rows say of them. */
export async function restoreNotes(wallet: Wallet, rows: readonly Buffer[]): Promise<void> {
  await wallet.change((batch) => {
    for (const row of rows) {
      const record = parseTxRecord(row);
      const entry = wallet.ledger.find(txid(record.tx));
      if (entry !== undefined) wallet.ledger.restore(batch, entry, record);
    }
  });
}
