/**
 * The claim trie while a block is being connected: its names, items (claims and supports) and paths, prefetched or read on
 * first use, and the elementary changes that the steps of a block consist of. Does the bookkeeping of one block; the order
 * of the steps is in `blockTransactions.ts` and `blockEnd.ts`, loading and storing in `store/claims`. Everything is
 * synchronous. Source: lbrycrd `CClaimTrieCacheBase`, whose working copy decides some outcomes (see the workarounds below).
 */
import type { Bytes } from '../util/bytes.js';
import { MAX_ORDERED } from './checkOrder.js';
import { REMOVAL, type Item, type Removal } from './item.js';
import { normalizeKey } from './nameKey.js';
import {
  addActiveClaim,
  addSupport,
  countPending,
  removeActiveClaim,
  type ActiveClaim,
  type NameState,
} from './nameState.js';
import {
  filesNormalized,
  inRemovalWorkaround,
  inTakeoverWorkaround,
  isHashFork,
  matchesNormalized,
} from './rules.js';
import type { TrieNode } from './trieNode.js';
import type { ClaimRules, ClaimSpend } from './types.js';
import { WorkTrie, type BlockTrie } from './workTrie.js';

/** State of a name at the start of the block. */
export interface NameBase {
  hadClaims: boolean;
  /** Claim id of the owner (controlling claim); empty if the name has no claims. */
  ownerId: string;
  takeover: number;
}

export interface NameWork {
  readonly name: string;
  readonly state: NameState;
  readonly base: NameBase;
  /** Whether the owner must be decided again at the end of the block. */
  check: boolean;
  /** Whether the state of the name differs from the stored row. */
  changed: boolean;
  /** Whether the claims' part of the node's hash must be recomputed. */
  claimsChanged: boolean;
  /** Next number for an item (claim or support) that is stored under this name in this block. */
  nextOrdinal: number;
  /** Items created in this block that are pending under this name. */
  newPending: Set<Item>;
}

/** One event of the block's log; disconnecting reverts the events in order. */
export type WorkEvent =
  | { op: 'create' | 'spend' | 'expire' | 'activate'; item: Item }
  | { op: 'refile'; item: Item; to: Item }
  | { op: 'takeover'; name: string; before: number; owner: ActiveClaim | undefined; formerId: string }
  | { op: 'snapshot'; name: string; before: number };

/**
 * Effect of a transaction on an item (claim or support): the transaction created the item, or the transaction with this id
 * spent it.
 */
export interface ClaimOperation {
  readonly item: Item;
  readonly spentBy: Bytes | null;
}

/** Name whose controlling claim changes. `findTakeovers` returns it, and `settleTakeovers` applies the change. */
export interface TakeoverCheck {
  work: NameWork;
  happened: boolean;
}

/**
 * Synchronous source of data that was not prefetched. The source also adds each result to `names` or `items` of the
 * `ClaimWork`. Prefetching only saves time: the result of a block must not depend on it.
 */
export interface ClaimSource {
  /** Reads the stored name. Returns an empty name if there is none. */
  readName(name: string): NameWork;
  /** The stored item (claim or support); null if there is none. */
  readItem(name: string, since: number, point: string): Item | null;
  /** See `RecordSource`. */
  readNode(path: string): TrieNode | null;
  /** Creates a trie with no loaded nodes. If it returns null or is absent, a `WorkTrie` is used. */
  makeTrie?(): BlockTrie | null;
}

export function itemId(name: string, since: number, point: string): string {
  return String.fromCharCode(since >>> 16, since & 0xffff) + point + name;
}

