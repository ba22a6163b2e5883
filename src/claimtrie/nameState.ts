/**
 * The present state of one name: its active claims in their order, the sums of active supports, its takeover height,
 * and counters of what is filed under it. Owns the order of claims; knows neither blocks nor rows.
 * Source: lbrycrd `CClaimTrieData`, `CClaimValue::operator<`, `reorderClaims`.
 */
import { assert } from '../util/assert.js';
import { claimIdAtPoint, type Item } from './item.js';

/** A claim in the trie. Its item row knows more; here is what order and root need. */
export class ActiveClaim {
  readonly point: string;
  readonly amount: bigint;
  /** Height of the output: earlier ones win a tie. */
  readonly height: number;
  /** Part of the key of its item row. */
  readonly since: number;
  /** Own amount and active supports. */
  effective: bigint;
  /** Never updated: its id follows from its outpoint. */
  readonly isOriginal: boolean;
  private id: string | null;

  /** `claimId` may be null for an original claim; it is computed when somebody asks. */
  constructor(
    point: string,
    isOriginal: boolean,
    claimId: string | null,
    amount: bigint,
    height: number,
    since: number,
    effective: bigint,
  ) {
    this.point = point;
    this.id = claimId;
    this.amount = amount;
    this.height = height;
    this.since = since;
    this.effective = effective;
    this.isOriginal = isOriginal;
  }

  get claimId(): string {
    return (this.id ??= claimIdAtPoint(this.point));
  }
}

/** Best first. */
export function compareClaims(
  a: { effective: bigint; height: number; point: string },
  b: { effective: bigint; height: number; point: string },
): number {
  if (a.effective !== b.effective) return a.effective > b.effective ? -1 : 1;
  if (a.height !== b.height) return a.height - b.height;
  return a.point < b.point ? -1 : a.point > b.point ? 1 : 0;
}

export interface NameState {
  /** Height of the last takeover; 0 when there is none to speak of. */
  takeover: number;
  /** Best first. */
  claims: ActiveClaim[];
  /** Active supports of ids that have no active claim here, by id; none is zero. */
  dangling: Map<string, bigint>;
  /** Number of pending items by due height. */
  pending: Map<number, number>;
  /** Items filed here: active and pending, claims and supports. */
  alive: number;
  /** Items ever filed here since the last snapshot of its history. */
  sinceSnapshot: number;
}

export function emptyNameState(): NameState {
  return { takeover: 0, claims: [], dangling: new Map(), pending: new Map(), alive: 0, sinceSnapshot: 0 };
}

/** Whether nothing needs to be kept about the name. */
export function isBlank(state: NameState): boolean {
  return state.takeover === 0 && state.alive === 0 && state.sinceSnapshot === 0;
}

/** Active supports under the name, those without amount included. */
export function countActiveSupports(state: NameState): number {
  let pending = 0;
  for (const count of state.pending.values()) pending += count;
  return state.alive - state.claims.length - pending;
}

function place(claims: ActiveClaim[], claim: ActiveClaim): void {
  let low = 0;
  let high = claims.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareClaims(claims[middle]!, claim) < 0) low = middle + 1;
    else high = middle;
  }
  claims.splice(low, 0, claim);
}

export function findClaim(state: NameState, point: string): ActiveClaim | undefined {
  return state.claims.find((claim) => claim.point === point);
}

/** Adds `amount`, which may be negative, to the supports of `claimId`. Answers whether the order of claims changed. */
export function addSupport(state: NameState, claimId: string, amount: bigint): boolean {
  if (amount === 0n) return false;
  const at = state.claims.findIndex((claim) => claim.claimId === claimId);
  if (at < 0) {
    const sum = (state.dangling.get(claimId) ?? 0n) + amount;
    assert(sum >= 0n, 'more support was taken from a claim id than it had');
    if (sum === 0n) state.dangling.delete(claimId);
    else state.dangling.set(claimId, sum);
    return false;
  }
  const claim = state.claims[at]!;
  state.claims.splice(at, 1);
  claim.effective += amount;
  place(state.claims, claim);
  return state.claims[at] !== claim;
}

export function addActiveClaim(state: NameState, item: Item): void {
  const support = state.dangling.get(item.claimId) ?? 0n;
  state.dangling.delete(item.claimId);
  const { point, claimId, amount, height, since } = item;
  const original = item.kind === 'claim';
  place(state.claims, new ActiveClaim(point, original, claimId, amount, height, since, amount + support));
}

export function removeActiveClaim(state: NameState, point: string): ActiveClaim {
  const at = state.claims.findIndex((claim) => claim.point === point);
  assert(at >= 0, 'an active claim is missing from its name');
  const claim = state.claims[at]!;
  state.claims.splice(at, 1);
  const support = claim.effective - claim.amount;
  if (support !== 0n) state.dangling.set(claim.claimId, support);
  return claim;
}

export function countPending(state: NameState, dueHeight: number, change: 1 | -1): void {
  const count = (state.pending.get(dueHeight) ?? 0) + change;
  assert(count >= 0, 'a pending item was counted twice');
  if (count === 0) state.pending.delete(dueHeight);
  else state.pending.set(dueHeight, count);
}
