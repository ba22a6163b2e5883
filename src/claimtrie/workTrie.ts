/**
 * The part of the trie that a block (or a batch of one) touches: loaded path by path, changed in memory, hashed once at
 * the end. Owns structure: where nodes part and merge. Knows no claims but that a name has some, and no rows.
 *
 * Use: `begin` a load, `supply` the wanted records until none is wanted, then `insert`, `remove` and `touch` at will,
 * again from the start if need be; then `setClaimsHash` for each of `unhashedNodes`, `hashNode` for each of `dirtyNodes`,
 * and take the `changes`. Loading is for speed: a record that a step needs and that is not loaded is asked of the
 * `RecordSource`.
 * Source: lbrycrd prefixtrie.cpp.
 */
import { assert, AssertionError } from '../util/assert.js';
import type { Bytes } from '../util/bytes.js';
import { trieIntact } from './corruption.js';
import { NO_SLOTS, packSlot, patchSlot, SlotCursor, spliceSlots } from './slots.js';
import { nodeHash, rootHash, type TrieNode } from './trieNode.js';

export interface WorkNode {
  readonly path: string;
  parent: WorkNode | null;
  /** Packed. Those of a record are replaced by a copy before they change. */
  slots: Buffer;
  isOwn: boolean;
  /** The children that are loaded, in no order. */
  children: WorkNode[];
  hasClaims: boolean;
  /** Null while it must be recomputed. */
  claimsHash: Bytes | null;
  dirty: boolean;
}

/** A record before and after; null if there is none. */
export interface NodeChange {
  path: string;
  before: TrieNode | null;
  after: TrieNode | null;
}

/** Answers the stored record at a path at once; null if there is none, which only the root of an empty trie may be. */
export type RecordSource = (path: string) => TrieNode | null;

/** A name on its way down: its path is loaded as far as `node`. */
interface Cursor {
  name: string;
  node: WorkNode;
}

/** Position of a name: at a node, between its slots, or within the slot of the cursor. */
type Place = { kind: 'exact' | 'gap'; node: WorkNode } | { kind: 'split'; node: WorkNode; common: number };

const NO_HASH: Bytes = new Uint8Array(32);
const NO_CHILDREN: WorkNode[] = [];
const NO_SOURCE: RecordSource = () => {
  throw new AssertionError('a path of the claim trie was not loaded');
};

export class WorkTrie {
  private readonly source: RecordSource;
  private root: WorkNode | null = null;
  private readonly records = new Map<string, TrieNode | null>();
  private readonly dirty = new Set<WorkNode>();
  /** Dirty nodes with claims whose part of the hash is to be given by `setClaimsHash`. */
  private readonly unhashed = new Set<WorkNode>();
  /** Paths at which a node ceased to be, though one may be there again. */
  private readonly removed = new Set<string>();
  private vanished: string[] = [];
  private cursors: Cursor[] = [];
  private waiting: string[] = [];
  private readonly asked = new Map<string, WorkNode>();
  /** Slot at which the last search ended. */
  private readonly slot = new SlotCursor();

  /** Without `source` every path must be loaded before it is used. */
  constructor(source: RecordSource = NO_SOURCE) {
    this.source = source;
  }

  /** Starts loading the paths of `names`. Must be finished by `supply` before anything else is done. */
  begin(names: Iterable<string>): void {
    if (this.root === null) {
      this.waiting = [...names];
      return;
    }
    for (const name of names) this.cursors.push({ name, node: this.root });
  }

  /**
   * Moves every loading name down as far as records reach. Returns the paths whose records are wanted next, in no
   * order; `leaves` collects nodes on the way whose claims are in no record, as those of leaves: a change below such a node
   * needs the claims there.
   */
  wanted(leaves: Set<string>): string[] {
    if (this.root === null) return [''];
    const paths = new Set<string>();
    const still: Cursor[] = [];
    for (const cursor of this.cursors) {
      if (this.advance(cursor, paths, leaves)) still.push(cursor);
    }
    this.cursors = still;
    return [...paths];
  }

