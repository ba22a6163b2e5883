/**
 * Finds unconfirmed transactions whose outputs cannot be spent before the next block, because a spending transaction would
 * exceed the mempool's limits of ancestors and descendants. Only transactions of the wallet are counted: transactions of
 * others before them are unknown. Source: lbrycrd txmempool.cpp `CalculateMemPoolAncestors`.
 */
import type { Statements } from '../../../sqlite/statements.js';

/**
 * Maximum number of unconfirmed ancestors, and of descendants, of a transaction that nodes relay; each number includes the
 * transaction itself. Source: lbrycrd validation.h `DEFAULT_ANCESTOR_LIMIT`, `DEFAULT_DESCENDANT_LIMIT`.
 */
const MAX_RELATIVES = 25;

const LINKS = `
  SELECT child.id AS child, parent.id AS parent FROM tx AS child
    JOIN txi ON txi.tx = child.id
    JOIN tx AS parent ON parent.txid = substr(txi.prev, 1, 32)
  WHERE child.height <= 0 AND parent.height <= 0`;

/** Returns the numbers of the transactions, in ascending order. */
export function longChains(statements: Statements): number[] {
  if (statements.number('SELECT count(*) FROM tx WHERE height <= 0') < MAX_RELATIVES) return [];
  const parents = new Map<number, number[]>();
  for (const { child, parent } of statements.all(LINKS)) {
    const known = parents.get(child as number);
    if (known) known.push(parent as number);
    else parents.set(child as number, [parent as number]);
  }
  const ancestors = new Map([...parents.keys()].map((tx) => [tx, ancestorsOf(tx, parents)]));
  const descendants = new Map<number, number>();
  for (const found of ancestors.values())
    for (const tx of found) descendants.set(tx, (descendants.get(tx) ?? 0) + 1);
  const isFull = (tx: number): boolean => (descendants.get(tx) ?? 0) + 1 >= MAX_RELATIVES;
  const long = new Set([...descendants.keys()].filter(isFull));
  for (const [tx, found] of ancestors)
    if (found.size + 1 >= MAX_RELATIVES || [...found].some(isFull)) long.add(tx);
  return [...long].sort((a, b) => a - b);
}

/** Ancestors of a transaction without itself. The search ends when the limit is reached. */
function ancestorsOf(tx: number, parents: ReadonlyMap<number, readonly number[]>): Set<number> {
  const found = new Set<number>();
  const open = [tx];
  for (let next = open.pop(); next !== undefined && found.size < MAX_RELATIVES; next = open.pop())
    for (const parent of parents.get(next) ?? []) {
      if (found.has(parent)) continue;
      found.add(parent);
      open.push(parent);
    }
  return found;
}
