/**
 * The claim operations of the transactions in the mempool, by name and by claim id: claims and supports that are created or
 * abandoned, and claims that are updated. They are updated by the mempool's events, and use about 400 bytes for each
 * operation, which `-maxmempool` does not count. The claim trie decides the effect of an operation when its block is
 * connected.
 */
import { claimIdAtPoint, pointKey } from '../claimtrie/item.js';
import { normalizeKey } from '../claimtrie/nameKey.js';
import type { Transaction } from '../primitives/transaction.js';
import { claimIdOf, decodeClaimScript } from '../script/claimScript.js';
import { fromLatin1, toLatin1, type Bytes } from '../util/bytes.js';

export type WaitingKind = 'claim' | 'update' | 'support' | 'abandon';

/** A claim operation of an unconfirmed transaction. */
export interface WaitingClaim {
  readonly kind: WaitingKind;
  /** Name as spelled in the script. */
  readonly name: Bytes;
  /** Id of the created, updated or supported claim, in wire order. */
  readonly claimId: Bytes;
  /** Outpoint of the created output; for `abandon`, of the spent output. */
  readonly txid: Bytes;
  readonly n: number;
  readonly amountSat: bigint;
  /** Whether the operation concerns a support. */
  readonly isSupport: boolean;
}

/** A transaction of the mempool with claim operations. */
export interface WaitingTransaction {
  readonly txid: Bytes;
  /** Arrival number of the transaction. Transactions are numbered from 1 in order of arrival. */
  readonly arrival: number;
  readonly timeSec: number;
  readonly claims: readonly WaitingClaim[];
}

export type WaitingCounts = Readonly<Record<WaitingKind, number>>;

/** Key of a name, equal for all spellings with the same normalized form. */
const groupOf = (name: Bytes): string => normalizeKey(normalizeKey(toLatin1(name)));

export class MempoolClaims {
  /** Transactions by txid (latin1), in order of arrival. */
  private readonly transactions = new Map<string, WaitingTransaction>();
  private readonly byName = new Map<string, Set<WaitingTransaction>>();
  private readonly byClaim = new Map<string, Set<WaitingTransaction>>();
  private readonly totals = { claim: 0, update: 0, support: 0, abandon: 0 };
  private arrivals = 0;

  get counts(): WaitingCounts {
    return this.totals;
  }

  /** Adds a transaction. `spentScripts` and `spentAmountsSat` are those of the outputs that its inputs spend, in order. */
  add(
    { txid, entryTimeSec }: { readonly txid: Bytes; readonly entryTimeSec: number },
    tx: Transaction,
    spentScripts: readonly Bytes[],
    spentAmountsSat: readonly bigint[],
  ): void {
    const claims = claimsOf(txid, tx, spentScripts, spentAmountsSat);
    if (claims.length === 0) return;
    const waiting = { txid, arrival: ++this.arrivals, timeSec: entryTimeSec, claims };
    this.transactions.set(toLatin1(txid), waiting);
    for (const { kind, name, claimId } of claims) {
      this.totals[kind]++;
      join(this.byName, groupOf(name), waiting);
      join(this.byClaim, toLatin1(claimId), waiting);
    }
  }

  remove(txid: Bytes): void {
    const key = toLatin1(txid);
    const waiting = this.transactions.get(key);
    if (waiting === undefined) return;
    this.transactions.delete(key);
    for (const { kind, name, claimId } of waiting.claims) {
      this.totals[kind]--;
      leave(this.byName, groupOf(name), waiting);
      leave(this.byClaim, toLatin1(claimId), waiting);
    }
  }

  /**
   * Transactions with operations on the name (in all spellings with the same normalized form) or on the claim, in order of
   * arrival; without both, all transactions. Transactions may be added and removed during the iteration.
   */
  of(wanted: {
    readonly name?: Bytes | undefined;
    readonly claimId?: Bytes | undefined;
  }): Iterable<WaitingTransaction> {
    const { name, claimId } = wanted;
    if (claimId !== undefined) return this.byClaim.get(toLatin1(claimId)) ?? [];
    if (name !== undefined) return this.byName.get(groupOf(name)) ?? [];
    return this.transactions.values();
  }
}

/** Whether an operation concerns the name, in any spelling with the same normalized form. */
export function isOnName({ name }: WaitingClaim, wanted: Bytes): boolean {
  return groupOf(name) === groupOf(wanted);
}

function join(map: Map<string, Set<WaitingTransaction>>, key: string, waiting: WaitingTransaction): void {
  const set = map.get(key);
  if (set) set.add(waiting);
  else map.set(key, new Set([waiting]));
}

function leave(map: Map<string, Set<WaitingTransaction>>, key: string, waiting: WaitingTransaction): void {
  const set = map.get(key);
  set?.delete(waiting);
  if (set?.size === 0) map.delete(key);
}

/**
 * Claim operations of a transaction: first the outputs spent without an update, in input order, then the created outputs. An
 * update that spends no output of its claim is ignored.
 */
function claimsOf(
  txid: Bytes,
  tx: Transaction,
  spentScripts: readonly Bytes[],
  spentAmountsSat: readonly bigint[],
): WaitingClaim[] {
  const spent: WaitingClaim[] = [];
  spentScripts.forEach((script, i) => {
    const claim = decodeClaimScript(script);
    if (claim === null) return;
    const { hash, index } = tx.inputs[i]!.prevout;
    const id = fromLatin1(toLatin1(claim.claimId ?? fromLatin1(claimIdAtPoint(pointKey(hash, index)))));
    spent.push({
      kind: 'abandon',
      name: Buffer.from(claim.name),
      claimId: id,
      txid: Buffer.from(hash),
      n: index,
      amountSat: spentAmountsSat[i]!,
      isSupport: claim.kind === 'support',
    });
  });
  /** Number of spent outputs of each claim, i.e. of updates that are still possible. */
  const updatable = new Map<string, number>();
  for (const { claimId, isSupport } of spent)
    if (!isSupport) updatable.set(toLatin1(claimId), (updatable.get(toLatin1(claimId)) ?? 0) + 1);
  const updated = new Set<string>();
  const made: WaitingClaim[] = [];
  tx.outputs.forEach(({ script, value }, n) => {
    const claim = decodeClaimScript(script);
    if (claim === null) return;
    const id = Buffer.from(claim.claimId ?? claimIdOf(txid, n));
    if (claim.kind === 'update') {
      const left = updatable.get(toLatin1(id)) ?? 0;
      if (left === 0) return;
      updatable.set(toLatin1(id), left - 1);
      updated.add(toLatin1(id));
    }
    made.push({
      kind: claim.kind,
      name: Buffer.from(claim.name),
      claimId: id,
      txid,
      n,
      amountSat: value,
      isSupport: claim.kind === 'support',
    });
  });
  return [...spent.filter(({ claimId, isSupport }) => isSupport || !updated.has(toLatin1(claimId))), ...made];
}
