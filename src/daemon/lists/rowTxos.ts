/**
 * Converts rows of the ledger's database to outputs for responses, with data from the wallet: the signing channel of a
 * claim, whether a channel's key is available, and the bought claim. Source: lbry-sdk lbry/wallet/database.py `get_txos`.
 */
import { channelPublicKey } from '../../metadata/channelSignature.js';
import type { Bytes } from '../../util/bytes.js';
import { mapYielding } from '../base/mapYielding.js';
import type { LedgerDatabase } from '../ledger/ledgerDatabase.js';
import { TXO_TYPE, type TxoRow } from '../ledger/txoQuery.js';
import { Txo, type TxoNotes } from '../txo/txo.js';

/** The wallet whose outputs are shown. */
export interface WalletView {
  readonly accountIds: readonly string[];
  /** Returns the private key for a channel's public key; null if the wallet does not have it. */
  channelSecret(publicKey: Bytes): Bytes | null;
}

/** Data about spending and ownership of a row, for the output's notes. */
export function ownNotes(row: TxoRow): TxoNotes {
  const { isSpent, isMyInput, isMyOutput, isInternalTransfer, receivedTipsDewies } = row;
  return {
    isSpent,
    isMyInput,
    isMyOutput,
    isInternalTransfer,
    ...(receivedTipsDewies === null ? {} : { receivedTipsDewies }),
  };
}

function toTxo(row: TxoRow, view: WalletView, notes: TxoNotes): Txo {
  const txo = new Txo(row, notes);
  const type = txo.claim?.claim.type;
  if (type?.case === 'channel') {
    const publicKey = channelPublicKey(type.value.publicKey);
    txo.notes.hasSigningKey = publicKey !== null && view.channelSecret(publicKey) !== null;
  }
  if (row.txoType === TXO_TYPE.purchase && row.claimId !== null) txo.notes.purchasedClaimId = row.claimId;
  return txo;
}

/** Converts rows to outputs, in the same order. `notesOf` returns the notes of a row. */
export async function rowTxos(
  rows: readonly TxoRow[],
  view: WalletView,
  database: Pick<LedgerDatabase, 'txos'>,
  notesOf: (row: TxoRow) => TxoNotes = ownNotes,
): Promise<Txo[]> {
  const txos = await mapYielding(rows, (row) => toTxo(row, view, notesOf(row)));
  const signed = rows.map((row) =>
    row.txoType === TXO_TYPE.support || row.channelId === null ? null : row.channelId,
  );
  const channels = await channelsOf(new Set(signed.filter((id) => id !== null)), view, database);
  for (const [n, id] of signed.entries()) {
    const channel = id === null ? undefined : channels.get(id);
    if (channel !== undefined) txos[n]!.notes.channel = channel;
  }
  return txos;
}

/** Unspent outputs of channels, by printed claim id. Channels that are not in the database are absent. */
async function channelsOf(
  claimIds: ReadonlySet<string>,
  view: WalletView,
  database: Pick<LedgerDatabase, 'txos'>,
): Promise<Map<string, Txo>> {
  if (claimIds.size === 0) return new Map();
  const rows = await database.txos({
    accountIds: view.accountIds,
    types: [TXO_TYPE.channel],
    claimIds: [...claimIds],
    isMyOutput: null,
  });
  const present = rows.filter((row) => !row.isSpent);
  // If a channel has several outputs, the newest counts. The list begins with the newest, so it is reversed, and later
  // entries replace earlier ones.
  return new Map(present.toReversed().map((row) => [row.claimId!, toTxo(row, view, {})]));
}