  /** Gives the record at a wanted path; null only at the root, for an empty trie. */
  supply(path: string, record: TrieNode | null): void {
    this.records.set(path, record);
    if (path === '') {
      this.root = makeNode('', null, record);
      for (const name of this.waiting) this.cursors.push({ name, node: this.root });
      this.waiting = [];
      return;
    }
    const parent = this.asked.get(path);
    assert(parent, 'a record of the claim trie was supplied that was not wanted');
    this.asked.delete(path);
    makeNode(path, parent, record);
  }

  /** The root, read now unless it is loaded. */
  private top(): WorkNode {
    return this.root ?? (this.root = makeNode('', null, this.record('')));
  }

  /** The stored record at a path, read now unless it is known. */
  private record(path: string): TrieNode | null {
    let record = this.records.get(path);
    if (record === undefined) this.records.set(path, (record = this.source(path)));
    return record;
  }

  /** True when the name waits for a record. */
  private advance(cursor: Cursor, paths: Set<string>, leaves: Set<string>): boolean {
    const { name } = cursor;
    const { slot } = this;
    for (;;) {
      const { node } = cursor;
      const depth = node.path.length;
      // A leaf that became a node when it was looked at: its claims are in no record either.
      if (node.hasClaims && node.claimsHash === null && depth < name.length) leaves.add(node.path);
      if (depth === name.length || !slot.seek(node.slots, name.charCodeAt(depth))) return false;
      if (slot.commonLength(name, depth) < slot.edgeLength) return false;
      const child = childOf(node, slot.first);
      if (!child) {
        const path = name.slice(0, depth + slot.edgeLength);
        if (slot.leaf) {
          if (path.length < name.length) leaves.add(path);
          return false;
        }
        this.asked.set(path, node);
        paths.add(path);
        return true;
      }
      cursor.node = child;
    }
  }

  /** Whether the name is a node: it has claims, or names part there. The root is one unless the trie is empty. */
  isNode(name: string): boolean {
    const { kind, node } = this.find(name);
    return kind === 'exact' && (name !== '' || node.hasClaims || node.slots.length > 0);
  }

  /** The same, without making a node of a leaf. */
  knowsNode(name: string): boolean {
    let node = this.top();
    const { slot } = this;
    for (;;) {
      const depth = node.path.length;
      if (depth === name.length) return name !== '' || node.hasClaims || node.slots.length > 0;
      if (!slot.seek(node.slots, name.charCodeAt(depth))) return false;
      const common = slot.commonLength(name, depth);
      if (common < slot.edgeLength) return false;
      const child = childOf(node, slot.first);
      if (!child && (slot.leaf || depth + common === name.length)) return depth + common === name.length;
      node = child ?? this.makeChild(node, name);
    }
  }

  childPaths(name: string): string[] {
    const { kind, node } = this.find(name);
    const paths: string[] = [];
    const { slot } = this;
    if (kind !== 'exact') return paths;
    for (let more = slot.load(node.slots, 0); more; more = slot.next()) paths.push(name + slot.edge);
    return paths;
  }

  /** The name has an active claim now. */
  insert(name: string): void {
    const place = this.find(name);
    if (place.kind === 'split') this.part(place.node, place.common, name);
    else if (place.kind === 'gap') this.addLeaf(place.node, name);
    else this.claim(place.node);
  }

  /** Names part within the slot that the cursor is at: a node comes to stand there. */
  private part(parent: WorkNode, common: number, name: string): void {
    const { at, end, edge, hash, leaf } = this.slot;
    const lower = childOf(parent, edge.charCodeAt(0));
    const above = edge.slice(0, common);
    if (lower) parent.children.splice(parent.children.indexOf(lower), 1);
    const middle = makeNode(parent.path + above, parent, null);
    own(middle, packSlot(edge.slice(common), hash, leaf));
    if (lower) adopt(middle, lower);
    own(parent, spliceSlots(parent.slots, at, end, packSlot(above, NO_HASH, false)));
    if (middle.path.length === name.length) this.claim(middle);
    else {
      this.slot.seek(middle.slots, name.charCodeAt(middle.path.length));
      this.addLeaf(middle, name);
    }
  }

