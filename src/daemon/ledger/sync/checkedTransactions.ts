/**
 * Transactions from a hub, none believed without proof: the bytes must have the id that was asked for, and a merkle branch must
 * lead to the header of the block that is named. Source: lbry-sdk lbry/wallet/ledger.py `_single_batch`,
 * `maybe_verify_transaction`.
 */
import { rootFromPath } from '../../../crypto/merkle.js';
import { parseTransaction, txid as idOf, type Transaction } from '../../../primitives/transaction.js';
import { fromHex, hashFromHex, hashToHex, isHex } from '../../../util/bytes.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { Reader } from '../../../util/reader.js';
import type { LedgerHeaders } from '../headers/ledgerHeaders.js';
import { HubLie } from '../hub/hubErrors.js';
import type { HubSession } from '../hub/hubSession.js';

/** Source: the hub's `transaction_get_batch`. */
export const MAX_BATCH = 100;
/** No tree of a block is as high. */
const MAX_BRANCH = 32;
/** Size of a merkle tree node: a transaction of this size could be a forged node. Source: CVE-2017-12842. */
const NODE_SIZE = 64;
/** The largest size of a block, and thus of a transaction. Source: lbrycrd consensus/consensus.h `MAX_BLOCK_SERIALIZED_SIZE`. */
const MAX_SIZE = 8_000_000;
/** All dewies that there can be. Source: lbrycrd amount.h `MAX_MONEY`. */
const MAX_MONEY = 2_100_000_000_000_000_000n;

export interface CheckedTransaction {
  readonly txid: Buffer;
  readonly tx: Transaction;
  readonly raw: Buffer;
  /** 0 where the hub knows no block. */
  readonly height: number;
  readonly position: number;
  readonly isVerified: boolean;
}

/** What a batch told that cannot be judged yet: the block is above our headers, or the branch leads to another one. */
export interface UncheckedTransaction {
  readonly txid: Buffer;
  readonly reason: string;
}

export interface CheckedBatch {
  readonly checked: readonly CheckedTransaction[];
  /** Headers may have changed on the way; asked again with the newest ones, the hub lies if it is still so. */
  readonly unchecked: readonly UncheckedTransaction[];
  readonly unknown: readonly Buffer[];
}

interface Proof {
  readonly height: number;
  readonly position: number;
  readonly branch: readonly Buffer[];
}

const isHash = (value: unknown): value is string =>
  typeof value === 'string' && value.length === 64 && isHex(value);

/** Null if the hub knows no block. */
function parseProof(session: HubSession, value: unknown): Proof | null {
  const { block_height: height, merkle, pos } = (value ?? {}) as Record<string, unknown>;
  if (!Number.isSafeInteger(height))
    throw new HubLie(`The hub ${session.name} does not say where a transaction is`);
  if ((height as number) <= 0) return null;
  if (
    !Array.isArray(merkle) ||
    merkle.length > MAX_BRANCH ||
    !merkle.every(isHash) ||
    !Number.isSafeInteger(pos)
  )
    throw new HubLie(`The hub ${session.name} sent an invalid merkle branch`);
  return { height: height as number, position: pos as number, branch: merkle.map(hashFromHex) };
}

function parseRaw(session: HubSession, id: string, hex: unknown): { raw: Buffer; tx: Transaction } {
  const named = `The hub ${session.name} sent another transaction than ${id}`;
  if (typeof hex !== 'string' || !isHex(hex)) throw new HubLie(named);
  if (hex.length > 2 * MAX_SIZE)
    throw new HubLie(`The hub ${session.name} sent a transaction ${id} that is larger than a block`);
  const raw = fromHex(hex);
  let tx: Transaction;
  try {
    const reader = new Reader(raw);
    tx = parseTransaction(reader);
    if (reader.remaining > 0 || raw.length === NODE_SIZE) throw new Error('no transaction');
  } catch {
    throw new HubLie(named);
  }
  if (hashToHex(idOf(tx)) !== id || tx.inputs.length === 0) throw new HubLie(named);
  if (!paysMoney(tx))
    throw new HubLie(`The hub ${session.name} made the transaction ${id} up: it pays more than there can be`);
  return { raw, tx };
}

/** Whether the amounts of outputs are money, each and together. Source: lbrycrd consensus/tx_verify.cpp `CheckTransaction`. */
function paysMoney({ outputs }: Transaction): boolean {
  let total = 0n;
  for (const { value } of outputs) {
    total += value;
    if (value < 0n || total > MAX_MONEY) return false;
  }
  return true;
}

/** Asks for at most `MAX_BATCH` transactions. Throws `HubLie`. */
export async function fetchChecked(
  session: HubSession,
  txids: readonly Uint8Array[],
  headers: LedgerHeaders,
): Promise<CheckedBatch> {
  const ids = txids.map(hashToHex);
  const answer = await session.call('blockchain.transaction.get_batch', ids);
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
    throw new HubLie(`The hub ${session.name} sent no transactions`);
  const checked: CheckedTransaction[] = [];
  const unchecked: UncheckedTransaction[] = [];
  const unknown: Buffer[] = [];
  let since = performance.now();
  for (const [n, id] of ids.entries()) {
    const pair = (answer as Record<string, unknown>)[id];
    const txid = Buffer.from(txids[n]!);
    if (!Array.isArray(pair) || pair[0] === null) {
      unknown.push(txid);
      continue;
    }
    const { raw, tx } = parseRaw(session, id, pair[0]);
    const proof = parseProof(session, pair[1]);
    const judged =
      proof === null ? { height: 0, position: -1, isVerified: false } : judge(txid, proof, headers);
    if (typeof judged === 'string') unchecked.push({ txid, reason: judged });
    else checked.push({ txid, tx, raw, ...judged });
    since = await yieldIfDue(since);
  }
  return { checked, unchecked, unknown };
}

/** The proven position of the transaction, or the reason why it is not proven. */
function judge(
  txid: Buffer,
  { height, position, branch }: Proof,
  headers: LedgerHeaders,
): { height: number; position: number; isVerified: true } | string {
  const root = headers.merkleRootAt(height);
  if (root === null) return `says that ${hashToHex(txid)} is in block ${height}, which it does not have`;
  const isPlace = position >= 0 && position < 2 ** branch.length;
  if (!isPlace || !rootFromPath(txid, branch, position).equals(root))
    return `sent a wrong merkle branch of ${hashToHex(txid)} in block ${height}`;
  return { height, position, isVerified: true };
}
