/**
 * The part of the trie that a block (or a batch of its operations) uses: loaded path by path, changed in memory, hashed once
 * at the end. Manages the structure: where paths branch and merge. Contains only whether a name has claims, not the claims
 * themselves or rows. Use: `begin` a load, `supply` the wanted records until no more are wanted, then call `insert`,
 * `remove` and `touch`, and repeat if needed. At the end call `setClaimsHash` for each of `unhashedNodes`, `hashNode` for
 * each of `dirtyNodes`, and read the `changes`. Loading is only for speed: records that are needed but not loaded are read
 * from the `RecordSource`. Source: lbrycrd prefixtrie.cpp.
 */
import { assert, AssertionError } from '../util/assert.js';
import type { Bytes } from '../util/bytes.js';
import { trieIntact } from './corruption.js';
import { NO_SLOTS, packSlot, SlotCursor, spliceSlots } from './slots.js';
import { hashIntoParent, rootHash, type TrieNode } from './trieNode.js';

export interface WorkNode {
  readonly path: string;
  parent: WorkNode | null;
  /**
   * Packed slots (edges to children) of the node. If `isOwn` is false, they belong to a stored record and are copied before
   * a change.
   */
  slots: Buffer;
  isOwn: boolean;
  /** The loaded children, unordered. */
  children: WorkNode[];
  hasClaims: boolean;
  /** Hash of the claims; null while it must be recomputed. */
  claimsHash: Bytes | null;
  dirty: boolean;
}

/** Stored record of a node before and after a change; null if there is none. */
export interface NodeChange {
  path: string;
  before: TrieNode | null;
  after: TrieNode | null;
}

/**
 * Reads the stored record at a path synchronously; null if there is none, which is allowed only for the root of an empty
 * trie.
 */
export type RecordSource = (path: string) => TrieNode | null;

/** What the rules need from the trie of a block. */
export interface BlockTrie {
  isNode(name: string): boolean;
  knowsNode(name: string): boolean;
  childPaths(name: string): string[];
  insert(name: string): void;
  remove(name: string): void;
  touch(name: string): void;
  takeRemovedPaths(): string[];
  storedPath(name: string): string[];
  /** Number of changed nodes. */
  readonly dirtyCount: number;
}

/** A name whose path is being loaded. The path is loaded down to `node`. */
interface Cursor {
  name: string;
  node: WorkNode;
}

/**
 * Position of a name in the trie. `exact`: the name ends at the node. `gap`: the node has no slot for the rest of the name.
 * `split`: the edge of the slot at the cursor shares only its first `common` bytes with the rest of the name.
 */
type Place = { kind: 'exact' | 'gap'; node: WorkNode } | { kind: 'split'; node: WorkNode; common: number };

const NO_HASH: Bytes = new Uint8Array(32);
const NO_CHILDREN: WorkNode[] = [];
const NO_SOURCE: RecordSource = () => {
  throw new AssertionError('a path of the claim trie was not loaded');
};

export class WorkTrie implements BlockTrie {
  private readonly source: RecordSource;
  private root: WorkNode | null = null;
  private readonly records = new Map<string, TrieNode | null>();
  private readonly dirty = new Set<WorkNode>();
  /** Changed nodes whose claims hash must still be set by `setClaimsHash`. */
  private readonly unhashed = new Set<WorkNode>();
  /** Paths at which a node was removed, even if a new node exists at the same path. */
  private readonly removed = new Set<string>();
  private newlyRemoved: string[] = [];
  private cursors: Cursor[] = [];
  private waiting: string[] = [];
  private readonly requested = new Map<string, WorkNode>();
  /** Slot at which the last search stopped. */
  private readonly slot = new SlotCursor();

  /** Creates a trie. If `source` is omitted, every path must be loaded before its use. */
  constructor(source: RecordSource = NO_SOURCE) {
    this.source = source;
  }

  /** Starts loading the paths of `names`. All wanted records must be passed to `supply` before any other call. */
  begin(names: Iterable<string>): void {
    if (this.root === null) {
      this.waiting = [...names];
      return;
    }
    for (const name of names) this.cursors.push({ name, node: this.root });
  }

  /**
   * Continues to load every path as far as the supplied records allow. Returns the paths of the node records that are needed
   * next, in no particular order. `leaves` receives nodes on the paths whose claims hash is in no record, such as leaves: a
   * change below such a node needs its claims.
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

  /** Supplies the record at a path that `wanted` returned. The record may be null only at the root, for an empty trie. */
  supply(path: string, record: TrieNode | null): void {
    this.records.set(path, record);
    if (path === '') {
      this.root = makeNode('', null, record);
      for (const name of this.waiting) this.cursors.push({ name, node: this.root });
      this.waiting = [];
      return;
    }
    const parent = this.requested.get(path);
    assert(parent, 'a record of the claim trie was supplied that was not wanted');
    this.requested.delete(path);
    makeNode(path, parent, record);
  }

  /** Returns the root, and reads it if it is not loaded. */
  private top(): WorkNode {
    return this.root ?? (this.root = makeNode('', null, this.record('')));
  }

  /** The stored record at a path; read if it is not known. */
  private record(path: string): TrieNode | null {
    let record = this.records.get(path);
    if (record === undefined) this.records.set(path, (record = this.source(path)));
    return record;
  }

