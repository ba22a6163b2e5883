/**
 * The claim trie of one block in the addon (`native/claims/trie/claimTrie.h`). It gives the same results as `WorkTrie`. Its input is rows
 * instead of parsed records, and the addon itself reads the rows that are in memory. Test: test/differential/claimTrie.test.ts.
 */
import type { BlockTrie } from '../../claimtrie/workTrie.js';
import { trieIntact } from '../../claimtrie/corruption.js';
import type { NativeAddon, NativeClaimTrie } from '../../native/binding.js';
import type { Bytes } from '../../util/bytes.js';
import { ReadError } from '../../util/reader.js';
import type { RowTables } from '../rows/rows.js';

const HASH_BYTES = 32;

export interface NativeTrieOptions {
  /** Key of a node's row before its path. */
  readonly prefix: string;
  /** Returns the tables in which the addon may look up rows; null if it may not. Called when the trie is first used. */
  readonly tables: () => RowTables | null;
  /** Reads a row that was not loaded. Returns null if there is none, which is allowed only for the root of an empty trie. */
  readonly readRow: (path: string) => Bytes | null;
}

/** The rows of the changed nodes and of their notes, as records. */
export interface TrieRows {
  readonly root: Bytes;
  readonly hasNotes: boolean;
  readonly records: Buffer;
}

/** Tries that are not in use. Their memory is reused for the next block. */
const spare: NativeClaimTrie[] = [];

export class NativeTrie implements BlockTrie {
  private readonly addon: NativeAddon;
  private readonly options: NativeTrieOptions;
  private started: NativeClaimTrie | null = null;

  constructor(addon: NativeAddon, options: NativeTrieOptions) {
    this.addon = addon;
    this.options = options;
  }

  private get trie(): NativeClaimTrie {
    return this.started ?? this.start();
  }

  private start(): NativeClaimTrie {
    const { prefix, tables } = this.options;
    const trie = spare.pop() ?? new this.addon.ClaimTrie();
    const found = tables();
    trie.reset(prefix, found?.overlay, found?.recent);
    return (this.started = trie);
  }

  /**
   * Adds `names` to the names whose paths are loaded, and continues to load. Returns the paths of the rows that must be passed to
   * `supply` before the next call. If the result is empty, all paths are loaded.
   */
  load(names?: readonly string[]): string[] {
    return this.trie.load(names);
  }

  /** See `WorkTrie.wanted`. Clears the list. */
  takeLeaves(): string[] {
    return this.trie.takeLeaves();
  }

  /** Supplies the row at a path. It may be null only at the root, for an empty trie. */
  supply(path: string, row: Bytes | null): void {
    if (!this.trie.supply(path, row)) throw new ReadError('a node of the claim trie is corrupt');
  }

  isNode(name: string): boolean {
    return this.complete(() => this.trie.isNode(name));
  }

  knowsNode(name: string): boolean {
    return this.complete(() => this.trie.knowsNode(name));
  }

  childPaths(name: string): string[] {
    return this.complete(() => this.trie.childPaths(name));
  }

  storedPath(name: string): string[] {
    return this.complete(() => this.trie.storedPath(name));
  }

  insert(name: string): void {
    this.complete(() => this.trie.insert(name));
  }

  remove(name: string): void {
    trieIntact(
      this.complete(() => this.trie.remove(name)),
      'a name with claims is not in the trie',
    );
  }

  touch(name: string): void {
    trieIntact(
      this.complete(() => this.trie.touch(name)),
      'a name with claims has no node',
    );
  }

  /** Repeats the call until all rows that it needs are supplied. */
  private complete<T extends boolean | string[]>(call: () => T | string): T {
    for (;;) {
      const answer = call();
      if (typeof answer !== 'string') return answer;
      this.supply(answer, this.options.readRow(answer));
    }
  }

  takeRemovedPaths(): string[] {
    return this.started === null ? [] : this.trie.takeRemovedPaths();
  }

  get dirtyCount(): number {
    return this.started === null ? 0 : this.trie.dirtyCount;
  }

  /** Sets the claims hash of all nodes whose claims changed. `hashOf` returns the hash of the claims of a name. */
  hashClaims(hashOf: (name: string) => Bytes | null): void {
    if (this.started === null) return;
    const names = this.trie.unhashed();
    if (names.length === 0) return;
    const hashes = Buffer.allocUnsafe(names.length * HASH_BYTES);
    names.forEach((name, i) => {
      const hash = hashOf(name);
      trieIntact(hash !== null, 'a node has claims that its name does not have');
      hashes.set(hash, i * HASH_BYTES);
    });
    this.trie.setHashes(hashes);
  }

  /** Hashes the changed nodes, at least one. The trie must not be used after this call. */
  finish(allClaims: boolean, height: number, notePrefix: string): TrieRows {
    const { trie } = this;
    const answer = trie.finish(allClaims, height, notePrefix);
    trieIntact(answer !== null, 'a node of the claim trie is not among the children of its parent');
    this.started = null;
    spare.push(trie);
    return {
      root: answer.subarray(0, HASH_BYTES),
      hasNotes: answer[HASH_BYTES] === 1,
      records: answer.subarray(HASH_BYTES + 1),
    };
  }

  /** Ends the use of a trie without changed nodes. */
  release(): void {
    const { started } = this;
    if (started === null) return;
    // The trie must not keep the tables.
    started.reset('');
    this.started = null;
    spare.push(started);
  }
}