export class ClaimWork {
  readonly rules: ClaimRules;
  readonly height: number;
  readonly names = new Map<string, NameWork>();
  /** Loaded items (claims and supports) by id. Null means that the item is known not to exist. */
  readonly items = new Map<string, Item | null>();
  trie: BlockTrie;
  readonly events: WorkEvent[] = [];
  /**
   * Effects of the block's transactions, in order; unlike the log, they include items (claims and supports) created and
   * removed within the block.
   */
  readonly operations: ClaimOperation[] = [];
  /** Spends of outputs that the trie does not contain: expired outputs, and outputs that never took effect. */
  readonly unknownSpends: ClaimSpend[] = [];
  /** Changes to the due queue by height: items (claims and supports) added and removed. */
  readonly dueAdded = new Map<number, Set<Item>>();
  readonly dueRemoved = new Map<number, Set<Item>>();
  /** Items that enter the trie at the end of the block without having been stored as pending, oldest first. */
  readonly newDue = new Set<Item>();
  /** Changes to the index of claim ids: the raw name for a new or changed row, null for a removed row. */
  readonly claimIndex = new Map<string, string | null>();
  /** Names to be checked for takeovers, in the order of their first request. */
  readonly checkOrder = new Set<string>();
  readonly matchesNormalized: boolean;
  readonly filesNormalized: boolean;
  /**
   * Names that lost their last claim in this block while they had a child. QUIRK: the next delay lookup for such a name
   * finds no owner (controlling claim). Only the first lookup is affected. Source: `removalWorkaround`. Test:
   * test/unit/claimtrie/workarounds.test.ts.
   */
  readonly removalFlags = new Set<string>();
  /**
   * Names that lost a support in this block while the reference's working copy of the trie did not contain them. The value
   * becomes true once the name is created again. QUIRK: the takeover height of these names becomes the height of this block.
   * Source: `takeoverWorkaround`. Test: test/unit/claimtrie/workarounds.test.ts.
   */
  private readonly takeoverFlags = new Map<string, boolean>();
  /** Nodes whose children are in the working copy of the trie that the reference would have. Source: `cacheData`. */
  private readonly expanded = new Set<string>();
  private readonly watchesTakeovers: boolean;
  private readonly watchesRemovals: boolean;
  private readonly source: ClaimSource;

  constructor(rules: ClaimRules, height: number, source: ClaimSource) {
    this.rules = rules;
    this.height = height;
    this.source = source;
    this.trie = this.newTrie();
    this.matchesNormalized = matchesNormalized(rules, height);
    this.filesNormalized = filesNormalized(rules, height);
    this.watchesTakeovers = inTakeoverWorkaround(rules, height);
    this.watchesRemovals = inRemovalWorkaround(rules, height);
  }

  /** Creates a trie with no loaded nodes. It reads missing nodes from the source. */
  newTrie(): BlockTrie {
    return this.source.makeTrie?.() ?? new WorkTrie((path) => this.source.readNode(path));
  }

  /** Returns the name; reads it if it is not loaded. */
  name(name: string): NameWork {
    return this.names.get(name) ?? this.source.readName(name);
  }

  /** Returns the item (claim or support); reads it unless it is loaded or known not to exist. */
  item(name: string, since: number, point: string): Item | null {
    const item = this.items.get(itemId(name, since, point));
    return item === undefined ? this.source.readItem(name, since, point) : item;
  }

  /** The item (claim or support) created by an output of this block, if it still exists: it has no row yet. */
  ownItem(name: string, point: string): Item | null {
    return this.items.get(itemId(name, this.height, point)) ?? null;
  }

  addItem(item: Item): void {
    this.items.set(itemId(item.name, item.since, item.point), item);
  }

  /** Requests that the owner of the name is decided again at the end of the block. */
  requestCheck(work: NameWork): void {
    work.check = true;
    if (this.checkOrder.size < MAX_ORDERED) this.checkOrder.add(work.name);
  }

  /** Adds a new item (claim or support) to the queue of pending items, under the name of the item. */
  queueNew(item: Item): void {
    const work = this.name(item.name);
    this.addItem(item);
    countPending(work.state, item.dueHeight, 1);
    work.state.alive++;
    work.changed = true;
    work.newPending.add(item);
    if (item.dueHeight === this.height) this.newDue.add(item);
    if (item.kind !== 'support') this.claimIndex.set(item.claimId, item.rawName);
  }

  /** Removes a pending item (claim or support) from the queue, because it is activated or removed. */
  private unqueue(item: Item): void {
    const work = this.name(item.name);
    countPending(work.state, item.dueHeight, -1);
    work.changed = true;
    if (item.isNew) {
      work.newPending.delete(item);
      this.newDue.delete(item);
    } else if (item.dueHeight !== this.height) {
      addTo(this.dueRemoved, item.dueHeight, item);
    }
  }

  spendPending(item: Item): void {
    this.unqueue(item);
    this.name(item.name).state.alive--;
    if (item.isNew) this.items.set(itemId(item.name, item.since, item.point), null);
    else this.close(item, REMOVAL.spent);
    if (item.kind !== 'support') this.claimIndex.set(item.claimId, null);
  }

  private close(item: Item, removal: Removal): void {
    item.removed = this.height;
    item.removal = removal;
    if (removal !== REMOVAL.refiled)
      this.events.push({ op: removal === REMOVAL.spent ? 'spend' : 'expire', item });
  }

