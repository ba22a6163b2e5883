/**
 * Loads the rows that processing a block needs, and writes the results. Implements the prefetching (in batches, the trie
 * level by level), late reads (of rows that were not prefetched), and the order of writes. Contains no consensus rules.
 */
import {
  ClaimWork,
  itemId,
  type ClaimSource,
  type NameWork,
  type WorkEvent,
} from '../../claimtrie/claimWork.js';
import { setTakeover } from '../../claimtrie/blockEnd.js';
import { claimsHash } from '../../claimtrie/claimsHash.js';
import { trieIntact } from '../../claimtrie/corruption.js';
import type { Item } from '../../claimtrie/item.js';
import { emptyNameState, isBlank } from '../../claimtrie/nameState.js';
import type { TrieNode } from '../../claimtrie/trieNode.js';
import { WorkTrie, type BlockTrie } from '../../claimtrie/workTrie.js';
import { loadNative, type NativeAddon } from '../../native/binding.js';
import type { ClaimRules } from '../../claimtrie/types.js';
import type { Bytes } from '../../util/bytes.js';
import { assert } from '../../util/assert.js';
import { isPromise } from '../../util/maybePromise.js';
import { manyOf, type RowTransaction } from '../rows/rows.js';
import { YieldTimer } from '../../scheduler/yieldTimer.js';
import {
  CLAIM_PREFIX,
  claimIdKey,
  dueKey,
  itemKey,
  logKey,
  markKey,
  nameKey,
  nodeKey,
  ownerKey,
  snapshotKey,
  type Generation,
} from './rows/claimKeys.js';
import { formatItemRow, itemRowKey, parseItemRow } from './rows/itemRow.js';
import { aliveItems } from './query/itemHistory.js';
import type { IdleNames } from './idleNames.js';
import type { LateReads, LateRow } from './lateReads.js';
import { NativeTrie } from './nativeTrie.js';
import { LogWriter } from './rows/logRow.js';
import { formatMarkRow, formatOwnerRow, parseMarkRow } from './rows/markRow.js';
import { formatNameRow, parseNameRow } from './rows/nameRow.js';
import { formatNodeRow, parseNodeRow } from './rows/nodeRow.js';
import {
  compareDue,
  formatDueRow,
  formatSnapshotRow,
  mergeDue,
  parseDueRow,
  SNAPSHOT_ITEMS,
  type DueEntry,
} from './rows/queueRow.js';
import { CROWDED_ITEMS, putSupportRows } from './rows/supportRows.js';
import { moveTotals, totalsOf, type ClaimTotals, type Summary } from './rows/summaryRow.js';
import type { VersionWriter } from './versions.js';

/** Number of rows that are fetched and decoded between two yields to the event loop. Arbitrary. */
const ROWS_AT_ONCE = 2000;
const NO_NAMES: ReadonlySet<string> = new Set();
/** Maximum number of changed nodes in memory; each takes some hundred bytes. Arbitrary: most blocks change far fewer nodes. */
const MAX_DIRTY_NODES = 50_000;

export interface ItemKey {
  name: string;
  since: number;
  point: string;
}

export interface WorkStoreDeps {
  rows: RowTransaction;
  versions: VersionWriter;
  /** The loaded filter of idle names; null if every name must be looked up. */
  idle: IdleNames | null;
  lateReads: LateReads;
  /** Selects which rows are prefetched, by type and name; if absent, all are. */
  fetches?: ((row: LateRow, name: string) => boolean) | undefined;
}

/** The block that is being connected or disconnected, and the state of the trie before it. */
export interface BlockToWork {
  rules: ClaimRules;
  height: number;
  summary: Summary;
  /** Generation (hash form) of the trie that is read and changed. */
  generation: Generation;
  /**
   * Whether the addon may compute the trie. Not set for blocks that are processed in batches, nor for very large blocks, because the
   * addon does not yield.
   */
  mayUseAddon?: boolean;
}

