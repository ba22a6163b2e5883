/**
 * Verified transactions from a hub: the bytes must have the requested txid, and a merkle branch must lead to the header of
 * the named block. Source: lbry-sdk lbry/wallet/ledger.py `_single_batch`, `maybe_verify_transaction`.
 */
import { rootFromPath } from '../../../crypto/merkle.js';
import { parseTransaction, txid as idOf, type Transaction } from '../../../primitives/transaction.js';
import { fromHex, hashFromHex, hashToHex, isHex } from '../../../util/bytes.js';
import { yieldIfDue } from '../../../scheduler/yield.js';
import { Reader } from '../../../util/reader.js';
import type { LedgerHeaders } from '../headers/ledgerHeaders.js';
import { HubLie } from '../hub/hubErrors.js';
import type { HubSession } from '../hub/hubSession.js';

/** Maximum number of transactions per request. Source: the hub's `transaction_get_batch`. */
export const MAX_BATCH = 100;
/** Maximum length of a merkle branch in hashes; no block needs a longer one. */
const MAX_BRANCH = 32;
/**
 * Size in bytes of an inner node of the merkle tree (two hashes). A transaction of this size is refused, because its bytes
 * could be an inner node. Source: CVE-2017-12842.
 */
const NODE_SIZE = 64;
/**
 * Maximum size of a block in bytes, which bounds the size of a transaction. Source: lbrycrd consensus/consensus.h
 * `MAX_BLOCK_SERIALIZED_SIZE`.
 */
const MAX_SIZE = 8_000_000;
/** Maximum amount in dewies. Source: lbrycrd amount.h `MAX_MONEY`. */
const MAX_MONEY = 2_100_000_000_000_000_000n;

export interface CheckedTransaction {
  readonly txid: Buffer;
  readonly tx: Transaction;
  readonly raw: Buffer;
  /** Height of the block that contains the transaction; 0 if the hub reports no block. */
  readonly height: number;
  readonly position: number;
  readonly isVerified: boolean;
}

/**
 * A transaction that cannot be verified yet: its block is above the last known header, or the branch does not match the
 * header.
 */
export interface UncheckedTransaction {
  readonly txid: Buffer;
  readonly reason: string;
}

export interface CheckedBatch {
  readonly checked: readonly CheckedTransaction[];
  /**
   * Transactions that cannot be verified with the current headers, which may have changed during the request. If they still
   * cannot be verified with the newest headers, the hub lies.
   */
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

/** Parses a merkle proof; null if the hub reports no block. */
function parseProof(session: HubSession, value: unknown): Proof | null {
  const { block_height: height, merkle, pos } = (value ?? {}) as Record<string, unknown>;
  if (!Number.isSafeInteger(height))
    throw new HubLie(`The hub ${session.name} did not send the position of a transaction`);
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
    throw new HubLie(
      `The hub ${session.name} sent an invalid transaction ${id}: it pays more than the maximum supply`,
    );
  return { raw, tx };
}

/**
 * Whether each output amount, and the sum of the amounts, is in the valid range. Source: lbrycrd consensus/tx_verify.cpp
 * `CheckTransaction`.
 */
function paysMoney({ outputs }: Transaction): boolean {
  let total = 0n;
  for (const { value } of outputs) {
    total += value;
    if (value < 0n || total > MAX_MONEY) return false;
  }
  return true;
}

/** Fetches and verifies at most `MAX_BATCH` transactions. Throws `HubLie`. */
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

/** Checks a merkle proof. Returns the proven position of the transaction, or the reason why the proof is wrong. */
function judge(
  txid: Buffer,
  { height, position, branch }: Proof,
  headers: LedgerHeaders,
): { height: number; position: number; isVerified: true } | string {
  const root = headers.merkleRootAt(height);
  if (root === null) return `claims that ${hashToHex(txid)} is in block ${height}, which it does not have`;
  const isPlace = position >= 0 && position < 2 ** branch.length;
  if (!isPlace || !rootFromPath(txid, branch, position).equals(root))
    return `sent a wrong merkle branch for ${hashToHex(txid)} in block ${height}`;
  return { height, position, isVerified: true };
}