  private claim(node: WorkNode): void {
    node.hasClaims = true;
    node.claimsHash = null;
    this.unhashed.add(node);
    this.markDirty(node);
  }

  /** The cursor is where the leaf's slot belongs. */
  private addLeaf(parent: WorkNode, name: string): void {
    const { at } = this.slot;
    const slot = packSlot(name.slice(parent.path.length), NO_HASH, true);
    own(parent, spliceSlots(parent.slots, at, at, slot));
    this.claim(makeNode(name, parent, null));
  }

  /** The name has no active claim any more. Nodes that have become needless merge. Source: `CPrefixTrie::erase`. */
  remove(name: string): void {
    const place = this.find(name);
    trieIntact(place.kind === 'exact' && place.node.hasClaims, 'a name with claims is not in the trie');
    let { node } = place;
    node.hasClaims = false;
    node.claimsHash = null;
    this.unhashed.delete(node);
    this.markDirty(node);
    while (node.parent !== null && !node.hasClaims && !hasTwoSlots(node)) {
      const { parent } = node;
      const merges = node.slots.length > 0;
      this.cutOut(node, parent);
      this.dirty.delete(node);
      this.removed.add(node.path);
      this.vanished.push(node.path);
      if (merges) break;
      node = parent;
    }
  }

  /** The node goes; the way to its one child, if it has any, becomes its parent's. */
  private cutOut(node: WorkNode, parent: WorkNode): void {
    const { slot } = this;
    let piece: Bytes = NO_SLOTS;
    if (slot.load(node.slots, 0)) {
      const edge = node.path.slice(parent.path.length) + slot.edge;
      piece = packSlot(edge, slot.hash, slot.leaf);
    }
    slot.seek(parent.slots, node.path.charCodeAt(parent.path.length));
    own(parent, spliceSlots(parent.slots, slot.at, slot.end, piece));
    parent.children.splice(parent.children.indexOf(node), 1);
    for (const child of node.children) adopt(parent, child);
  }

  /** The claims of the name, or its takeover height, have changed: its part of the hash is recomputed. */
  touch(name: string): void {
    const { kind, node } = this.find(name);
    trieIntact(kind === 'exact', 'a name with claims has no node');
    this.claim(node);
  }

  /** The paths at which a node has ceased to be since the last call. */
  takeVanished(): string[] {
    const { vanished } = this;
    this.vanished = [];
    return vanished;
  }

  private markDirty(from: WorkNode): void {
    for (let node: WorkNode | null = from; node !== null && !node.dirty; node = node.parent) {
      node.dirty = true;
      this.dirty.add(node);
      // A leaf that gets something below it: its claims are in no record.
      if (node.hasClaims && node.claimsHash === null) this.unhashed.add(node);
    }
  }

  private find(name: string): Place {
    let node = this.top();
    const { slot } = this;
    for (;;) {
      const depth = node.path.length;
      if (depth === name.length) return { kind: 'exact', node };
      if (!slot.seek(node.slots, name.charCodeAt(depth))) return { kind: 'gap', node };
      const common = slot.commonLength(name, depth);
      if (common < slot.edgeLength) return { kind: 'split', node, common };
      node = childOf(node, slot.first) ?? this.makeChild(node, name);
    }
  }

  /** The node on the way to `name` at the end of the slot that the cursor is at: a leaf, or one that was not loaded. */
  private makeChild(parent: WorkNode, name: string): WorkNode {
    const { slot } = this;
    const path = name.slice(0, parent.path.length + slot.edgeLength);
    const child = makeNode(path, parent, slot.leaf ? null : this.record(path));
    if (slot.leaf) child.hasClaims = true;
    return child;
  }

  get dirtyCount(): number {
    return this.dirty.size;
  }

  /** The nodes whose claims' part of the hash is wanted. */
  unhashedNodes(): WorkNode[] {
    return [...this.unhashed];
  }

