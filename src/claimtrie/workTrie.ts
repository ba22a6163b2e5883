/**
 * The part of the trie that a block (or a batch of one) touches: loaded path by path, changed in memory, hashed once at
 * the end. Owns structure: where nodes part and merge. Knows no claims but that a name has some, and no rows.
 *
 * Use: `begin` a load, `supply` the wanted records until none is wanted, then `insert`, `remove` and `touch` at will
 * (only along loaded paths), again from the start if need be; then `setClaimsHash` for each of `unhashedNodes`,
 * `hashNode` for each of `dirtyNodes`, and take the `changes`.
 * Source: lbrycrd prefixtrie.cpp.
 */
import { assert } from '../util/assert.js';
import type { Bytes } from '../util/bytes.js';
import { EMPTY_ROOT, findSlot, nodeHash, type Slot, type TrieNode } from './trieNode.js';

interface WorkSlot extends Slot {
  /** The child, when it is loaded. */
  node?: WorkNode;
}

export interface WorkNode {
  readonly path: string;
  parent: WorkNode | null;
  slots: WorkSlot[];
  hasClaims: boolean;
  /** Null while it must be computed anew. */
  claimsHash: Bytes | null;
  dirty: boolean;
}

/** A record before and after; null where there is none. */
export interface NodeChange {
  path: string;
  before: TrieNode | null;
  after: TrieNode | null;
}

/** A name on its way down: its path is loaded as far as `node`. */
interface Cursor {
  name: string;
  node: WorkNode;
}

type Place =
  | { kind: 'exact'; node: WorkNode }
  | { kind: 'gap'; node: WorkNode; at: number }
  | { kind: 'split'; node: WorkNode; at: number; common: number };

const NO_HASH: Bytes = new Uint8Array(32);

