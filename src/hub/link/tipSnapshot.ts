/**
 * The position of the chain in shared memory: the node's thread writes it, and the hub's thread reads it. It includes the
 * number of the store's commit that it belongs to. Rows that the hub's thread reads while this commit is the latest belong
 * to the same position. The store increments the number before the rows of a commit become visible, and the snapshot is
 * written after the commit.
 */
import type { ChainReader } from '../../chain/chainReader.js';
import { hashToHex, type Bytes } from '../../util/bytes.js';

const CELL_BYTES = 8;
const HASH_BYTES = 32;
const COMMITS = 0;
const HEIGHT = 1;
const TIP = 2;
const DISCONNECTS = 3;
const LOGS_SEARCHES = 4;
const WAITING = 5;
const SYNCED = 6;
const STAGED = 7;
/** Number of 64-bit words that precede the hash of the tip in the shared memory. */
const NUMBERS = 8;
/** Value of the commit number while the other numbers are being changed. */
const NONE = -1n;

export interface TipState {
  /** Commit number of the rows (`RowStore.commits`). Null while the snapshot is being written. */
  readonly commits: number | null;
  readonly height: number;
  /** Header id of the tip in the header table of the node. */
  readonly tip: number;
  readonly disconnects: number;
}

export class TipSnapshot {
  readonly memory: SharedArrayBuffer;
  private readonly cells: BigInt64Array;

  constructor(memory = new SharedArrayBuffer(NUMBERS * CELL_BYTES + HASH_BYTES)) {
    this.memory = memory;
    this.cells = new BigInt64Array(memory);
  }

  /** Sets the state of the chain. `hash` is the id of the tip in wire order. Only the node's thread may call the setters. */
  set({ commits, height, tip, disconnects }: TipState, hash: Bytes): void {
    // The snapshot is marked as invalid while the other numbers are written.
    this.put(COMMITS, NONE);
    this.put(HEIGHT, BigInt(height));
    this.put(TIP, BigInt(tip));
    this.put(DISCONNECTS, BigInt(disconnects));
    const { buffer, byteOffset, length } = Buffer.from(hash);
    const words = new DataView(buffer, byteOffset, length);
    for (let at = 0; at < HASH_BYTES; at += CELL_BYTES)
      this.put(NUMBERS + at / CELL_BYTES, words.getBigInt64(at, true));
    this.put(COMMITS, commits === null ? NONE : BigInt(commits));
  }

  /** Whether the claim index is at the tip. */
  get isSynced(): boolean {
    return this.number(SYNCED) === 1;
  }

  set isSynced(isSynced: boolean) {
    this.put(SYNCED, isSynced ? 1n : 0n);
  }

  /** Whether the store has staged rows, which only the node's thread can read. */
  get hasStaged(): boolean {
    return this.number(STAGED) === 1;
  }

  set hasStaged(hasStaged: boolean) {
    this.put(STAGED, hasStaged ? 1n : 0n);
  }

  /** Whether log lines of the category `search` are enabled. */
  get logsSearches(): boolean {
    return this.number(LOGS_SEARCHES) === 1;
  }

  set logsSearches(isWanted: boolean) {
    this.put(LOGS_SEARCHES, isWanted ? 1n : 0n);
  }

  /**
   * Number of changes of mempool claims that the node's thread has sent to the hub's thread or is about to send, since the
   * start.
   */
  get waitingChanges(): number {
    return this.number(WAITING);
  }

  /** Counts a change of mempool claims. Must be called before the change is sent to the hub's thread. */
  noteWaiting(): void {
    Atomics.add(this.cells, WAITING, 1n);
  }

  /**
   * Reads the state of the chain. The result is valid only if the store's commit number still equals `commits` after the
   * read.
   */
  get(): TipState {
    const commits = this.number(COMMITS);
    return {
      commits: commits < 0 ? null : commits,
      height: this.number(HEIGHT),
      tip: this.number(TIP),
      disconnects: this.number(DISCONNECTS),
    };
  }

  /** Whether the tip has this height and this hash (hex as printed). */
  isTip(height: number, hash: string): boolean {
    if (this.number(HEIGHT) !== height) return false;
    const bytes = Buffer.alloc(HASH_BYTES);
    for (let at = 0; at < HASH_BYTES; at += CELL_BYTES)
      bytes.writeBigInt64LE(Atomics.load(this.cells, NUMBERS + at / CELL_BYTES), at);
    return hashToHex(bytes) === hash;
  }

  private number(cell: number): number {
    return Number(Atomics.load(this.cells, cell));
  }

  private put(cell: number, value: bigint): void {
    Atomics.store(this.cells, cell, value);
  }
}

/**
 * Writes the current state of the chain. `isSynced`: whether the claim index is at the tip. Must be called after each commit
 * and before responses are sent.
 */
export function updateSnapshot(
  snapshot: TipSnapshot,
  { chain, headers }: ChainReader,
  isSynced: boolean,
): void {
  const { store } = chain.deps;
  const { height, tip, disconnects } = chain.index.active;
  snapshot.isSynced = isSynced;
  snapshot.hasStaged = store.mustFlush;
  snapshot.set({ commits: store.commits, height, tip, disconnects }, headers.hash(tip));
}
