/**
 * Connects one block: loads the rows that the block may change, runs the steps of the claim trie, and stores the result.
 * Defines the order of loading and computing. `refileFork.ts` and `hashFork.ts` handle the fork blocks that change every
 * name.
 */
import { checkingOrder, findTakeovers, processDue, settleTakeovers } from '../../claimtrie/blockEnd.js';
import { namesInvolved, processTransaction, spendCandidates } from '../../claimtrie/blockTransactions.js';
import type { ClaimOperation, WorkEvent } from '../../claimtrie/claimWork.js';
import { compareCreation, pointKey, REMOVAL, type Item } from '../../claimtrie/item.js';
import type { NameState } from '../../claimtrie/nameState.js';
import { expiringCreation, hashesAllClaims, isHashFork } from '../../claimtrie/rules.js';
import type { ClaimBlock, ClaimEvent, ClaimRules } from '../../claimtrie/types.js';
import { toLatin1, type Bytes } from '../../util/bytes.js';
import { isPromise } from '../../util/maybePromise.js';
import { manyOf } from '../rows/rows.js';
import { refuseLostTotals } from './claimCheck.js';
import { describeEvents } from './query/claimEvents.js';
import { dueKey, SUMMARY_KEY } from './rows/claimKeys.js';
import { rebuildNodes } from './hashFork.js';
import { itemsByOrdinal } from './query/itemHistory.js';
import { readLog } from './rows/logRow.js';
import { isRefileFork, refileNames, settleMarkedNames } from './refileFork.js';
import { parseDueRow, type DueEntry } from './rows/queueRow.js';
import { noteDifference } from './lbcd/lbcdDifferences.js';
import { noteFleeting, type FleetingClaim } from './lbcd/lbcdFleeting.js';
import { spendStranded, strandSupports } from './query/stranded.js';
import { parseSummaryRow, putSummary, type ClaimTotals } from './rows/summaryRow.js';
import { noteDropped } from './versions.js';
import { WorkStore, type ItemKey, type WorkStoreDeps } from './workStore.js';

/** An event of the log of a block, as indexes read it. */
export type LoggedEvent =
  | { readonly op: 'create' | 'spend' | 'expire' | 'activate'; readonly item: Item }
  | { readonly op: 'takeover'; readonly name: string }
  | { readonly op: 'refile' | 'snapshot' };

/** What a block changed in the trie, for indexes. */
export interface TrieChanges {
  /**
   * Log of the block. Items (claims and supports) are in their state at the end of the block. Null for the normalization
   * fork's block, which moves names.
   */
  readonly log: readonly LoggedEvent[] | null;
  /** States after the block of at least all changed names. Empty for the normalization fork's block, which moves names. */
  readonly names: NamesAfter;
  /** The claims and updates that the block created and spent, in the order of the spends. The log does not contain them. */
  readonly fleeting: readonly FleetingClaim[];
  /** Totals of the trie after the block. */
  readonly totals: ClaimTotals;
}

export interface ConnectedClaims extends TrieChanges {
  /** Root of the trie after the block. The caller compares it with the claim root in the block's header. */
  root: Bytes;
  readonly report: ClaimReport;
}

/** The part of a connected block's result that callers may keep for longer. */
export interface ClaimReport {
  /** Effects of the block on claims, computed when they are first read. Empty for the block of the normalization fork. */
  readonly events: readonly ClaimEvent[];
}

/**
 * The state of a name after a block. If the addon connected the block, it has only those claims and sums of supports whose claim
 * ids occur in the log of the block.
 */
export type StateAfter = Pick<NameState, 'claims' | 'dangling' | 'alive' | 'index'>;
export type NamesAfter = ReadonlyMap<string, { readonly state: StateAfter }>;

const NO_NAMES: NamesAfter = new Map();
/**
 * Approximate maximum number of changed items for which the addon computes the trie. It does so without yielding, while `WorkTrie`
 * works in slices. Arbitrary.
 */
const MANY_CHANGES = 2000;
/** Approximate size in bytes of an item in the row of due items. */
const DUE_BYTES = 50;