export class WorkStore implements ClaimSource {
  readonly work: ClaimWork;
  readonly rows: RowTransaction;
  readonly yieldTimer = new YieldTimer();
  /** Generation (hash form) of the trie that is read and changed. */
  readonly generation: Generation;
  private readonly versions: VersionWriter;
  private readonly idle: IdleNames | null;
  private readonly lateReads: LateReads;
  private readonly fetches: (row: LateRow, name: string) => boolean;
  private readonly summary: Summary;
  /** The addon if it computes the trie, else null. */
  private readonly addon: NativeAddon | null;
  private readonly log: LogWriter;
  private readonly contributions = new Map<string, ClaimTotals>();
  /** Names that had many items (claims and supports) when they were loaded. */
  private readonly crowded = new Set<string>();
  private chunks = 0;
  /**
   * Events of the block's log, for notifications. Empty for a block that is processed in batches, because its log may be too
   * large.
   */
  readonly reported: WorkEvent[] = [];
  /** Whether the block is processed in batches. Mark rows then store the state of names at the start of the block. */
  marking = false;
  /** Whether nodes are hashed and written. False for the block that changes the hash form, because it rebuilds all nodes. */
  writesNodes = true;
  /** Whether the block is being disconnected. In that case no log is written, and the node history of the block is deleted. */
  undoing = false;
  /** Items (claims and supports) whose rows are changed or deleted without an event in the log. */
  readonly changedItems = new Set<Item>();
  readonly deletedItems = new Set<Item>();

  constructor({ rules, height, summary, generation, mayUseAddon }: BlockToWork, deps: WorkStoreDeps) {
    this.rows = deps.rows;
    this.versions = deps.versions;
    this.idle = deps.idle;
    this.lateReads = deps.lateReads;
    this.fetches = deps.fetches ?? (() => true);
    this.summary = summary;
    this.generation = generation;
    this.addon = mayUseAddon ? loadNative() : null;
    this.log = new LogWriter(height, (chunk) => {
      this.rows.put(logKey(height, this.chunks++), chunk);
    });
    this.work = new ClaimWork(rules, height, this);
  }

  readName(name: string): NameWork {
    this.lateReads.count('name');
    const mark = this.marking ? this.rows.getBlocking(markKey(name)) : undefined;
    return this.addName(name, this.rows.getBlocking(nameKey(name)), mark);
  }

  readItem(name: string, since: number, point: string): Item | null {
    this.lateReads.count('item');
    const row = this.rows.getBlocking(itemKey(name, since, point));
    const item = row ? parseItemRow(name, since, point, row) : null;
    this.work.items.set(itemId(name, since, point), item);
    return item;
  }

  readNode(path: string): TrieNode | null {
    const row = this.readNodeRow(path);
    return row && parseNodeRow(row);
  }

  private readNodeRow(path: string): Bytes | null {
    this.lateReads.count('node');
    return this.nodeRowOf(path, this.rows.getBlocking(nodeKey(this.generation, path)));
  }

  /**
   * Returns the row of a trie node: the root, or a node to which another node refers. Returns null for the root of an empty
   * trie. Throws `TrieCorruptionError` for any other missing row.
   */
  private nodeRowOf(path: string, row: Bytes | undefined): Bytes | null {
    if (row) return row;
    const isEmpty = path === '' && this.summary.totals.names === 0;
    trieIntact(isEmpty, 'a node is missing');
    return null;
  }

  makeTrie(): BlockTrie | null {
    const { addon, generation, rows } = this;
    if (addon === null) return null;
    return new NativeTrie(addon, {
      prefix: nodeKey(generation, ''),
      tables: () => rows.tablesOf?.(CLAIM_PREFIX.node) ?? null,
      readRow: (path) => this.readNodeRow(path),
    });
  }

