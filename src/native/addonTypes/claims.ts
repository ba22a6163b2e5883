/** Types of the addon for the claim trie and the claims of blocks. */
import type { NativeCachedRows, NativeDatabase, NativeRows } from './stores.js';

/**
 * The part of the claim trie that a block uses (`WorkTrie` of src/claimtrie/workTrie.ts). Paths and names are strings with one code
 * unit for each byte. If a result that may be a string is one, it is the path of a missing row: the caller must supply the row and
 * repeat the call.
 */
export interface NativeClaimTrie {
  /**
   * Starts with an empty trie. `prefix` is the part of a node row's key before the path. If `overlay` is given, rows are looked up
   * there and then in `recent`.
   */
  reset(prefix: string, overlay?: NativeRows | null, recent?: NativeCachedRows | null): void;
  /** Loads the paths of names, and returns the paths whose rows must be supplied before the next call, which has no names. */
  load(names?: readonly string[]): string[];
  /** Returns the loaded nodes whose claims hash is in no row, in the order in which they were found, and clears the list. */
  takeLeaves(): string[];
  /** Returns whether the row is well formed. Null stands for the root of an empty trie. */
  supply(path: string, row: Uint8Array | null): boolean;
  isNode(name: string): boolean | string;
  knowsNode(name: string): boolean | string;
  insert(name: string): boolean | string;
  /** Returns false if no node with claims has this name. */
  remove(name: string): boolean | string;
  /** Returns false if no node has this name. */
  touch(name: string): boolean | string;
  childPaths(name: string): string[] | string;
  storedPath(name: string): string[] | string;
  takeRemovedPaths(): string[];
  readonly dirtyCount: number;
  /** Names whose claims hash must be set. */
  unhashed(): string[];
  /** Sets the hashes, 32 bytes each, in the order of `unhashed`. */
  setHashes(hashes: Uint8Array): void;
  /**
   * Hashes all changed nodes, at least one. Result: `root ‖ u8 whether there are notes ‖ records of nodes and notes`; null if a node
   * is not among the children of its parent. `notePrefix` is the part of a note's key before the length of the path.
   */
  finish(allClaims: boolean, height: number, notePrefix: string): Buffer | null;
}

/** Connects the claims of ordinary blocks. See `store/claims/ordinaryBlock.ts`. */
export interface NativeBlockClaims {
  /**
   * Rows are read in `overlay`, then in the cache of the row type, then in `database`. `rules` are packed (`readRules` of the addon).
   * `notePrefix` is the part of a node note's key before the length of the path. `idleBits` is the filter of idle names; bits may be
   * set. `normalize` returns the normalized form of a name that is not ASCII. Result: `root ‖ u8 whether there are notes of nodes ‖
   * u32 size of the records ‖ records of all changed rows ‖ changes, if `describes` is set (`ordinaryChanges.ts`)`; null if the
   * fallback must connect the block.
   */
  connect(
    overlay: NativeRows,
    names: NativeCachedRows | null,
    items: NativeCachedRows | null,
    nodes: NativeCachedRows | null,
    database: NativeDatabase | null,
    rules: Uint8Array,
    notePrefix: string,
    idleBits: Uint8Array,
    normalize: (name: string) => string,
    operations: Uint8Array,
    describes: boolean,
  ): Buffer | null;
}

/** Claims in the row of a name. The arrays have one element for each claim, as in `NamePlaces`. */
export interface NativeNameClaims {
  readonly starts: Uint32Array;
  readonly txids: Uint32Array;
  readonly outputs: Uint32Array;
  readonly ids: Uint32Array;
  readonly ages: Float64Array;
  /** Offset in the row after the last claim. */
  readonly end: number;
}
