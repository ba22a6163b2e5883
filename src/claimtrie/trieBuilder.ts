/**
 * Builds a whole trie from its names in byte order, with only the path to the last name in memory: for the all-claims fork,
 * at which every hash changes. Stores no rows: finished nodes are passed to the caller.
 */
import { assert } from '../util/assert.js';
import type { Bytes } from '../util/bytes.js';
import { packSlot } from './slots.js';
import { nodeHash, rootHash, type TrieNode } from './trieNode.js';

interface OpenNode {
  path: string;
  /** Packed slots (edges to children), one array element for each slot. */
  slots: Buffer[];
  claimsHash: Bytes | null;
}

function recordOf({ slots, claimsHash }: OpenNode): TrieNode {
  return { slots: Buffer.concat(slots), claimsHash };
}

export class TrieBuilder {
  private readonly allClaims: boolean;
  private readonly emit: (path: string, node: TrieNode) => void;
  /** The root and the nodes on the path to the last name. */
  private readonly open: OpenNode[] = [{ path: '', slots: [], claimsHash: null }];
  private last: string | null = null;

  /** `emit` receives each node that has children, and the root, when it is complete; children come first. */
  constructor(allClaims: boolean, emit: (path: string, node: TrieNode) => void) {
    this.allClaims = allClaims;
    this.emit = emit;
  }

  /** Adds a name. Names must be added in ascending byte order, each once. */
  add(name: string, claimsHash: Bytes): void {
    assert(this.last === null || name > this.last, 'names of the claim trie out of order');
    this.last = name;
    if (name === '') {
      this.open[0]!.claimsHash = claimsHash;
      return;
    }
    const common = commonPrefix(this.top.path, name);
    this.closeDownTo(name, common);
    this.open.push({ path: name, slots: [], claimsHash });
  }

  private get top(): OpenNode {
    return this.open[this.open.length - 1]!;
  }

  /** Completes every open node below the depth `common`; a node is created at that depth if names branch there. */
  private closeDownTo(name: string, common: number): void {
    while (this.top.path.length > common) {
      const node = this.open.pop()!;
      let parent = this.top;
      if (parent.path.length < common) {
        parent = { path: name.slice(0, common), slots: [], claimsHash: null };
        this.open.push(parent);
      }
      this.close(node, parent);
    }
  }

  private close(node: OpenNode, parent: OpenNode): void {
    const leaf = node.slots.length === 0;
    const record = recordOf(node);
    if (!leaf) this.emit(node.path, record);
    const edge = node.path.slice(parent.path.length);
    parent.slots.push(packSlot(edge, nodeHash(record, this.allClaims), leaf));
  }

  /** Completes the trie and returns its root. */
  finish(): Bytes {
    this.closeDownTo('', 0);
    const root = recordOf(this.open[0]!);
    if (root.slots.length > 0 || root.claimsHash !== null) this.emit('', root);
    return rootHash(root, this.allClaims);
  }
}

function commonPrefix(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  let i = 0;
  while (i < end && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  return i;
}