  /**
   * Loads names. `rowless` are names that certainly have no row; they are not looked up. All names are added in the order of
   * `wanted`.
   */
  async loadNames(wanted: Iterable<string>, rowless: ReadonlySet<string> = NO_NAMES): Promise<void> {
    const { names } = this.work;
    const missing = [...new Set(wanted)].filter((name) => !names.has(name) && this.fetches('name', name));
    for (let at = 0; at < missing.length; at += ROWS_AT_ONCE) {
      const some = missing.slice(at, at + ROWS_AT_ONCE);
      const sought = rowless.size === 0 ? some : some.filter((name) => !rowless.has(name));
      const read = sought.length === 0 ? [] : manyOf(this.rows, sought.map(nameKey));
      const rows = isPromise(read) ? await read : read;
      const marks = this.marking ? await this.rows.getMany(sought.map(markKey)) : [];
      let next = 0;
      for (const name of some) {
        const i = rowless.has(name) ? -1 : next++;
        this.addName(name, rows[i], marks[i]);
      }
      if (this.yieldTimer.isDue) await this.yieldTimer.pause();
    }
  }

  private addName(name: string, row: Bytes | undefined, mark: Bytes | undefined): NameWork {
    const state = row ? parseNameRow(row) : emptyNameState();
    this.contributions.set(name, totalsOf(state));
    if (state.alive >= CROWDED_ITEMS) this.crowded.add(name);
    const best = state.claims[0];
    const known = mark ? parseMarkRow(mark) : null;
    const work: NameWork = {
      name,
      state,
      base: known?.base ?? {
        hadClaims: best !== undefined,
        ownerId: best?.claimId ?? '',
        takeover: state.takeover,
      },
      check: known?.check ?? false,
      changed: false,
      claimsChanged: false,
      nextOrdinal: known?.nextOrdinal ?? 0,
      newPending: new Set(),
    };
    this.work.names.set(name, work);
    return work;
  }

  /** Loads the items (claims and supports) at these keys. A key without a row counts as loaded, without an item. */
  async loadItems(wanted: readonly ItemKey[]): Promise<void> {
    const { items } = this.work;
    const missing = wanted.filter(
      ({ name, since, point }) => !items.has(itemId(name, since, point)) && this.fetches('item', name),
    );
    for (let at = 0; at < missing.length; at += ROWS_AT_ONCE) {
      const some = missing.slice(at, at + ROWS_AT_ONCE);
      const keys = some.map(({ name, since, point }) => itemKey(name, since, point));
      const read = manyOf(this.rows, keys);
      const rows = isPromise(read) ? await read : read;
      some.forEach(({ name, since, point }, i) => {
        const row = rows[i];
        const id = itemId(name, since, point);
        if (!items.has(id)) items.set(id, row ? parseItemRow(name, since, point, row) : null);
      });
      if (this.yieldTimer.isDue) await this.yieldTimer.pause();
    }
  }

  /**
   * Loads names, the trie nodes on their paths, and items (claims and supports). Names are added in the order of `names`,
   * because the order of the block's log depends on it.
   */
  async load(names: ReadonlySet<string>, items: readonly ItemKey[]): Promise<void> {
    if (names.size === 0 && items.length === 0) return;
    const [leaves] = await Promise.all([this.loadTrie(names), this.loadItems(items)]);
    const rowless = new Set([...names].filter((name) => this.isUnknown(name)));
    await this.loadNames([...names, ...leaves], rowless);
  }

  /**
   * Whether the name certainly has no row: it has no trie node, so no active claims, and is not idle. The nodes on its path
   * must be loaded.
   */
  private isUnknown(name: string): boolean {
    return !this.isKept(name) && !this.work.trie.knowsNode(name);
  }

  /**
   * Whether a name without active claims may have a row, or is loaded. If the block is processed in batches, the trie may be
   * newer than the rows, so the result is always true.
   */
  private isKept(name: string): boolean {
    return this.idle === null || this.marking || this.work.names.has(name) || this.idle.mayHold(name);
  }

  /**
   * Loads the trie nodes on the paths of these names. Also loads the names at leaves below which one of these names may be
   * added.
   */
  async loadPaths(names: Iterable<string>): Promise<void> {
    await this.loadNames(await this.loadTrie(names));
  }

