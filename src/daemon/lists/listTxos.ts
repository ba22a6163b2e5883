/**
 * Pages of a wallet's outputs. Source: lbry-sdk lbry/extras/daemon/daemon.py `jsonrpc_txo_list`, lbry/wallet/ledger.py
 * `get_collections`, `get_purchases`.
 */
import { hashToHex } from '../../util/bytes.js';
import type { LedgerDatabase, TransactionFilter, TransactionRow } from '../ledger/ledgerDatabase.js';
import { TXO_TYPE, type QueryPage, type TxoFilter, type TxoPage } from '../ledger/txoQuery.js';
import type { Txo } from '../txo/txo.js';
import type { LoadedAccount } from '../wallet/loadedAccount.js';
import type { ResolvePort } from './resolvePort.js';
import { rowTxos, type WalletView } from './rowTxos.js';
import { outputsOf, transactionOf } from './transactionTxos.js';

/** Data sources from which a list is built. */
export interface ListPorts {
  readonly database: LedgerDatabase;
  readonly resolver: ResolvePort;
  readonly view: WalletView;
}

export interface TxoListing {
  readonly filter: TxoFilter;
  readonly page: TxoPage;
  readonly withReceivedTips: boolean;
  /** Accounts for which the hub's claim index adds data to the claims; null to return only data of the wallet. */
  readonly resolvedFor: readonly LoadedAccount[] | null;
}

export async function listTxos(listing: TxoListing, ports: ListPorts): Promise<Txo[]> {
  const { filter, page, withReceivedTips, resolvedFor } = listing;
  const { database, view, resolver } = ports;
  const rows = await database.txos(filter, page, { walletAccountIds: view.accountIds, withReceivedTips });
  const txos = await rowTxos(rows, view, database);
  return resolvedFor === null ? txos : resolver.resolveTxos(resolvedFor, txos);
}

/** Lists collections, with the first `claimCount` claims of each if it is above 0. */
export async function listCollections(
  {
    accountIds,
    page,
    resolvedFor,
  }: { accountIds: readonly string[]; page: QueryPage } & Pick<TxoListing, 'resolvedFor'>,
  claimCount: number,
  { database, view, resolver }: ListPorts,
): Promise<Txo[]> {
  const rows = await database.txos(collectionFilter(accountIds), page);
  const local = await rowTxos(rows, view, database, () => ({}));
  const txos = resolvedFor === null ? local : await resolver.resolveTxos(resolvedFor, local);
  if (claimCount > 0)
    for (const txo of txos)
      txo.notes.claims = await resolver.claimsById(claimIdsIn(txo).slice(0, claimCount));
  return txos;
}

export const collectionFilter = (accountIds: readonly string[]): TxoFilter => ({
  accountIds,
  types: [TXO_TYPE.collection],
  isSpent: false,
});

function claimIdsIn({ claim }: Txo): string[] {
  const type = claim?.claim.type;
  if (type?.case !== 'collection') return [];
  return type.value.claimReferences.map(({ claimHash }) => hashToHex(claimHash));
}

/** Lists payments of purchases, with the bought claims if `isResolved`. */
export async function listPurchases(
  { filter, page, isResolved }: { filter: TransactionFilter; page: QueryPage; isResolved: boolean },
  { database, view, resolver }: ListPorts,
): Promise<Txo[]> {
  const rows = await database.transactions(filter, page, view.accountIds);
  const txos = rows.flatMap((row) => firstOutput(row));
  if (isResolved) {
    const claims = await resolver.claimsById(txos.map(({ notes }) => notes.purchasedClaimId!));
    for (const [n, txo] of txos.entries()) if (claims[n]) txo.notes.purchasedClaim = claims[n];
  }
  return txos;
}

/**
 * First output of a purchase transaction, which is the payment. Empty if the second output does not contain the data of a
 * purchase.
 */
function firstOutput(row: TransactionRow): Txo[] {
  const [first] = outputsOf(transactionOf(row), row.txid, row.height);
  return first?.notes.purchasedClaimId === undefined ? [] : [first];
}
