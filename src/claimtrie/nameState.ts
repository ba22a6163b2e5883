/**
 * The current state of one name: its active claims in order, the sums of active supports, its takeover height, and counters
 * of the items stored under it. Defines the order of claims; independent of blocks and rows. In a name with very many
 * claims, a change searches for a position instead of walking over all claims. Source: lbrycrd `CClaimTrieData`,
 * `CClaimValue::operator<`, `reorderClaims`.
 */
import { intact } from './corruption.js';
import { claimIdAtPoint, type Item } from './item.js';

/**
 * A claim in the trie. The class has the fields that the order of claims and the root need. The claim's item row has further
 * fields.
 */
export class ActiveClaim {
  readonly point: string;
  readonly amount: bigint;
  /** Height of the block that contains the output. Among claims of equal amount, the one with the lowest height wins. */
  readonly height: number;
  /** Field `since` of the claim's item (claim or support), which is part of the key of its row. */
  readonly since: number;
  /** Effective amount: amount of the claim plus its active supports. */
  effective: bigint;
  /** Whether the claim was never updated. The claim id is then derived from the outpoint. */
  readonly isOriginal: boolean;
  private id: string | null;

  /**
   * Creates an active claim. `claimId` may be null for a claim that was never updated; the id is then computed from the
   * outpoint when it is first needed.
   */
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
  /** Height of the last takeover; 0 if there was none. */
  takeover: number;
  /** Best first. */
  claims: ActiveClaim[];
  /** Sums of the active supports for claim ids that have no active claim under this name, by claim id. No sum is zero. */
  dangling: Map<string, bigint>;
  /** Number of pending items (claims and supports) by due height. */
  pending: Map<number, number>;
  /** Number of items stored under the name: active and pending, claims and supports. */
  alive: number;
  /** Number of items (claims and supports) stored under the name since the last snapshot of its history. */
  sinceSnapshot: number;
  /** Index of the claims. Created by the first lookup if the name has many claims. */
  index: ClaimIndex | null;
}

/**
 * Minimum number of claims for which an index is created. With fewer claims a lookup scans all. Arbitrary: an index costs as
 * much as some scans.
 */
const INDEXED_CLAIMS = 32;

/** The claims of a name by outpoint and by claim id. */
interface ClaimIndex {
  byPoint: Map<string, ActiveClaim>;
  /** Claims by id. Normally each id has one claim, because an update is added after the spent claim was removed. */
  byId: Map<string, ActiveClaim[]>;
}

export function emptyNameState(): NameState {
  return {
    takeover: 0,
    claims: [],
    dangling: new Map(),
    pending: new Map(),
    alive: 0,
    sinceSnapshot: 0,
    index: null,
  };
}

/** Whether the state is empty, so that no row is needed for the name. */
export function isBlank(state: NameState): boolean {
  return state.takeover === 0 && state.alive === 0 && state.sinceSnapshot === 0;
}

/** Number of active supports under the name, including those with amount zero. */
export function countActiveSupports(state: NameState): number {
  let pending = 0;
  for (const count of state.pending.values()) pending += count;
  return state.alive - state.claims.length - pending;
}