  /** Activates a pending item (claim or support) in the trie. Source: `addToCache`. */
  activate(item: Item): void {
    this.unqueue(item);
    const name = this.filesNormalized ? normalizeKey(item.name) : item.name;
    const target = name === item.name ? item : this.refile(item, name);
    target.activated = this.height;
    if (target.isNew) this.recordCreation(target);
    else this.events.push({ op: 'activate', item: target });
    this.enter(target);
  }

  /** Logs the creation of an item (claim or support) and assigns its number. */
  recordCreation(item: Item): void {
    this.number(item);
    this.events.push({ op: 'create', item });
  }

  private number(item: Item): void {
    const work = this.name(item.name);
    item.ordinal = work.nextOrdinal++;
    work.state.sinceSnapshot++;
    work.changed = true;
  }

  /** Stores an item (claim or support) under another name; the caller moves its amount. Returns the item under the new name. */
  refile(item: Item, name: string): Item {
    const from = this.name(item.name);
    const to = this.name(name);
    from.state.alive--;
    to.state.alive++;
    from.changed = to.changed = true;
    if (item.isNew) {
      this.items.set(itemId(item.name, item.since, item.point), null);
      item.name = name;
      this.addItem(item);
      return item;
    }
    const target: Item = { ...item, name, since: this.height };
    this.close(item, REMOVAL.refiled);
    this.addItem(target);
    this.number(target);
    this.events.push({ op: 'refile', item, to: target });
    return target;
  }

  /** Adds the item's weight to the trie at its name. Source: `insertClaimIntoTrie`, `insertSupportIntoMap`. */
  enter(item: Item): void {
    const work = this.name(item.name);
    work.changed = true;
    if (item.kind === 'support') {
      if (this.trie.isNode(item.name)) this.requestCheck(work);
      if (addSupport(work.state, item.claimId, item.amount)) work.claimsChanged = true;
      return;
    }
    if (work.state.claims.length === 0) {
      if (this.watchesTakeovers && this.takeoverFlags.has(item.name) && !this.trie.isNode(item.name))
        this.takeoverFlags.set(item.name, true);
      this.trie.insert(item.name);
    }
    addActiveClaim(work.state, item);
    work.claimsChanged = true;
    this.requestCheck(work);
  }

  /** Removes an item's amount from the state of its name. Source: `removeClaimFromTrie`, `removeSupportFromMap`. */
  leave(item: Item, check: boolean): void {
    const work = this.name(item.name);
    work.changed = true;
    if (item.kind === 'support') {
      if (check && this.trie.isNode(item.name)) this.requestCheck(work);
      if (addSupport(work.state, item.claimId, -item.amount)) work.claimsChanged = true;
      return;
    }
    removeActiveClaim(work.state, item.point);
    work.claimsChanged = true;
    if (check) this.requestCheck(work);
    if (work.state.claims.length > 0) return;
    const children = this.trie.childPaths(item.name);
    if (this.watchesTakeovers) for (const child of children) this.noteLoad(child);
    this.trie.remove(item.name);
    if (children.length > 0 && this.watchesRemovals) this.removalFlags.add(item.name);
  }

  /** Removes an active item (claim or support) that is spent or expires. */
  end(item: Item, removal: Removal): void {
    this.leave(item, true);
    this.name(item.name).state.alive--;
    this.close(item, removal);
    if (item.kind !== 'support') this.claimIndex.set(item.claimId, null);
  }

  /** Records that the reference loads the path of a name into its working copy. Called only while transactions are processed. */
  noteLoad(name: string): void {
    if (!this.watchesTakeovers) return;
    for (const node of this.trie.storedPath(name)) this.expanded.add(node);
  }

  /**
   * Called when a support of the name changes. Records whether the name's node is outside the reference's working copy of
   * the trie.
   */
  noteSupport(name: string, inTransactions: boolean): void {
    if (!this.watchesTakeovers || this.takeoverFlags.has(name)) return;
    if (!this.name(name).base.hadClaims) return;
    if (!this.trie.isNode(name) || (inTransactions && !this.isLoaded(name)))
      this.takeoverFlags.set(name, false);
  }

  /** QUIRK: the block of the hash fork loads every node before its transactions. Source: `copyAllBaseToCache`. */
  private isLoaded(name: string): boolean {
    if (isHashFork(this.rules, this.height)) return true;
    const path = this.trie.storedPath(name);
    const parent = path[path.length - (name === '' ? 1 : 2)];
    return parent !== undefined && this.expanded.has(parent);
  }

  hasTakeoverFlag(name: string): boolean {
    return this.takeoverFlags.get(name) === true;
  }
}

function addTo(map: Map<number, Set<Item>>, height: number, item: Item): void {
  const set = map.get(height);
  if (set) set.add(item);
  else map.set(height, new Set([item]));
}
