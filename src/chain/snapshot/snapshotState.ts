/**
 * The chain state at one block of the active chain, for a snapshot: the tip, or a lower block whose state is computed by
 * disconnecting blocks in memory. The view does not change while blocks are connected. Creating it flushes the chain, which
 * is its only effect.
 */
import { ClaimCorruptionError } from '../../claimtrie/corruption.js';
import type { BlockHeader } from '../../primitives/header.js';
import { TX_OUTPUT_COUNT, TX_STRIDE } from '../../primitives/blockLayout.js';
import { prevoutAt, txidAt } from '../../primitives/blockView.js';
import { BlockFileError } from '../../store/files/blockFiles.js';
import { CLAIM_PREFIX } from '../../store/claims/rows/claimKeys.js';
import { formatCoinRow, parseUndo } from '../../store/cache/coinRow.js';
import { OUTPOINT_SIZE_BYTES } from '../../store/cache/coinTable.js';
import { NO_HEADER, STATUS } from '../../store/files/headerTable.js';
import { coinKey, PREFIX } from '../../store/rows/keys.js';
import { KeyedRows } from '../../store/rows/keyedRows.js';
import { mergeBatches } from '../../store/rows/mergeLayers.js';
import { prefixEnd, type RowTransaction, type RowWriter } from '../../store/rows/rows.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { equalBytes, hashToHex, type Bytes } from '../../util/bytes.js';
import type { MaybePromise } from '../../util/maybePromise.js';
import type { Chain } from '../chain.js';
import { withClaimRepair } from '../open/claimRepair.js';
import type { ConnectDeps } from '../connect/connectBlock.js';
import type { LoadedBlock } from '../blocks/loadedBlock.js';
import { SnapshotError } from './snapshotFile.js';

/** Number of rows that are read in one call. Arbitrary: packing them takes some milliseconds. */
const BATCH_ROWS = 1024;
/**
 * Maximum number of blocks below the tip for which a snapshot can be written. Arbitrary: disconnecting them in memory takes
 * some seconds, and memory for their changes.
 */
const MOST_TAKEN_BACK = 2016;

/** Rows of the database that form one section of a snapshot. */
export interface SnapshotSection {
  readonly name: string;
  /** Version of the rows. Incremented when the rows change their meaning. */
  readonly version: number;
  /** Prefixes of the keys, ascending. All rows under them are determined by the chain alone. */
  readonly prefixes: readonly string[];
  /** Reverts the effect of a block on the section's rows. Rejects with `SnapshotError` when the effect cannot be reverted. */
  takeBack?(rows: RowTransaction, height: number): Promise<void>;
  /** Writes the additional rows that a database needs after loading the section from a snapshot of this block (wire order). */
  finish?(rows: Pick<RowWriter, 'put'>, block: Bytes): void;
  /** Returns the reason why the rows do not match the tip, as a sentence; null if they match. */
  problem?(): string | null;
}

export const COINS_SECTION: SnapshotSection = { name: 'coins', version: 1, prefixes: [PREFIX.coin] };

/** Claim rows that cannot be derived from others. Trie nodes, totals and the like are computed from the names. */
export const CLAIMS_SECTION: SnapshotSection = {
  name: 'claims',
  version: 1,
  prefixes: [
    CLAIM_PREFIX.claimId,
    CLAIM_PREFIX.difference,
    CLAIM_PREFIX.log,
    CLAIM_PREFIX.fleeting,
    CLAIM_PREFIX.fleetingAt,
    CLAIM_PREFIX.item,
    CLAIM_PREFIX.name,
    CLAIM_PREFIX.due,
    CLAIM_PREFIX.snapshot,
    CLAIM_PREFIX.owner,
    CLAIM_PREFIX.stranded,
    CLAIM_PREFIX.strandedSpend,
  ].sort(),
};

type Row = [key: string, value: Bytes];

type Walk = AsyncGenerator<Row[]>;
type Walks = Map<SnapshotSection, Walk[]>;
type Firsts = Map<Walk, IteratorResult<Row[]>>;

