/**
 * Deletes a wallet's transactions at the start of the node. They are found again by scanning the blocks. Source: lbrycrd
 * wallet/wallet.cpp `CreateWalletFromFile`, wallet/walletdb.cpp `ZapWalletTx`.
 */
import { txid } from '../../primitives/transaction.js';
import { kindPrefix } from '../store/records.js';
import type { WalletFile } from '../store/walletFile.js';
import type { Wallet } from '../wallet.js';
import { parseTxRecord } from './txRecord.js';

/**
 * What to delete. `transactions`: the transactions, but the user's notes on transactions that are found again are restored.
 * `all`: the transactions and the user's notes.
 */
export type Zap = 'nothing' | 'transactions' | 'all';

/** Deletes the rows of all transactions. Returns these rows. Must be called before the wallet is loaded. */
export async function zapTransactions(file: WalletFile): Promise<Buffer[]> {
  const rows = [...file.rows(kindPrefix('tx'))];
  await file.commit(rows.map(([key]) => [key, null]));
  return rows.map(([, value]) => value);
}

/** Restores the user's notes from the old rows, for transactions that were found again. */
export async function restoreNotes(wallet: Wallet, rows: readonly Buffer[]): Promise<void> {
  await wallet.change((batch) => {
    for (const row of rows) {
      const record = parseTxRecord(row);
      const entry = wallet.ledger.find(txid(record.tx));
      if (entry !== undefined) wallet.ledger.restore(batch, entry, record);
    }
  });
}