  /** Loads the trie nodes on the paths of these names. Returns the leaves below which one of these names may be added. */
  private async loadTrie(names: Iterable<string>): Promise<Set<string>> {
    const { trie } = this.work;
    const loaded = [...names].filter((name) => this.fetches('node', name));
    if (trie instanceof NativeTrie) return this.loadNative(trie, loaded);
    const own = ownTrie(trie);
    const leaves = new Set<string>();
    own.begin(loaded);
    for (let wanted = own.wanted(leaves); wanted.length > 0; wanted = own.wanted(leaves)) {
      await this.supplyRows(wanted, (path, row) => own.supply(path, row && parseNodeRow(row)));
    }
    return leaves;
  }

  private async loadNative(trie: NativeTrie, names: readonly string[]): Promise<Set<string>> {
    for (let wanted = trie.load(names); wanted.length > 0; wanted = trie.load()) {
      await this.supplyRows(wanted, (path, row) => trie.supply(path, row));
    }
    return new Set(trie.takeLeaves());
  }

  /** Reads the rows of the trie nodes at these paths. */
  private async supplyRows(
    paths: readonly string[],
    supply: (path: string, row: Bytes | null) => void,
  ): Promise<void> {
    const read = manyOf(
      this.rows,
      paths.map((path) => nodeKey(this.generation, path)),
    );
    const rows = isPromise(read) ? await read : read;
    paths.forEach((path, i) => supply(path, this.nodeRowOf(path, rows[i])));
    if (this.yieldTimer.isDue) await this.yieldTimer.pause();
  }

  async loadDue(height: number): Promise<DueEntry[]> {
    return parseDueRow(await this.rows.get(dueKey(height)));
  }

  /** Loads the stored pending items (claims and supports) of these names. Returns the items by name, the oldest first. */
  async loadPending(names: readonly NameWork[]): Promise<Map<string, Item[]>> {
    const pending = new Map<string, Item[]>();
    const dues = new Set<number>();
    for (const { name, state } of names) {
      if (state.pending.size === 0) continue;
      pending.set(name, []);
      for (const due of state.pending.keys()) dues.add(due);
    }
    if (dues.size === 0) return pending;
    const read = manyOf(this.rows, [...dues].map(dueKey));
    const rows = isPromise(read) ? await read : read;
    const entries = rows.flatMap((row) => parseDueRow(row).filter((entry) => pending.has(entry.name)));
    await this.loadItems(entries);
    for (const { name, since, point } of entries.sort(compareDue)) {
      const item = this.work.item(name, since, point);
      if (item && item.removed === 0 && item.activated === 0) pending.get(name)!.push(item);
    }
    return pending;
  }

  /** Logs the block's new items (claims and supports) that are still pending, and adds them to the queue of pending items. */
  settleNew(): void {
    const { work } = this;
    for (const name of work.names.values()) {
      for (const item of name.newPending) {
        work.recordCreation(item);
        item.isNew = false;
        this.queue(item);
      }
      name.newPending.clear();
    }
    work.newDue.clear();
  }

  /** Adds the item (claim or support) to the queue of pending items, in the row of its due height. */
  queue(item: Item): void {
    moveItem(item, this.work.dueRemoved, this.work.dueAdded);
  }

  /** Removes the item (claim or support) from the queue of pending items. */
  unqueue(item: Item): void {
    moveItem(item, this.work.dueAdded, this.work.dueRemoved);
  }

  /**
   * Logs and stores every change of a controlling claim or a takeover height. A name without a trie node has no takeover
   * height.
   */
  settleOwners(): void {
    const { work } = this;
    for (const name of work.names.values()) {
      const { state, base } = name;
      const hasClaims = state.claims.length > 0;
      if (state.takeover === base.takeover && hasClaims === base.hadClaims) continue;
      const { takeover: before, ownerId: formerId } = base;
      work.events.push({ op: 'takeover', name: name.name, before, owner: state.claims[0], formerId });
      const row = formatOwnerRow({ hasClaims, takeover: state.takeover }, work.height);
      this.rows.put(ownerKey(name.name, work.height), row);
    }
  }

