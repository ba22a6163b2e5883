/**
 * Transaction history of a wallet: the balance change and fee of each transaction, and the claims and supports that it
 * created, updated, abandoned and bought. Source: lbry-sdk lbry/wallet/ledger.py `get_transaction_history`.
 */
import { formatLbc } from '../../metadata/amounts.js';
import { hashToHex } from '../../util/bytes.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { LedgerParams } from '../base/ledgerParams.js';
import type { TransactionRow } from '../ledger/ledgerDatabase.js';
import type { TxoRow } from '../ledger/txoQuery.js';
import { Txo } from '../txo/txo.js';
import { outputsOf, transactionOf } from './transactionTxos.js';

type Json = Record<string, JsonOut>;

/** Data of the chain that the transaction history needs. */
export interface HistoryPort {
  readonly ledger: LedgerParams;
  /** Height of the last header; -1 without headers. */
  readonly height: number;
  timeSecAt(height: number): number | null;
}

interface Entry {
  readonly txo: Txo;
  /** Row of the output; null if the output is not stored. An output that is not stored does not belong to the wallet. */
  readonly row: TxoRow | null;
}

const MS = 1000;

/** Formats a time as local time `YYYY-MM-DD HH:MM`. */
function localMinute(timeSec: number): string {
  const date = new Date(timeSec * MS);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}`;
}

export function historyItem(row: TransactionRow, port: HistoryPort): Json {
  const tx = transactionOf(row);
  const outputs: Entry[] = outputsOf(tx, row.txid, row.height).map((txo, nout) => ({
    txo,
    row: row.outputs[nout] ?? null,
  }));
  const spent: Entry[] = row.spent.flatMap((one) => (one === null ? [] : [{ txo: new Txo(one), row: one }]));
  const isAllMine = row.spent.every((one) => one?.isMyOutput === true);
  const timeSec = port.timeSecAt(row.height);
  const fee = isAllMine ? sum(spent) - sum(outputs) : 0n;
  const change = sum(outputs.filter(isMine)) - sum(spent.filter(isMine));
  const view: View = { outputs, spent, isAllMine, port };
  return {
    txid: hashToHex(row.txid),
    timestamp: timeSec,
    date: row.height > 0 && timeSec !== null ? localMinute(timeSec) : null,
    confirmations: row.height > 0 ? port.height + 1 - row.height : 0,
    value: formatLbc(change + fee),
    fee: formatLbc(-fee),
    claim_info: outputs
      .filter((one) => isMine(one) && one.txo.isNewClaim)
      .map((one) => claimEntry(one, -one.txo.amountDewies, port)),
    update_info: updates(view),
    support_info: supports(view),
    abandon_info: abandons(view),
    purchase_info: purchases(view),
  };
}

interface View {
  readonly outputs: readonly Entry[];
  readonly spent: readonly Entry[];
  /** Whether all inputs belong to the wallet. */
  readonly isAllMine: boolean;
  readonly port: HistoryPort;
}

const isMine = ({ row }: Entry): boolean => row?.isMyOutput === true;

const sum = (entries: readonly Entry[]): bigint =>
  entries.reduce((total, { txo }) => total + txo.amountDewies, 0n);

function placeEntry({ txo }: Entry, balanceDelta: bigint, { ledger }: HistoryPort): Json {
  return {
    address: txo.address(ledger),
    balance_delta: formatLbc(balanceDelta),
    amount: formatLbc(txo.amountDewies),
    nout: txo.nout,
  };
}

const claimMembers = ({ claimId, claimName }: Txo): Json => ({
  claim_id: claimId && hashToHex(claimId),
  claim_name: claimName,
});

const claimEntry = (one: Entry, balanceDelta: bigint, port: HistoryPort): Json => ({
  ...placeEntry(one, balanceDelta, port),
  ...claimMembers(one.txo),
  is_spent: one.row?.isSpent ?? null,
});

const isSameClaim = (a: Txo, b: Txo): boolean => {
  const [left, right] = [a.claimId, b.claimId];
  return left !== null && right !== null && left.equals(right);
};

/** Entries for updates of own claims with their balance changes. The change is 0 if others paid for the transaction. */
function updates({ outputs, spent, isAllMine, port }: View): Json[] {
  return outputs
    .filter((one) => isMine(one) && one.txo.isUpdate)
    .flatMap((one) => {
      if (!isAllMine) return [claimEntry(one, 0n, port)];
      const previous = spent.find(({ txo }) => (txo.isClaim || txo.isSupport) && isSameClaim(txo, one.txo));
      return previous === undefined
        ? []
        : [claimEntry(one, previous.txo.amountDewies - one.txo.amountDewies, port)];
    });
}

/** Entries for the supports that the wallet owns, and for tips to others that the wallet paid. */
function supports({ outputs, isAllMine, port }: View): Json[] {
  const all = outputs.filter(({ txo }) => txo.isSupport);
  const entry = (one: Entry, delta: bigint, isTip: boolean): Json => ({
    ...claimEntry(one, delta, port),
    is_tip: isTip,
  });
  const mine = all
    .filter(isMine)
    .map((one) => entry(one, isAllMine ? -one.txo.amountDewies : one.txo.amountDewies, !isAllMine));
  if (!isAllMine) return mine;
  const given = all.filter((one) => !isMine(one)).map((one) => entry(one, -one.txo.amountDewies, true));
  return [...mine, ...given];
}

/** Entries for claims and supports of the wallet that were spent without an update of the claim. */
function abandons({ outputs, spent, port }: View): Json[] {
  const updated = outputs.filter((one) => isMine(one) && one.txo.isUpdate);
  return spent
    .filter((one) => isMine(one) && (one.txo.isClaim || one.txo.isSupport))
    .filter(({ txo }) => !txo.isClaim || !updated.some((update) => isSameClaim(update.txo, txo)))
    .map((one) => ({ ...placeEntry(one, one.txo.amountDewies, port), ...claimMembers(one.txo) }));
}

function purchases({ outputs, isAllMine, port }: View): Json[] {
  return outputs
    .filter(({ txo }) => txo.notes.purchasedClaimId !== undefined)
    .map((one) => ({
      ...placeEntry(one, isAllMine ? -one.txo.amountDewies : one.txo.amountDewies, port),
      claim_id: one.txo.notes.purchasedClaimId!,
      is_spent: one.row?.isSpent ?? null,
    }));
}