  /** Continues to load one path. Returns true when a further record is needed. */
  private advance(cursor: Cursor, paths: Set<string>, leaves: Set<string>): boolean {
    const { name } = cursor;
    const { slot } = this;
    for (;;) {
      const { node } = cursor;
      const depth = node.path.length;
      // The node was a leaf before. A leaf has no record, so no record contains its claims hash.
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
        this.requested.set(path, node);
        paths.add(path);
        return true;
      }
      cursor.node = child;
    }
  }

  /**
   * Whether a node exists at the name: the name has claims, or paths branch at it. The root is a node unless the trie is
   * empty.
   */
  isNode(name: string): boolean {
    const { kind, node } = this.find(name);
    return kind === 'exact' && (name !== '' || node.hasClaims || node.slots.length > 0);
  }

  /** Like `isNode`, but does not convert a leaf into a loaded node. */
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

  /** Records that the name has got an active claim, and adds a node for the name if there is none. */
  insert(name: string): void {
    const place = this.find(name);
    if (place.kind === 'split') this.split(place.node, place.common, name);
    else if (place.kind === 'gap') this.addLeaf(place.node, name);
    else this.markClaimsChanged(place.node);
  }

  /** Splits the slot at the cursor and inserts a node where the names branch. */
  private split(parent: WorkNode, common: number, name: string): void {
    const { at, end, edge, hash, leaf } = this.slot;
    const lower = childOf(parent, edge.charCodeAt(0));
    const above = edge.slice(0, common);
    if (lower) parent.children.splice(parent.children.indexOf(lower), 1);
    const middle = makeNode(parent.path + above, parent, null);
    own(middle, packSlot(edge.slice(common), hash, leaf));
    if (lower) adopt(middle, lower);
    own(parent, spliceSlots(parent.slots, at, end, packSlot(above, NO_HASH, false)));
    if (middle.path.length === name.length) this.markClaimsChanged(middle);
    else {
      this.slot.seek(middle.slots, name.charCodeAt(middle.path.length));
      this.addLeaf(middle, name);
    }
  }

  private markClaimsChanged(node: WorkNode): void {
    node.hasClaims = true;
    node.claimsHash = null;
    this.unhashed.add(node);
    this.markDirty(node);
  }

  /** Adds a leaf. The cursor must be at the position for its slot. */
  private addLeaf(parent: WorkNode, name: string): void {
    const { at } = this.slot;
    const slot = packSlot(name.slice(parent.path.length), NO_HASH, true);
    own(parent, spliceSlots(parent.slots, at, at, slot));
    this.markClaimsChanged(makeNode(name, parent, null));
  }

  /**
   * Records that the name has lost its last active claim. Unneeded nodes are merged. Source:
   * `CPrefixTrie::erase`.
   */
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
      this.detach(node, parent);
      this.dirty.delete(node);
      this.removed.add(node.path);
      this.newlyRemoved.push(node.path);
      if (merges) break;
      node = parent;
    }
  }

  /** Removes a node. If it has one child, the child's edge is attached to the parent. */
  private detach(node: WorkNode, parent: WorkNode): void {
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

  /** Records that the claims or the takeover height of the name changed: its claims hash is recomputed. */
  touch(name: string): void {
    const { kind, node } = this.find(name);
    trieIntact(kind === 'exact', 'a name with claims has no node');
    this.markClaimsChanged(node);
  }

  /** The paths at which a node was removed since the last call. */
  takeRemovedPaths(): string[] {
    const { newlyRemoved } = this;
    this.newlyRemoved = [];
    return newlyRemoved;
  }

  private markDirty(from: WorkNode): void {
    for (let node: WorkNode | null = from; node !== null && !node.dirty; node = node.parent) {
      node.dirty = true;
      this.dirty.add(node);
      // The node was a leaf and gets a child. A leaf has no record, so its claims hash must be computed.
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

  /** Creates the node on the path to `name` at the end of the slot at the cursor: a leaf, or a node that was not loaded. */
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

  /** Returns the nodes whose claims hash must be set. */
  unhashedNodes(): WorkNode[] {
    return [...this.unhashed];
  }

  setClaimsHash(node: WorkNode, hash: Bytes | null): void {
    trieIntact(hash !== null, 'a node has claims that its name does not have');
    node.claimsHash = hash;
    this.unhashed.delete(node);
  }

  /** The nodes that must be hashed, children before their parents. Pass each of them to `hashNode`. */
  dirtyNodes(): WorkNode[] {
    return [...this.dirty].sort((a, b) => b.path.length - a.path.length);
  }

  /** Hashes one node whose children are already hashed, and stores the hash in its parent. */
  hashNode(node: WorkNode, allClaims: boolean): void {
    const { parent } = node;
    if (parent === null) return;
    if (!parent.isOwn) own(parent, Buffer.from(parent.slots));
    const first = node.path.charCodeAt(parent.path.length);
    const isThere = hashIntoParent(node, allClaims, parent.slots, first);
    trieIntact(isThere, 'a node of the claim trie is not among the children of its parent');
  }

  /** Root of the trie. All dirty nodes must have been hashed before. */
  rootHash(allClaims: boolean): Bytes {
    return rootHash(this.top(), allClaims);
  }

  /** Marks all nodes as clean after hashing; later changes mark them dirty again. For callers that do not use `changes`. */
  settle(): void {
    for (const node of this.dirty) node.dirty = false;
    this.dirty.clear();
  }

  /** Returns every node record that may have changed. The trie must not be used after this call. */
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
   * The nodes of the stored trie on the path to `name`, the root first.
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
      // No record is needed below a leaf or below the name itself.
      record = slot.leaf || path.length === name.length ? null : this.record(path);
    }
  }
}

/** Creates a node and adds it to its parent's children. */
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

/** Returns the loaded child whose edge begins with `code`. */
function childOf(node: WorkNode, code: number): WorkNode | undefined {
  const depth = node.path.length;
  return node.children.find((child) => child.path.charCodeAt(depth) === code);
}

/** Assigns the slots to the node and marks them as the node's own copy. */
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
