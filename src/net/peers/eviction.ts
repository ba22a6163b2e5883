/**
 * Selects the inbound peer to evict when a new peer connects and all slots are used. Peers with properties that are hard to
 * imitate are protected. Of the remaining peers, the youngest one in the largest network group is selected. Source: Core
 * net.cpp `AttemptToEvictConnection`.
 */

export interface EvictionCandidate {
  readonly id: number;
  readonly connectedAtSec: number;
  /** Lowest round-trip time of a ping; Infinity before the first pong. */
  readonly minPingMs: number;
  readonly lastBlockMs: number;
  readonly lastTxMs: number;
  readonly hasDesirableServices: boolean;
  readonly relaysTransactions: boolean;
  readonly hasBloomFilter: boolean;
  /** Network group, hashed with a secret key so that an attacker cannot predict its value. */
  readonly keyedGroup: bigint;
}

type Order = (a: EvictionCandidate, b: EvictionCandidate) => number;

const compare = (a: number | bigint, b: number | bigint): number => (a < b ? -1 : a > b ? 1 : 0);

/** Sort orders of peers. The peers at the end of each order are protected. */
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

/** Returns the id of the peer to disconnect, or null if all are protected. The candidates must be inbound and not whitelisted. */
export function selectEviction(candidates: readonly EvictionCandidate[]): number | null {
  let left = withoutBest([...candidates], byKeyedGroup, 4);
  left = withoutBest(left, byPing, 8);
  left = withoutBest(left, byTransactions, 4);
  left = withoutBest(left, byBlocks, 4);
  left = withoutBest(left, byAge, Math.floor(left.length / 2));
  const groups = new Map<bigint, EvictionCandidate[]>();
  let crowded: EvictionCandidate[] = [];
  // Peers are sorted from youngest to oldest, so the first peer of a group is its youngest.
  for (const candidate of left) {
    const group = groups.get(candidate.keyedGroup) ?? [];
    groups.set(candidate.keyedGroup, group);
    group.push(candidate);
    const isYounger = (group[0]?.connectedAtSec ?? 0) > (crowded[0]?.connectedAtSec ?? 0);
    if (group.length > crowded.length || (group.length === crowded.length && isYounger)) crowded = group;
  }
  return crowded[0]?.id ?? null;
}
