/**
 * Disconnects one block using its log. Restores every name, item (claim or support), queue and node, including the previous
 * activation and takeover heights. Reads the log backwards in chunks, to limit the memory.
 */
import { intact } from '../../claimtrie/corruption.js';
import type { Item } from '../../claimtrie/item.js';
import { countPending } from '../../claimtrie/nameState.js';
import { hashesAllClaims, isHashFork } from '../../claimtrie/rules.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import type { Bytes } from '../../util/bytes.js';
import { refuseLostTotals } from './claimCheck.js';
import { logKey, ownerKey, snapshotKey, SUMMARY_KEY } from './rows/claimKeys.js';
import { rebuildNodes } from './hashFork.js';
import { itemsSince } from './query/itemHistory.js';
import { countLogChunks, parseLogChunk, type ItemRef, type LogEvent } from './rows/logRow.js';
import { undoDifferences } from './lbcd/lbcdDifferences.js';
import { undoFleeting } from './lbcd/lbcdFleeting.js';
import { isRefileFork } from './refileFork.js';
import { undoStranded } from './query/stranded.js';
import { parseSummaryRow, putSummary } from './rows/summaryRow.js';
import { WorkStore, type ItemKey, type WorkStoreDeps } from './workStore.js';

/** Disconnects block `height`, which must be the latest connected block. Returns the root before it. */
export async function disconnectClaims(
  rules: ClaimRules,
  height: number,
  deps: WorkStoreDeps,
): Promise<Bytes> {
  const { rows } = deps;
  await undoStranded(rows, rules, height);
  await undoDifferences(rows, height);
  await undoFleeting(rows, height);
  const summaryRow = await rows.get(SUMMARY_KEY);
  const summary = parseSummaryRow(summaryRow);
  const rehashed = isHashFork(rules, height);
  const chunks = await countLogChunks(rows, height);
  if (chunks === 0 && !rehashed) return summary.root;
  if (!summaryRow) await refuseLostTotals(rows);
  const refiled = isRefileFork(rules, height);
  const generation = hashesAllClaims(rules, height) && !(rehashed && refiled) ? '1' : '0';
  const store = new WorkStore({ rules, height, summary, generation }, deps);
  store.undoing = true;
  store.writesNodes = refiled || !rehashed;
  // The normalization fork and the fork of the hash form are in this block. To disconnect it, the nodes of the old hash
  // form are needed. They may have been deleted, so they are rebuilt.
  if (refiled && rehashed) await rebuildNodes(rows, '0');
  for (let number = chunks - 1; number >= 0; number--) {
    const chunk = await rows.get(logKey(height, number));
    intact(chunk, `a part of the log of block ${height} is missing`);
    await undoEvents(store, parseLogChunk(height, chunk).reverse());
    rows.del(logKey(height, number));
    await store.flush(false);
    await rows.relieve();
  }
  await store.writeNodes();
  if (refiled) await deps.versions.eraseAll(rows, height);
  await deps.versions.endErasing(rows, height);
  // Nodes of the old hash form may have been deleted, so they are rebuilt.
  if (rehashed) summary.root = await rebuildNodes(rows, '0');
  putSummary(rows, summary);
  return summary.root;
}

/** Returns the names to which an event of the log refers. */
function namesOf(event: LogEvent): string[] {
  if (event.op === 'takeover' || event.op === 'snapshot') return [event.name];
  return event.op === 'refile' ? [event.ref.name, event.to.name] : [event.ref.name];
}

async function undoEvents(store: WorkStore, events: readonly LogEvent[]): Promise<void> {
  const names = new Set(events.flatMap(namesOf));
  await store.loadNames(names);
  await store.loadPaths(names);
  const items = await loadItems(store, events);
  for (const event of events) {
    undoEvent(store, event, (ref) => {
      const item = items.get(refKey(ref));
      intact(item, `a claim or support in the log of block ${store.work.height} is missing`);
      return item;
    });
    if (store.yieldTimer.isDue) await store.yieldTimer.pause();
  }
}

function refKey({ name, since, ordinal }: ItemRef): string {
  return `${since}:${ordinal}:${name}`;
}

/** All items (claims and supports) to which the events refer. */
async function loadItems(store: WorkStore, events: readonly LogEvent[]): Promise<Map<string, Item>> {
  const found = new Map<string, Item>();
  const { work } = store;
  const moved: ItemKey[] = [];
  const groups = new Map<string, ItemRef>();
  for (const event of events) {
    if (event.op === 'takeover' || event.op === 'snapshot') continue;
    if (event.op === 'refile') {
      const { ref, to, point } = event;
      moved.push({ ...ref, point }, { ...to, point });
    } else groups.set(`${event.ref.since}:${event.ref.name}`, event.ref);
  }
  await store.loadItems(moved);
  for (const { name, since, point } of moved) {
    const item = work.item(name, since, point);
    if (item) found.set(refKey(item), item);
  }
  for (const { name, since } of groups.values()) {
    for (const item of await itemsSince(store.rows, name, since, since)) {
      if (!found.has(refKey(item))) found.set(refKey(item), item);
    }
  }
  return found;
}

function undoEvent(store: WorkStore, event: LogEvent, find: (ref: ItemRef) => Item): void {
  const { work, rows } = store;
  switch (event.op) {
    case 'takeover': {
      const name = work.name(event.name);
      name.state.takeover = event.before;
      name.changed = name.claimsChanged = true;
      rows.del(ownerKey(event.name, work.height));
      return;
    }
    case 'snapshot': {
      const name = work.name(event.name);
      name.state.sinceSnapshot = event.before;
      name.changed = true;
      rows.del(snapshotKey(event.name, work.height));
      return;
    }
    case 'create': {
      const item = find(event.ref);
      takeOut(store, item);
      forget(store, item);
      if (item.kind !== 'support') work.claimIndex.set(item.claimId, null);
      return;
    }
    case 'refile': {
      const target = find(event.to);
      takeOut(store, target);
      forget(store, target);
      putBack(store, find(event.ref));
      return;
    }
    case 'activate': {
      const item = find(event.ref);
      takeOut(store, item);
      item.activated = 0;
      putBack(store, item);
      return;
    }
    default: {
      const item = find(event.ref);
      putBack(store, item);
      if (item.kind !== 'support') work.claimIndex.set(item.claimId, item.rawName);
    }
  }
}

/** Removes an item (claim or support) from the state of its name. */
function takeOut(store: WorkStore, item: Item): void {
  const { work } = store;
  const { state } = work.name(item.name);
  if (item.activated !== 0) work.leave(item, false);
  else {
    countPending(state, item.dueHeight, -1);
    store.unqueue(item);
  }
  state.alive--;
  work.name(item.name).changed = true;
}

/** Adds an item (claim or support) to the state of its name again, as pending or active. */
function putBack(store: WorkStore, item: Item): void {
  const { work } = store;
  const { state } = work.name(item.name);
  item.removed = 0;
  item.removal = 0;
  if (item.activated !== 0) work.enter(item);
  else {
    countPending(state, item.dueHeight, 1);
    store.queue(item);
  }
  state.alive++;
  work.name(item.name).changed = true;
  store.changedItems.add(item);
}

/** Deletes an item (claim or support), as if it had never been created. */
function forget(store: WorkStore, item: Item): void {
  store.work.name(item.name).state.sinceSnapshot--;
  store.changedItems.delete(item);
  store.deletedItems.add(item);
}