export async function connectClaims(
  rules: ClaimRules,
  block: ClaimBlock,
  deps: WorkStoreDeps,
): Promise<ConnectedClaims> {
  const { rows } = deps;
  const { height } = block;
  await noteDropped(rows, deps.versions.window, height);
  const read = manyOf(rows, [SUMMARY_KEY, dueKey(height)]);
  const [summaryRow, dueRow] = isPromise(read) ? await read : read;
  const summary = parseSummaryRow(summaryRow);
  const generation = hashesAllClaims(rules, height - 1) ? '1' : '0';
  const expiring = await expiringItems(rules, height, deps);
  await noteDifference(rows, rules, block, async () => {
    const unextended = { ...rules, extendedExpirationForkHeight: height + 1 };
    return (await expiringItems(unextended, height, deps)).length > 0;
  });
  const refiles = isRefileFork(rules, height);
  const rehashes = isHashFork(rules, height);
  if (block.transactions.length === 0 && !dueRow && expiring.length === 0 && !refiles && !rehashes) {
    const { root, totals } = summary;
    return { root, totals, report: { events: [] }, log: [], names: NO_NAMES, fleeting: [] };
  }
  if (!summaryRow) await refuseLostTotals(rows);
  const isSmall =
    block.transactions.length + expiring.length + (dueRow?.length ?? 0) / DUE_BYTES <= MANY_CHANGES;
  const mayUseAddon = isSmall && !refiles && !rehashes;
  const store = new WorkStore({ rules, height, summary, generation, mayUseAddon }, deps);
  const { work } = store;
  // The normalization fork's block changes stored nodes batch by batch. If only the hash form changes, the nodes of the
  // old form must stay unchanged.
  store.writesNodes = refiles || !rehashes;

  await processTransactions(store, block);
  await spendStranded(rows, rules, block);
  const fleeting = noteFleeting(rows, work);
  if (refiles) {
    await refileNames(store);
    await strandSupports(rows, height);
  }
  // In the normalization fork's block, moving the names may have changed the row of due items (claims and supports), so
  // the row is read again.
  await processDueItems(store, refiles ? await store.loadDue(height) : parseDueRow(dueRow), expiring);
  if (refiles) await settleMarkedNames(store);
  else await settle(store);
  await store.flush(true, !refiles);
  await store.writeNodes();
  store.finish();
  if (dueRow || refiles) rows.del(dueKey(height));
  if (rehashes) summary.root = await rebuildNodes(rows, '1');
  putSummary(rows, summary);
  const { operations } = work;
  const { reported } = store;
  return {
    root: summary.root,
    report: refiles ? { events: [] } : reportOf(operations, reported),
    log: refiles ? null : reported,
    names: refiles ? NO_NAMES : work.names,
    fleeting,
    totals: summary.totals,
  };
}

function reportOf(operations: readonly ClaimOperation[], log: readonly WorkEvent[]): ClaimReport {
  return {
    get events() {
      return describeEvents(operations, log);
    },
  };
}

export async function processTransactions(store: WorkStore, block: ClaimBlock): Promise<void> {
  const { work } = store;
  const { rules, height } = work;
  const names = new Set<string>();
  const items: ItemKey[] = [];
  for (const { spends, outputs } of block.transactions) {
    for (const spend of spends) {
      for (const name of namesInvolved(rules, height, toLatin1(spend.name))) names.add(name);
      if (spend.coinHeight === height) continue;
      const point = pointKey(spend.txid, spend.n);
      for (const { name, since } of spendCandidates(rules, height, spend)) items.push({ name, since, point });
    }
    for (const output of outputs) {
      for (const name of namesInvolved(rules, height, toLatin1(output.name))) names.add(name);
    }
  }
  await store.load(names, items);
  for (const tx of block.transactions) {
    processTransaction(work, tx);
    if (store.yieldTimer.isDue) await store.yieldTimer.pause();
  }
}

/**
 * Processes the items (claims and supports) that become active or expire at this height: items from the queue of due items,
 * and items that reach the end of their term.
 */
export async function processDueItems(
  store: WorkStore,
  entries: readonly DueEntry[],
  expiring: readonly Item[],
): Promise<void> {
  const { work } = store;
  const names = new Set<string>();
  for (const { name } of [...entries, ...expiring]) {
    for (const involved of namesInvolved(work.rules, work.height, name)) names.add(involved);
    names.add(name);
  }
  await store.load(names, entries);
  const due: Item[] = [];
  for (const { name, since, point } of entries) {
    const item = work.item(name, since, point);
    if (item && item.removed === 0 && item.activated === 0) due.push(item);
  }
  await store.loadItems(expiring);
  await store.loadItems(
    expiring.flatMap((item) =>
      item.removal === REMOVAL.refiled
        ? namesInvolved(work.rules, work.height, item.name).map((name) => ({
            name,
            since: item.removed,
            point: item.point,
          }))
        : [],
    ),
  );
  const ending = expiring.map((item) => work.item(item.name, item.since, item.point) ?? item);
  await store.yieldTimer.run(processDue(work, due, ending));
}

/** Determines the controlling claims, and stores the new items that are still pending. */
export async function settle(store: WorkStore): Promise<void> {
  const { work } = store;
  const checks = findTakeovers(work, checkingOrder(work));
  const pending = await store.loadPending(checks.flatMap((check) => (check.happened ? [check.work] : [])));
  await store.yieldTimer.run(settleTakeovers(work, checks, (name) => pending.get(name) ?? []));
  store.settleNew();
  await store.settleRemovedNodes();
  store.settleOwners();
}

/**
 * The items (claims and supports) that expire in the block at `height`, if they are unspent or were moved: those created one
 * term earlier. Claims and supports are in the order of creation.
 */
export async function expiringItems(
  rules: ClaimRules,
  height: number,
  { rows }: Pick<WorkStoreDeps, 'rows'>,
): Promise<Item[]> {
  const created = expiringCreation(rules, height);
  if (created < 0) return [];
  const refs = (await readLog(rows, created)).flatMap((event) => (event.op === 'create' ? [event.ref] : []));
  const known = new Map<string, Map<number, Item>>();
  const items: Item[] = [];
  for (const { name, ordinal } of refs) {
    let filed = known.get(name);
    if (!filed) known.set(name, (filed = await itemsByOrdinal(rows, name, created)));
    const item = filed.get(ordinal);
    if (item && (item.removed === 0 || item.removal === REMOVAL.refiled)) items.push(item);
  }
  return items.sort(compareCreation);
}