export class WorkTrie {
  private root: WorkNode | null = null;
  private readonly records = new Map<string, TrieNode | null>();
  private readonly dirty = new Set<WorkNode>();
  /** Dirty nodes with claims whose part of the hash is to be given by `setClaimsHash`. */
  private readonly unhashed = new Set<WorkNode>();
  /** Paths at which a node ceased to be, though one may stand there again. */
  private readonly removed = new Set<string>();
  private vanished: string[] = [];
  private cursors: Cursor[] = [];
  private waiting: string[] = [];
  private readonly asked = new Map<string, { parent: WorkNode; at: number }>();

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
   * order; `leaves` collects nodes on the way that have no record because they are leaves: who puts something below
   * one needs the claims that live there.
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
    const place = this.asked.get(path);
    assert(place && record, 'a record of the claim trie is missing');
    this.asked.delete(path);
    this.attach(place.parent, place.at, makeNode(path, place.parent, record));
  }

  private attach(parent: WorkNode, at: number, node: WorkNode): void {
    const { edge, hash, leaf, edgeHash } = parent.slots[at]!;
    parent.slots[at] =
      edgeHash === undefined ? { edge, hash, leaf, node } : { edge, hash, leaf, edgeHash, node };
  }

  /** True when the name waits for a record. */
  private advance(cursor: Cursor, paths: Set<string>, leaves: Set<string>): boolean {
    const { name } = cursor;
    for (;;) {
      const { node } = cursor;
      const depth = node.path.length;
      if (depth === name.length) return false;
      const at = findSlot(node.slots, name.charCodeAt(depth));
      if (at < 0) return false;
      const slot = node.slots[at]!;
      if (!name.startsWith(slot.edge, depth)) return false;
      const path = node.path + slot.edge;
      if (slot.node === undefined) {
        if (slot.leaf) {
          if (path.length < name.length) leaves.add(path);
          return false;
        }
        this.asked.set(path, { parent: node, at });
        paths.add(path);
        return true;
      }
      cursor.node = slot.node;
    }
  }

  /** Whether the name is a node: it has claims, or names part there. The root is one unless the trie is empty. */
  isNode(name: string): boolean {
    const place = this.find(name);
    if (place.kind !== 'exact') return false;
    return name !== '' || place.node.hasClaims || place.node.slots.length > 0;
  }

  childPaths(name: string): string[] {
    const place = this.find(name);
    return place.kind === 'exact' ? place.node.slots.map((slot) => name + slot.edge) : [];
  }

  /** The name has an active claim now. */
  insert(name: string): void {
    const place = this.find(name);
    if (place.kind === 'exact') {
      this.claim(place.node);
      return;
    }
    if (place.kind === 'gap') {
      this.addLeaf(place.node, place.at, name);
      return;
    }
    const { node: parent, at, common } = place;
    const slot = parent.slots[at]!;
    const middle = makeNode(parent.path + slot.edge.slice(0, common), parent, null);
    const lower: WorkSlot = { edge: slot.edge.slice(common), hash: slot.hash, leaf: slot.leaf };
    if (slot.node) {
      lower.node = slot.node;
      slot.node.parent = middle;
    }
    middle.slots.push(lower);
    parent.slots[at] = { edge: slot.edge.slice(0, common), hash: NO_HASH, leaf: false, node: middle };
    if (middle.path.length === name.length) {
      this.claim(middle);
      return;
    }
    const below = findSlot(middle.slots, name.charCodeAt(middle.path.length));
    this.addLeaf(middle, ~below, name);
  }

  private claim(node: WorkNode): void {
    node.hasClaims = true;
    node.claimsHash = null;
    this.unhashed.add(node);
    this.markDirty(node);
  }

  private addLeaf(parent: WorkNode, at: number, name: string): void {
    const node = makeNode(name, parent, null);
    const edge = name.slice(parent.path.length);
    parent.slots.splice(at, 0, { edge, hash: NO_HASH, leaf: true, node });
    this.claim(node);
  }

  /** The name has no active claim any more. Nodes that have become needless merge. Source: `CPrefixTrie::erase`. */
  remove(name: string): void {
    const place = this.find(name);
    assert(place.kind === 'exact' && place.node.hasClaims, 'a name without claims was removed from the trie');
    let node = place.node;
    node.hasClaims = false;
    node.claimsHash = null;
    this.unhashed.delete(node);
    this.markDirty(node);
    while (node.parent !== null && !node.hasClaims && node.slots.length < 2) {
      const parent: WorkNode = node.parent;
      const at = findSlot(parent.slots, node.path.charCodeAt(parent.path.length));
      const rest = node.slots[0];
      if (rest) {
        const edge = parent.slots[at]!.edge + rest.edge;
        parent.slots[at] = {
          edge,
          hash: rest.hash,
          leaf: rest.leaf,
          ...(rest.node ? { node: rest.node } : {}),
        };
        if (rest.node) rest.node.parent = parent;
      } else {
        parent.slots.splice(at, 1);
      }
      this.dirty.delete(node);
      this.removed.add(node.path);
      this.vanished.push(node.path);
      node = parent;
      if (rest) break;
    }
  }

  /** The claims of the name, or its takeover height, have changed: its part of the hash is computed anew. */
  touch(name: string): void {
    const place = this.find(name);
    assert(place.kind === 'exact', 'a name without a node was touched');
    this.claim(place.node);
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
    let node = this.root;
    assert(node, 'the claim trie was used before it was loaded');
    for (;;) {
      const depth = node.path.length;
      if (depth === name.length) return { kind: 'exact', node };
      const at = findSlot(node.slots, name.charCodeAt(depth));
      if (at < 0) return { kind: 'gap', node, at: ~at };
      const slot: WorkSlot = node.slots[at]!;
      if (!name.startsWith(slot.edge, depth)) {
        return { kind: 'split', node, at, common: commonLength(slot.edge, name, depth) };
      }
      if (slot.node === undefined) {
        assert(slot.leaf, 'a path of the claim trie was not loaded');
        const leaf = makeNode(node.path + slot.edge, node, null);
        leaf.hasClaims = true;
        this.attach(node, at, leaf);
        node = leaf;
      } else {
        node = slot.node;
      }
    }
  }

  get dirtyCount(): number {
    return this.dirty.size;
  }

  /** The nodes whose claims' part of the hash is wanted. */
  unhashedNodes(): WorkNode[] {
    return [...this.unhashed];
  }

  setClaimsHash(node: WorkNode, hash: Bytes | null): void {
    assert(hash !== null, 'a node with claims has no hash of them');
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
    const at = findSlot(parent.slots, node.path.charCodeAt(parent.path.length));
    const { edge } = parent.slots[at]!;
    parent.slots[at] = { edge, hash: nodeHash(node, allClaims), leaf: node.slots.length === 0, node };
  }

  /** Root after everything is hashed. */
  rootHash(allClaims: boolean): Bytes {
    const { root } = this;
    assert(root, 'the claim trie was used before it was loaded');
    if (root.slots.length === 0 && !root.hasClaims) return EMPTY_ROOT;
    return nodeHash(root, allClaims);
  }

  /** Every record that may have changed. Ends the use of this trie. */
  changes(): NodeChange[] {
    const changes: NodeChange[] = [];
    for (const node of this.dirty) {
      const before = this.records.get(node.path) ?? null;
      const after = this.recordOf(node);
      if (before !== null || after !== null) changes.push({ path: node.path, before, after });
      this.removed.delete(node.path);
    }
    for (const path of this.removed) {
      const before = this.records.get(path) ?? null;
      if (before !== null) changes.push({ path, before, after: null });
    }
    return changes;
  }

  private recordOf(node: WorkNode): TrieNode | null {
    if (node.slots.length === 0 && (node.parent !== null || !node.hasClaims)) return null;
    const slots = node.slots.map((slot): Slot => {
      if (slot.node === undefined) return slot;
      const { edge, hash, leaf, edgeHash } = slot;
      return edgeHash === undefined ? { edge, hash, leaf } : { edge, hash, leaf, edgeHash };
    });
    return { slots, claimsHash: node.claimsHash };
  }

  /**
   * The nodes of the trie as it was loaded whose path leads to `name`, the root first. Only along loaded paths.
   * Source: `CPrefixTrie::nodes` on the base trie.
   */
  storedPath(name: string): string[] {
    const nodes: string[] = [];
    let path = '';
    for (;;) {
      const record = this.records.get(path);
      if (path === '' && !record) return nodes;
      nodes.push(path);
      if (!record || path.length === name.length) return nodes;
      const at = findSlot(record.slots, name.charCodeAt(path.length));
      const edge = at < 0 ? null : record.slots[at]!.edge;
      if (edge === null || !name.startsWith(edge, path.length)) return nodes;
      path += edge;
    }
  }
}

function makeNode(path: string, parent: WorkNode | null, record: TrieNode | null): WorkNode {
  return {
    path,
    parent,
    slots: record ? record.slots.slice() : [],
    hasClaims: record !== null && record.claimsHash !== null,
    claimsHash: record ? record.claimsHash : null,
    dirty: false,
  };
}

/** Length of the common beginning of `edge` and `name` from `depth` on. */
function commonLength(edge: string, name: string, depth: number): number {
  let length = 0;
  while (
    length < edge.length &&
    depth + length < name.length &&
    edge.charCodeAt(length) === name.charCodeAt(depth + length)
  )
    length++;
  return length;
}