  setClaimsHash(node: WorkNode, hash: Bytes | null): void {
    trieIntact(hash !== null, 'a node has claims that its name does not have');
    node.claimsHash = hash;
    this.unhashed.delete(node);
  }

  /** The nodes that must be hashed, children before their parents. `hashNode` takes them one by one. */
  dirtyNodes(): WorkNode[] {
    return [...this.dirty].sort((a, b) => b.path.length - a.path.length);
  }

  /** Hashes one node whose children are done and passes the hash to its parent. */
  hashNode(node: WorkNode, allClaims: boolean): void {
    const { parent } = node;
    if (parent === null) return;
    if (!parent.isOwn) own(parent, Buffer.from(parent.slots));
    const { slot } = this;
    const isThere = slot.seek(parent.slots, node.path.charCodeAt(parent.path.length));
    trieIntact(isThere, 'a node of the claim trie is not among the children of its parent');
    patchSlot(parent.slots, slot, nodeHash(node, allClaims), node.slots.length === 0);
  }

  /** Root after everything is hashed. */
  rootHash(allClaims: boolean): Bytes {
    return rootHash(this.top(), allClaims);
  }

  /** Takes what is hashed for settled: later changes dirty it again. For callers without `changes`. */
  settle(): void {
    for (const node of this.dirty) node.dirty = false;
    this.dirty.clear();
  }

  /** Every record that may have changed. Ends the use of this trie. */
  changes(): NodeChange[] {
    const changes: NodeChange[] = [];
    for (const node of this.dirty) {
      const before = this.records.get(node.path) ?? null;
      const after = recordOf(node);
      if (before !== null || after !== null) changes.push({ path: node.path, before, after });
      this.removed.delete(node.path);
    }
    for (const path of this.removed) {
      const before = this.records.get(path) ?? null;
      if (before !== null) changes.push({ path, before, after: null });
    }
    return changes;
  }

  /**
   * The nodes of the trie as it is stored whose path leads to `name`, the root first.
   * Source: `CPrefixTrie::nodes` on the base trie.
   */
  storedPath(name: string): string[] {
    const nodes: string[] = [];
    const { slot } = this;
    let record = this.record('');
    if (record === null) return nodes;
    for (let path = ''; ;) {
      nodes.push(path);
      const depth = path.length;
      if (record === null || depth === name.length) return nodes;
      if (!slot.seek(record.slots, name.charCodeAt(depth))) return nodes;
      if (slot.commonLength(name, depth) < slot.edgeLength) return nodes;
      path = name.slice(0, depth + slot.edgeLength);
      // The record at the name itself tells nothing more.
      record = slot.leaf || path.length === name.length ? null : this.record(path);
    }
  }
}

/** Joins its parent's children. */
function makeNode(path: string, parent: WorkNode | null, record: TrieNode | null): WorkNode {
  const node: WorkNode = {
    path,
    parent,
    slots: record ? record.slots : NO_SLOTS,
    isOwn: false,
    children: NO_CHILDREN,
    hasClaims: record !== null && record.claimsHash !== null,
    claimsHash: record ? record.claimsHash : null,
    dirty: false,
  };
  if (parent) adopt(parent, node);
  return node;
}

function adopt(parent: WorkNode, child: WorkNode): void {
  child.parent = parent;
  if (parent.children === NO_CHILDREN) parent.children = [child];
  else parent.children.push(child);
}

/** The loaded child on the way that begins with `code`. */
function childOf(node: WorkNode, code: number): WorkNode | undefined {
  const depth = node.path.length;
  return node.children.find((child) => child.path.charCodeAt(depth) === code);
}

/** Gives the node slots of its own. */
function own(node: WorkNode, slots: Buffer): void {
  node.slots = slots;
  node.isOwn = true;
}

function hasTwoSlots({ slots }: WorkNode): boolean {
  const cursor = new SlotCursor();
  return cursor.load(slots, 0) && cursor.end < slots.length;
}

function recordOf({ slots, claimsHash, hasClaims, parent }: WorkNode): TrieNode | null {
  if (slots.length === 0 && (parent !== null || !hasClaims)) return null;
  return { slots, claimsHash };
}
