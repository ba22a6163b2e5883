/**
 * Wallet notes of resolved claims: ownership, sent and received supports, and purchases. Source: lbry-sdk
 * lbry/wallet/ledger.py `_inflate_outputs`.
 */
import { formatOutPoint, parseTransaction } from '../../primitives/transaction.js';
import { hashToHex } from '../../util/bytes.js';
import { Reader } from '../../util/reader.js';
import type { LedgerDatabase, TransactionRow } from '../ledger/ledgerDatabase.js';
import { CLAIM_TXO_TYPES, TXO_TYPE } from '../ledger/txoQuery.js';
import { Txo } from '../txo/txo.js';

/** Selects the kinds of notes to add. */
export interface Includes {
  readonly purchaseReceipt?: boolean;
  readonly isMyOutput?: boolean;
  readonly sentSupports?: boolean;
  readonly sentTips?: boolean;
  readonly receivedTips?: boolean;
}

export type OwnNotesPort = Pick<LedgerDatabase, 'txos' | 'txoCount' | 'txoSum' | 'transactions'>;

const claimIdOf = (txo: Txo): string => hashToHex(txo.claimId!);

const hasPrice = ({ claim }: Txo): boolean =>
  claim?.claim.type.case === 'stream' && claim.claim.type.value.fee !== undefined;

/** Adds the notes to claims that can be decoded. Without accounts nothing is added. */
export async function addOwnNotes(
  found: readonly Txo[],
  accountIds: readonly string[],
  includes: Includes,
  database: OwnNotesPort,
): Promise<void> {
  const txos = found.filter(({ claim }) => claim !== null);
  if (accountIds.length === 0 || txos.length === 0) return;
  if (includes.purchaseReceipt) await addReceipts(txos.filter(hasPrice), accountIds, database);
  for (const txo of txos) {
    const claimIds = [claimIdOf(txo)];
    const supports = { accountIds, claimIds, types: [TXO_TYPE.support] };
    const { notes } = txo;
    if (includes.isMyOutput) {
      const own = { accountIds, claimIds, types: CLAIM_TXO_TYPES, isMyOutput: true, isSpent: false };
      notes.isMyOutput = (await database.txoCount(own)) > 0;
    }
    if (includes.sentSupports) {
      const sent = { ...supports, isMyInput: true, isMyOutput: true, isSpent: false };
      notes.sentSupportsDewies = await database.txoSum(sent);
    }
    if (includes.sentTips)
      notes.sentTipsDewies = await database.txoSum({ ...supports, isMyInput: true, isMyOutput: false });
    if (includes.receivedTips)
      notes.receivedTipsDewies = await database.txoSum({ ...supports, isMyInput: false, isMyOutput: true });
  }
}

async function addReceipts(
  txos: readonly Txo[],
  accountIds: readonly string[],
  database: OwnNotesPort,
): Promise<void> {
  if (txos.length === 0) return;
  const purchasedClaimIds = txos.map(claimIdOf);
  const rows = await database.transactions(
    { accountIds, isPurchase: true, purchasedClaimIds },
    {},
    accountIds,
  );
  const receipts = new Map<string, Txo>();
  // Rows begin with the newest. If a claim was bought several times, its first purchase replaces later ones, as in lbrynet.
  for (const row of rows) {
    const receipt = receiptOf(row);
    if (receipt?.notes.purchasedClaimId) receipts.set(receipt.notes.purchasedClaimId, receipt);
  }
  for (const txo of txos) {
    const receipt = receipts.get(claimIdOf(txo));
    if (receipt) txo.notes.purchaseReceipt = receipt;
  }
}

/** Output that paid for a claim: the first output of the purchase transaction. */
function receiptOf({ raw, txid, height, purchasedClaimId }: TransactionRow): Txo | null {
  const tx = parseTransaction(new Reader(raw));
  const [output] = tx.outputs;
  const [input] = tx.inputs;
  if (purchasedClaimId === null || !output || !input) return null;
  const facts = {
    txid,
    nout: 0,
    height,
    amountDewies: output.value,
    script: output.script,
    firstOutPoint: formatOutPoint(input.prevout),
  };
  return new Txo(facts, { purchasedClaimId });
}
