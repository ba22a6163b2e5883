/**
 * Where the chain stands, in one memory that the node's thread writes and the hub's reads, together with the commit of the rows
 * that it is of. What the hub's thread reads of the rows while that commit is the last is of this snapshot: the store counts a
 * commit before anything of it can be seen, and what is noted here comes after it.
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
/** The hash behind them. */
const NUMBERS = 6;
/** Instead of a number of commits: what others than the node's thread can read is of no snapshot. */
const NONE = -1n;

export interface TipState {
  /** See `RowStore.commits`; null while rows count that only the node's thread can read, or the claim index is behind. */
  readonly commits: number | null;
  readonly height: number;
  /** Number of the block at the tip. */
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

  /** Notes where the chain stands; `hash` is that of the tip. Called by the node's thread alone, as all that sets anything. */
  set({ commits, height, tip, disconnects }: TipState, hash: Bytes): void {
    // Nothing counts while the others change.
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

  /** Whether lines of the category `search` are wanted. */
  get logsSearches(): boolean {
    return this.number(LOGS_SEARCHES) === 1;
  }

  set logsSearches(isWanted: boolean) {
    this.put(LOGS_SEARCHES, isWanted ? 1n : 0n);
  }

  /** The number of changes of the mempool claims that were sent, or will be sent, to the hub's thread. */
  get waitingChanges(): number {
    return this.number(WAITING);
  }

  /** Counts one more change, which will be sent to the hub's thread. */
  noteWaiting(): void {
    Atomics.add(this.cells, WAITING, 1n);
  }

  /** Counts only where `commits` is that of the rows afterwards. */
  get(): TipState {
    const commits = this.number(COMMITS);
    return {
      commits: commits < 0 ? null : commits,
      height: this.number(HEIGHT),
      tip: this.number(TIP),
      disconnects: this.number(DISCONNECTS),
    };
  }

  /** Whether this is the block at the tip; `hash` in hex as printed. */
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

/** Notes where a chain stands; `isSynced` is that of the claim index. Called after each commit, and when it is asked for. */
export function updateSnapshot(
  snapshot: TipSnapshot,
  { chain, headers }: ChainReader,
  isSynced: boolean,
): void {
  const { store } = chain.deps;
  const { height, tip, disconnects } = chain.index.active;
  const commits = isSynced && !store.mustFlush ? store.commits : null;
  snapshot.set({ commits, height, tip, disconnects }, headers.hash(tip));
}