/** Chain state at one block, as read for a snapshot. */
export interface SnapshotView {
  readonly height: number;
  /** Wire order. */
  readonly block: Buffer;
  /** Iterates over the headers from height 1 up to the block. */
  headers(): AsyncGenerator<{ header: BlockHeader; txCount: number }>;
  /** The rows of a section in ascending order, in batches. Call it once for each section. */
  rows(section: SnapshotSection): AsyncGenerator<readonly Row[]>;
  close(): Promise<void>;
}

/** Parts of a chain that the view needs: the node's own chain or that of the background validation. */
export interface ViewedChain {
  readonly deps: ConnectDeps;
  readBlock(id: number): Promise<LoadedBlock>;
  /** Runs a task during which nothing else changes the chain. */
  exclusively<T>(task: () => Promise<T>): Promise<T>;
  flush(): Promise<void>;
}

/** Combines a chain and its flusher to a `ViewedChain`. */
export function viewedChain(chain: Chain, flusher: { flush(): Promise<void> }): ViewedChain {
  return {
    deps: chain.deps,
    readBlock: (id) => chain.readBlock(id),
    exclusively: (task) => chain.exclusively(task),
    flush: () => flusher.flush(),
  };
}

/**
 * Opens a view of the chain state at a height; null means the tip. Throws `SnapshotError` if the state is not available.
 * `signal` aborts the disconnecting of blocks that the view needs.
 */
export function openView(
  chain: ViewedChain,
  sections: readonly SnapshotSection[],
  height: number | null,
  signal: AbortSignal,
): Promise<SnapshotView> {
  return chain.exclusively(async () => {
    const { index, store } = chain.deps;
    for (const section of sections) {
      const problem = section.problem?.() ?? null;
      if (problem !== null) throw new SnapshotError(problem);
    }
    if (index.snapshotHeight >= 0)
      throw new SnapshotError(
        `This node was started from a snapshot of block ${index.snapshotHeight} whose blocks are not validated yet. Wait until getblockchaininfo shows that they are.`,
      );
    const target = index.active.at(height ?? index.active.height);
    if (target === NO_HEADER) throw beyondTip(height, index.active.height);
    await chain.flush();
    const back = (): Promise<KeyedRows> => takeBack(chain, sections, target, signal);
    const changed = target === index.active.tip ? null : await withClaimRepair(chain.deps, back);
    const walks: Walks = new Map();
    const firsts: Firsts = new Map();
    for (const section of sections) {
      const own = section.prefixes.map((prefix) => {
        const range = { gte: prefix, lt: prefixEnd(prefix) };
        return mergeBatches(changed?.slice(range) ?? [], store.flushedBatches(range, BATCH_ROWS));
      });
      walks.set(section, own);
      // The first `next` of each iteration opens the database's snapshot of the rows.
      for (const walk of own) firsts.set(walk, await walk.next());
    }
    return new ChainSnapshotView(chain, target, walks, firsts);
  });
}

class ChainSnapshotView implements SnapshotView {
  readonly height: number;
  readonly block: Buffer;
  private readonly chain: ViewedChain;
  /** Block ids by height. */
  private readonly ids: Int32Array;
  private readonly walks: Walks;
  private readonly firsts: Firsts;

  constructor(chain: ViewedChain, target: number, walks: Walks, firsts: Firsts) {
    const { headers, active } = chain.deps.index;
    this.chain = chain;
    this.walks = walks;
    this.firsts = firsts;
    this.height = headers.height(target);
    this.block = Buffer.from(headers.hash(target));
    this.ids = Int32Array.from({ length: this.height + 1 }, (_, at) => active.at(at));
  }

  async *headers(): AsyncGenerator<{ header: BlockHeader; txCount: number }> {
    const { headers } = this.chain.deps.index;
    for (let height = 1; height <= this.height; height++) {
      const id = this.ids[height]!;
      const header: MaybePromise<BlockHeader> = headers.readHeader(id);
      yield { header: header instanceof Promise ? await header : header, txCount: headers.txCount(id) };
    }
  }

  async *rows(section: SnapshotSection): AsyncGenerator<readonly Row[]> {
    for (const walk of this.walks.get(section) ?? []) {
      for (let row = this.firsts.get(walk)!; !row.done; row = await walk.next()) yield row.value;
    }
  }