  /**
   * Deletes the takeover height of names whose node without claims was removed from the trie. The root keeps its takeover
   * height.
   */
  async settleRemovedNodes(): Promise<void> {
    const { work } = this;
    const paths = work.trie.takeRemovedPaths().filter((path) => this.isKept(path));
    if (paths.length === 0) return;
    await this.loadNames(paths);
    for (const path of paths) {
      const name = work.name(path);
      const { state } = name;
      if (path !== '' && state.claims.length === 0 && state.takeover !== work.height) setTakeover(name, 0);
    }
  }

  /**
   * Writes all changes except nodes and summary, and clears them. `final`: no later batch changes these names.
   * `leavesNames`: the names stay loaded, because the caller uses them (only for the last call). `writeNodes` writes the
   * nodes; `flush` calls it if there are too many nodes.
   */
  async flush(final: boolean, leavesNames = false): Promise<void> {
    const { work, rows } = this;
    await this.hashClaims();
    await this.putItems();
    if (final) await this.putSnapshots();
    await this.putDue();
    for (const [claimId, name] of work.claimIndex) {
      if (name === null) rows.del(claimIdKey(claimId));
      else rows.put(claimIdKey(claimId), Buffer.from(name, 'latin1'));
    }
    for (const name of work.names.values()) {
      this.putName(name);
      if (this.yieldTimer.isDue) await this.yieldTimer.pause();
    }
    for (const event of work.events) {
      this.log.add(event);
      if (!this.marking) this.reported.push(event);
    }
    if (!leavesNames) work.names.clear();
    work.items.clear();
    work.events.length = 0;
    work.claimIndex.clear();
    this.contributions.clear();
    if (work.trie.dirtyCount > MAX_DIRTY_NODES) await this.writeNodes();
  }

  /** Deletes the mark row of the name (its state at the start of the block). */
  forgetMark(name: string): void {
    this.rows.del(markKey(name));
  }

  /** Writes the part of the block's log that is not written yet. */
  finish(): void {
    this.log.finish();
  }

  /** Sets the hash of the claims of every changed node while its name is loaded. */
  private async hashClaims(): Promise<void> {
    const { work } = this;
    const { trie } = work;
    for (const name of work.names.values()) {
      if (name.claimsChanged && name.state.claims.length > 0) trie.touch(name.name);
    }
    if (!this.writesNodes) return;
    const hashOf = (name: string): Bytes | null => {
      const { claims, takeover } = work.name(name).state;
      return claimsHash(claims, takeover, this.generation === '1');
    };
    if (trie instanceof NativeTrie) {
      trie.hashClaims(hashOf);
      return;
    }
    const own = ownTrie(trie);
    for (const node of own.unhashedNodes()) {
      own.setClaimsHash(node, hashOf(node.path));
      if (this.yieldTimer.isDue) await this.yieldTimer.pause();
    }
  }

  /** Hashes and writes the changed nodes. Afterwards the loaded trie is empty, so paths must be loaded again. */
  async writeNodes(): Promise<void> {
    const { work } = this;
    const { trie } = work;
    const allClaims = this.generation === '1';
    work.trie = work.newTrie();
    if (trie instanceof NativeTrie) {
      await this.writeNativeNodes(trie);
      return;
    }
    const own = ownTrie(trie);
    const dirty = own.dirtyNodes();
    if (!this.writesNodes || dirty.length === 0) return;
    for (const node of dirty) {
      own.hashNode(node, allClaims);
      if (this.yieldTimer.isDue) await this.yieldTimer.pause();
    }
    this.summary.root = own.rootHash(allClaims);
    const changes = own.changes();
    for (const { path, after } of changes) {
      const key = nodeKey(this.generation, path);
      if (after) this.rows.put(key, formatNodeRow(after));
      else this.rows.del(key);
      if (this.yieldTimer.isDue) await this.yieldTimer.pause();
    }
    if (this.undoing) await this.versions.erase(this.rows, this.generation, work.height, changes);
    else await this.versions.write(this.rows, this.generation, work.height, changes, this.marking);
    if (this.marking) await this.rows.relieve();
  }

