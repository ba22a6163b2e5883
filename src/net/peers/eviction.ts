/**
 * Selects the inbound peer to evict for a new one. Peers with properties that are hard to imitate are protected. Of the
 * others it selects the youngest in the largest network group. Pure. Source: Core net.cpp `AttemptToEvictConnection`.
 */

export interface EvictionCandidate {
  readonly id: number;
  readonly connectedAtSec: number;
  /** Infinity before the first round trip. */
  readonly minPingMs: number;
  readonly lastBlockMs: number;
  readonly lastTxMs: number;
  readonly hasDesirableServices: boolean;
  readonly relaysTransactions: boolean;
  readonly hasBloomFilter: boolean;
  /** Network group, keyed so that others cannot predict it. */
  readonly keyedGroup: bigint;
}

type Order = (a: EvictionCandidate, b: EvictionCandidate) => number;

const compare = (a: number | bigint, b: number | bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/** Sort orders; the peers at the end of each are protected. */
const byKeyedGroup: Order = (a, b) => compare(a.keyedGroup, b.keyedGroup);
const byPing: Order = (a, b) => compare(b.minPingMs, a.minPingMs);
const byAge: Order = (a, b) => compare(b.connectedAtSec, a.connectedAtSec);
const byTransactions: Order = (a, b) =>
  compare(a.lastTxMs, b.lastTxMs) ||
  compare(Number(a.relaysTransactions), Number(b.relaysTransactions)) ||
  compare(Number(b.hasBloomFilter), Number(a.hasBloomFilter)) ||
  byAge(a, b);
const byBlocks: Order = (a, b) =>
  compare(a.lastBlockMs, b.lastBlockMs) ||
  compare(Number(a.hasDesirableServices), Number(b.hasDesirableServices)) ||
  byAge(a, b);

function withoutBest(candidates: EvictionCandidate[], order: Order, count: number): EvictionCandidate[] {
  return [...candidates].sort(order).slice(0, Math.max(0, candidates.length - count));
}

/** The id of the peer to disconnect, or null if all are protected. Candidates are inbound and not whitelisted. */
export function selectEviction(candidates: readonly EvictionCandidate[]): number | null {
  let left = withoutBest([...candidates], byKeyedGroup, 4);
  left = withoutBest(left, byPing, 8);
  left = withoutBest(left, byTransactions, 4);
  left = withoutBest(left, byBlocks, 4);
  left = withoutBest(left, byAge, Math.floor(left.length / 2));
  const groups = new Map<bigint, EvictionCandidate[]>();
  let crowded: EvictionCandidate[] = [];
  // Sorted from the youngest on, so the first of a group is its youngest.
  for (const candidate of left) {
    const group = groups.get(candidate.keyedGroup) ?? [];
    groups.set(candidate.keyedGroup, group);
    group.push(candidate);
    const isYounger = (group[0]?.connectedAtSec ?? 0) > (crowded[0]?.connectedAtSec ?? 0);
    if (group.length > crowded.length || (group.length === crowded.length && isYounger)) crowded = group;
  }
  return crowded[0]?.id ?? null;
}