  async close(): Promise<void> {
    for (const walks of this.walks.values()) for (const walk of walks) await walk.return(undefined);
  }
}

function beyondTip(height: number | null, tip: number): SnapshotError {
  return new SnapshotError(
    height === null
      ? 'The chain has no block yet.'
      : `There is no block at height ${height} in the active chain, whose tip is at height ${tip}.`,
  );
}

/** Computes the rows of the sections that differ between block `target` and the tip. The store stays unchanged. */
async function takeBack(
  chain: ViewedChain,
  sections: readonly SnapshotSection[],
  target: number,
  signal: AbortSignal,
): Promise<KeyedRows> {
  const { index, store } = chain.deps;
  const { headers, active } = index;
  const depth = active.height - headers.height(target);
  if (depth > MOST_TAKEN_BACK)
    throw new SnapshotError(
      `Height ${headers.height(target)} is ${depth} blocks below the tip, and at most ${MOST_TAKEN_BACK} ` +
        'blocks can be undone. To dump a lower block, call invalidateblock for the block above it on a node that ' +
        'may go back, dump the tip, and call reconsiderblock.',
    );
  const rows = store.begin();
  const changed = new KeyedRows();
  try {
    let since = performance.now();
    for (let id = active.tip; id !== target; id = headers.prev(id)) {
      if (signal.aborted) throw new SnapshotError('The node is stopping.');
      await takeBackOne(chain, sections, id, rows, changed);
      if (rows.spilled)
        throw new SnapshotError(
          `The blocks above height ${headers.height(target)} changed more rows than fit in memory. Dump a ` +
            'block nearer to the tip, or call invalidateblock for the block above it on a node that may go back, ' +
            'and dump the tip.',
        );
      since = await yieldIfDue(since);
    }
    for (const [key, value] of rows.rows.entries()) changed.set(key, value);
    return changed;
  } finally {
    await store.discard(rows);
  }
}

async function takeBackOne(
  chain: ViewedChain,
  sections: readonly SnapshotSection[],
  id: number,
  rows: RowTransaction,
  coins: KeyedRows,
): Promise<void> {
  const { index, claims, files } = chain.deps;
  const { headers } = index;
  const height = headers.height(id);
  if (!headers.hasStatus(id, STATUS.haveData | STATUS.haveUndo))
    throw new SnapshotError(`Block ${height} cannot be undone: its data was pruned.`);
  let block: LoadedBlock;
  let undo: Buffer;
  try {
    block = await chain.readBlock(id);
    undo = files.readUndoSync(headers.undoPosition(id), headers.hash(headers.prev(id)));
  } catch (error) {
    if (error instanceof BlockFileError) throw new SnapshotError(error.message);
    throw error;
  }
  const { root } = await claims.disconnect(rows, height);
  const parent = await headers.readHeader(headers.prev(id));
  if (!equalBytes(root, parent.claimRoot))
    throw new ClaimCorruptionError(
      `the claim trie before block ${hashToHex(block.hash)} could not be restored`,
    );
  for (const section of sections) await section.takeBack?.(rows, height);
  takeBackCoins(block, undo, coins);
}

/** Restores the coins that the block spent and removes those that it created, including those spent in the same block. */
function takeBackCoins({ raw, parsed }: LoadedBlock, undo: Buffer, coins: KeyedRows): void {
  // The coinbase, which has no undo data, is the first transaction and has one input.
  parseUndo(undo).forEach((coin, n) => {
    coins.set(coinKey(prevoutAt(raw, parsed, n + 1)), formatCoinRow(coin));
  });
  const point = Buffer.alloc(OUTPOINT_SIZE_BYTES);
  for (let tx = 0; tx < parsed.txCount; tx++) {
    point.set(txidAt(parsed, tx));
    const count = parsed.txs[tx * TX_STRIDE + TX_OUTPUT_COUNT]!;
    for (let n = 0; n < count; n++) {
      point.writeUInt32LE(n, 32);
      coins.set(coinKey(point), null);
    }
  }
}