/** Position of the claim in the sorted list, or the position at which it would be inserted. */
function positionOf(
  claims: readonly ActiveClaim[],
  claim: ActiveClaim,
  from = 0,
  to = claims.length,
): number {
  let low = from;
  let high = to;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareClaims(claims[middle]!, claim) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Moves the claim at `from` to its sorted position; the other claims are already sorted. Shifts only the claims in between,
 * which is many times faster than removing and inserting.
 */
function settle(claims: ActiveClaim[], from: number): void {
  const claim = claims[from]!;
  const before = positionOf(claims, claim, 0, from);
  const to = before < from ? before : positionOf(claims, claim, from + 1, claims.length) - 1;
  for (let at = from; at > to; at--) claims[at] = claims[at - 1]!;
  for (let at = from; at < to; at++) claims[at] = claims[at + 1]!;
  claims[to] = claim;
}

/** Returns the index of a name with many claims, and creates it if necessary. Returns null if there are few claims. */
function indexOf(state: Pick<NameState, 'claims' | 'index'>): ClaimIndex | null {
  if (state.index === null && state.claims.length >= INDEXED_CLAIMS) {
    state.index = { byPoint: new Map(), byId: new Map() };
    for (const claim of state.claims) enroll(state.index, claim);
  }
  return state.index;
}

function enroll({ byPoint, byId }: ClaimIndex, claim: ActiveClaim): void {
  byPoint.set(claim.point, claim);
  const same = byId.get(claim.claimId);
  if (same) same.push(claim);
  else byId.set(claim.claimId, [claim]);
}

function strike({ byPoint, byId }: ClaimIndex, claim: ActiveClaim): void {
  byPoint.delete(claim.point);
  const rest = byId.get(claim.claimId)!.filter((other) => other !== claim);
  if (rest.length > 0) byId.set(claim.claimId, rest);
  else byId.delete(claim.claimId);
}

/**
 * Creates an index of the claims with these ids. Afterwards only claims with these ids may be looked up, given support, or removed.
 * For a name with thousands of claims, indexing all of them takes longer than most changes to them.
 */
export function indexOnly(state: NameState, claimIds: ReadonlySet<string>): void {
  state.index = { byPoint: new Map(), byId: new Map() };
  for (const claim of state.claims) if (claimIds.has(claim.claimId)) enroll(state.index, claim);
}

export function findClaim(
  state: Pick<NameState, 'claims' | 'index'>,
  point: string,
): ActiveClaim | undefined {
  const index = indexOf(state);
  return index ? index.byPoint.get(point) : state.claims.find((claim) => claim.point === point);
}

/** Returns the best of the active claims with this id. */
export function findById(
  state: Pick<NameState, 'claims' | 'index'>,
  claimId: string,
): ActiveClaim | undefined {
  const index = indexOf(state);
  if (!index) return state.claims.find((claim) => claim.claimId === claimId);
  const same = index.byId.get(claimId);
  return same && (same.length === 1 ? same[0] : same.toSorted(compareClaims)[0]);
}

/** Adds `amount`, which may be negative, to the supports of `claimId`. Returns whether the order of claims changed. */
export function addSupport(state: NameState, claimId: string, amount: bigint): boolean {
  if (amount === 0n) return false;
  const claim = findById(state, claimId);
  if (!claim) {
    const sum = (state.dangling.get(claimId) ?? 0n) + amount;
    intact(sum >= 0n, 'more support was taken from a claim id than it had');
    if (sum === 0n) state.dangling.delete(claimId);
    else state.dangling.set(claimId, sum);
    return false;
  }
  const { claims } = state;
  const at = positionOf(claims, claim);
  claim.effective += amount;
  settle(claims, at);
  return claims[at] !== claim;
}

/** The claim of an item with this effective amount. It is not added to a name. */
function activeClaim({ kind, point, claimId, amount, height, since }: Item, effective: bigint): ActiveClaim {
  return new ActiveClaim(point, kind === 'claim', claimId, amount, height, since, effective);
}

/** The active supports for a claim that is added now. */
function takeSupport({ dangling }: NameState, { claimId }: Item): bigint {
  const support = dangling.get(claimId) ?? 0n;
  dangling.delete(claimId);
  return support;
}

export function addActiveClaim(state: NameState, item: Item): void {
  const claim = activeClaim(item, item.amount + takeSupport(state, item));
  settle(state.claims, state.claims.push(claim) - 1);
  if (state.index) enroll(state.index, claim);
}

/** Number of claims from which they are added or removed together. Fewer need no walk over all claims. Arbitrary. */
const MANY_CLAIMS = 16;

/** Adds active claims and supports. Many claims are sorted together, in a fraction of the time. */
export function addActiveItems(state: NameState, items: readonly Item[]): void {
  const made = items.filter(({ kind }) => kind !== 'support');
  if (made.length < MANY_CLAIMS) for (const item of made) addActiveClaim(state, item);
  else {
    for (const item of made) {
      const claim = activeClaim(item, item.amount + takeSupport(state, item));
      state.claims.push(claim);
      if (state.index) enroll(state.index, claim);
    }
    state.claims.sort(compareClaims);
  }
  for (const { kind, claimId, amount } of items) if (kind === 'support') addSupport(state, claimId, amount);
}

export function removeActiveClaim(state: NameState, point: string): ActiveClaim {
  const claim = findClaim(state, point);
  intact(claim, 'an active claim is missing from its name');
  state.claims.splice(positionOf(state.claims, claim), 1);
  if (state.index) strike(state.index, claim);
  leaveSupport(state, claim);
  return claim;
}

/** Removes claims of the name. Many of them take the time of one walk over all claims. */
export function removeActiveClaims(state: NameState, leaving: readonly { readonly point: string }[]): void {
  if (leaving.length < MANY_CLAIMS) {
    for (const { point } of leaving) removeActiveClaim(state, point);
    return;
  }
  const points = new Set(leaving.map(({ point }) => point));
  const before = state.claims.length;
  const stays = (claim: ActiveClaim): boolean => {
    if (!points.has(claim.point)) return true;
    if (state.index) strike(state.index, claim);
    leaveSupport(state, claim);
    return false;
  };
  // The array is kept, since callers hold it.
  const rest = state.claims.filter(stays);
  intact(before - rest.length === points.size, 'an active claim is missing from its name');
  state.claims.length = 0;
  for (const claim of rest) state.claims.push(claim);
}

/** Keeps the supports of a claim that was removed. */
function leaveSupport(state: NameState, { claimId, effective, amount }: ActiveClaim): void {
  const support = effective - amount;
  if (support !== 0n) state.dangling.set(claimId, support);
}

export function countPending(state: NameState, dueHeight: number, change: 1 | -1): void {
  const count = (state.pending.get(dueHeight) ?? 0) + change;
  intact(count >= 0, 'a pending item was counted twice');
  if (count === 0) state.pending.delete(dueHeight);
  else state.pending.set(dueHeight, count);
}
