/**
 * The block of the normalization fork: items under a name that is not normalized move to the normalized name. The block is
 * processed in batches, to limit the memory. Temporary rows ("mark rows") store the state of each name at the start of the
 * block. Source: lbrycrd `normalizeAllNamesInTrieIfNecessary`.
 */
import { findTakeovers, settleTakeovers } from '../../claimtrie/blockEnd.js';
import { MAX_ORDERED, setOrder } from '../../claimtrie/checkOrder.js';
import type { NameWork } from '../../claimtrie/claimWork.js';
import { trieIntact } from '../../claimtrie/corruption.js';
import { compareJoining, type Item } from '../../claimtrie/item.js';
import { normalizeKey } from '../../claimtrie/nameKey.js';
import { countActiveSupports } from '../../claimtrie/nameState.js';
import { refileName } from '../../claimtrie/refile.js';
import { unpackSlots } from '../../claimtrie/slots.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import { prefixEnd } from '../rows/rows.js';
import { CLAIM_PREFIX } from './rows/claimKeys.js';
import { aliveItems } from './query/itemHistory.js';
import { parseMarkRow } from './rows/markRow.js';
import { parseNodeRow } from './rows/nodeRow.js';
import type { WorkStore } from './workStore.js';

/** Number of names in one batch. It limits the memory: each name needs a few kilobytes, twice. */
const BATCH_NAMES = 4000;

/** Number of key ranges that are read concurrently. */
const RANGES_AT_ONCE = 32;

export function isRefileFork(rules: ClaimRules, height: number): boolean {
  return height === rules.normalizationForkHeight;
}

/** Moves the items (claims and supports) to normalized names. The transactions of the block must have been processed before. */
export async function refileNames(store: WorkStore): Promise<void> {
  // A range read returns the rows as they were at its start, so it must start before the first batch is written.
  const nodes = nodeNames(store);
  let next = await nodes.next();
  store.settleNew();
  store.marking = true;
  await flushBatch(store);
  let batch: string[] = [];
  for (; !next.done; next = await nodes.next()) {
    const name = next.value;
    if (normalizeKey(name) === name) continue;
    batch.push(name);
    if (batch.length < BATCH_NAMES) continue;
    await refileBatch(store, batch);
    batch = [];
  }
  await refileBatch(store, batch);
}

/** Paths of all trie nodes in their state before the block, in byte order. */
async function* nodeNames(store: WorkStore): AsyncGenerator<string> {
  const prefix = CLAIM_PREFIX.node + store.generation;
  // Children of the visited nodes. The last entry is the next in byte order. Leaves are also stacked, because they have no
  // rows.
  const waiting: { path: string; leaf: boolean }[] = [];
  const leaf = (): string => {
    const next = waiting.pop()!;
    trieIntact(next.leaf, 'a node is missing');
    return next.path;
  };
  for await (const [key, row] of store.rows.range({ gte: prefix, lt: prefixEnd(prefix) })) {
    const path = key.slice(prefix.length);
    while (waiting.length > 0 && waiting.at(-1)!.path < path) yield leaf();
    if (waiting.at(-1)?.path === path) waiting.pop();
    yield path;
    const slots = unpackSlots(parseNodeRow(row).slots);
    for (let i = slots.length - 1; i >= 0; i--) {
      const { edge, leaf } = slots[i]!;
      waiting.push({ path: path + edge, leaf });
    }
  }
  while (waiting.length > 0) yield leaf();
}

async function refileBatch(store: WorkStore, batch: readonly string[]): Promise<void> {
  const { work } = store;
  const names = new Set(batch.flatMap((name) => [name, normalizeKey(name)]));
  await store.loadNames(names);
  await store.loadPaths(names);
  await store.loadItems(
    batch.flatMap((name) => work.name(name).state.claims.map(({ since, point }) => ({ name, since, point }))),
  );
  const supports = await activeSupports(store, batch);
  for (const name of batch) {
    refileName(work, name, supports.get(name) ?? []);
    if (store.yieldTimer.isDue) await store.yieldTimer.pause();
  }
  await store.settleRemovedNodes();
  await flushBatch(store);
}

/** The active supports of these names after the block's transactions, by name, in the order in which they became active. */
async function activeSupports(store: WorkStore, names: readonly string[]): Promise<Map<string, Item[]>> {
  const { work } = store;
  const found = new Map<string, Item[]>();
  const supported = names.filter((name) => countActiveSupports(work.name(name).state) > 0);
  for (let at = 0; at < supported.length; at += RANGES_AT_ONCE) {
    await Promise.all(
      supported.slice(at, at + RANGES_AT_ONCE).map(async (name) => {
        const filed = await aliveItems(store.rows, name, work.height - 1);
        const supports = filed
          .filter(({ kind, removed, activated }) => kind === 'support' && removed === 0 && activated !== 0)
          .sort(compareJoining);
        for (const support of supports) work.addItem(support);
        found.set(name, supports);
      }),
    );
  }
  return found;
}

async function flushBatch(store: WorkStore): Promise<void> {
  await store.flush(false);
  await store.rows.relieve();
}

/** Determines the controlling claims of all names that the block changed, and deletes the mark rows. */
export async function settleMarkedNames(store: WorkStore): Promise<void> {
  await flushBatch(store);
  for await (const names of namesToCheck(store)) {
    const { work } = store;
    await store.loadNames(names.flatMap((name) => [name, normalizeKey(name)]));
    await store.loadPaths(work.names.keys());
    const checks = findTakeovers(work, names);
    const waiting: NameWork[] = checks.flatMap((check) => (check.happened ? [check.work] : []));
    const pending = await store.loadPending(waiting);
    await store.yieldTimer.run(settleTakeovers(work, checks, (name) => pending.get(name) ?? []));
    await store.settleRemovedNodes();
    await flushBatch(store);
  }
  await store.writeNodes();
  for await (const names of markedNames(store, () => true)) {
    await store.loadNames(names);
    // The next steps process all loaded names, so every name of the batch must be loaded.
    for (const name of names) store.work.name(name);
    store.settleOwners();
    await store.flush(true);
    for (const name of names) store.forgetMark(name);
    await store.rows.relieve();
  }
}

/**
 * Names whose controlling claim must be determined, in batches. The names have the order of checking (`checkOrder`), unless
 * there are too many names to sort.
 */
async function* namesToCheck(store: WorkStore): AsyncGenerator<string[]> {
  const { checkOrder } = store.work;
  if (checkOrder.size >= MAX_ORDERED) {
    yield* markedNames(store, (check) => check);
    return;
  }
  const order = setOrder([...checkOrder]);
  for (let at = 0; at < order.length; at += BATCH_NAMES) yield order.slice(at, at + BATCH_NAMES);
}

/** Names with a mark row for which `wanted` returns true, in batches. */
async function* markedNames(store: WorkStore, wanted: (check: boolean) => boolean): AsyncGenerator<string[]> {
  let batch: string[] = [];
  const marks = { gte: CLAIM_PREFIX.mark, lt: prefixEnd(CLAIM_PREFIX.mark) };
  for await (const [key, row] of store.rows.range(marks)) {
    if (!wanted(parseMarkRow(row).check)) continue;
    batch.push(key.slice(CLAIM_PREFIX.mark.length));
    if (batch.length < BATCH_NAMES) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