  private async writeNativeNodes(trie: NativeTrie): Promise<void> {
    const { work, versions, rows } = this;
    if (trie.dirtyCount === 0) {
      trie.release();
      return;
    }
    const { height } = work;
    const allClaims = this.generation === '1';
    const written = trie.finish(allClaims, height, versions.notePrefix(this.generation, height));
    this.summary.root = written.root;
    rows.putRecords(CLAIM_PREFIX.node + CLAIM_PREFIX.version, written.records);
    if (written.hasNotes) await versions.noteFirst(rows, height);
  }

  private async putItems(): Promise<void> {
    const changed = this.changedItems;
    for (const event of this.work.events) {
      if ('item' in event) changed.add(event.item);
      if (event.op === 'refile') changed.add(event.to);
    }
    for (const item of changed) {
      this.rows.put(itemRowKey(item), formatItemRow(item));
      if (this.yieldTimer.isDue) await this.yieldTimer.pause();
    }
    for (const item of this.deletedItems) this.rows.del(itemRowKey(item));
    await this.putSupports();
    changed.clear();
    this.deletedItems.clear();
  }

  /** Updates the rows that index supports by claim, for names with many items (`supportRows.ts`). */
  private async putSupports(): Promise<void> {
    const { work, changedItems, deletedItems } = this;
    const names = new Map<string, { name: string; alive: number; supports: Map<Item, boolean> }>();
    for (const { name, changed, state } of work.names.values()) {
      if (changed && (state.alive >= CROWDED_ITEMS || this.crowded.has(name)))
        names.set(name, { name, alive: state.alive, supports: new Map() });
    }
    if (names.size === 0) return;
    for (const item of changedItems)
      if (item.kind === 'support') names.get(item.name)?.supports.set(item, item.removed === 0);
    for (const item of deletedItems)
      if (item.kind === 'support') names.get(item.name)?.supports.set(item, false);
    await putSupportRows(this.rows, work.height, [...names.values()]);
    this.crowded.clear();
  }

  private async putSnapshots(): Promise<void> {
    const { work } = this;
    for (const { name, state } of work.names.values()) {
      if (state.sinceSnapshot < Math.max(SNAPSHOT_ITEMS, 2 * state.alive)) continue;
      const alive = await aliveItems(this.rows, name, work.height);
      this.rows.put(snapshotKey(name, work.height), formatSnapshotRow(alive));
      work.events.push({ op: 'snapshot', name, before: state.sinceSnapshot });
      state.sinceSnapshot = 0;
    }
  }

  private async putDue(): Promise<void> {
    const { dueAdded, dueRemoved } = this.work;
    const heights = [...new Set([...dueAdded.keys(), ...dueRemoved.keys()])];
    if (heights.length === 0) return;
    const read = manyOf(this.rows, heights.map(dueKey));
    const rows = isPromise(read) ? await read : read;
    heights.forEach((height, i) => {
      const merged = mergeDue(parseDueRow(rows[i]), dueAdded.get(height) ?? [], dueRemoved.get(height));
      if (merged.length > 0) this.rows.put(dueKey(height), formatDueRow(merged));
      else this.rows.del(dueKey(height));
    });
    dueAdded.clear();
    dueRemoved.clear();
  }

  private putName(name: NameWork): void {
    const { state } = name;
    if (this.marking && (name.changed || name.check)) this.rows.put(markKey(name.name), formatMarkRow(name));
    if (!name.changed) return;
    moveTotals(this.summary.totals, this.contributions.get(name.name)!, totalsOf(state));
    if (isBlank(state)) this.rows.del(nameKey(name.name));
    else this.rows.put(nameKey(name.name), formatNameRow(state));
    if (state.claims.length === 0 && !isBlank(state)) this.idle?.add(this.rows, name.name);
  }
}

/** The trie of a block for which the addon is not used. */
function ownTrie(trie: BlockTrie): WorkTrie {
  assert(trie instanceof WorkTrie, 'the trie of the addon has no nodes in JavaScript');
  return trie;
}

function moveItem(item: Item, from: Map<number, Set<Item>>, to: Map<number, Set<Item>>): void {
  if (from.get(item.dueHeight)?.delete(item)) return;
  const items = to.get(item.dueHeight) ?? new Set<Item>();
  to.set(item.dueHeight, items.add(item));
}
