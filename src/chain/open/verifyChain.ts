/**
 * Checks the last blocks of the active chain: their files, the rules, the undo data, and disconnecting and connecting them
 * again on scratch copies of coins and claims. The stored state does not change, except that missing rows of the claim trie
 * are rebuilt. Source: Core validation.cpp `CVerifyDB::VerifyDB`.
 */
import { ClaimCorruptionError } from '../../claimtrie/corruption.js';
import { BlockFileError } from '../../store/files/blockFiles.js';
import { formatCoinRow, parseUndo } from '../../store/cache/coinRow.js';
import type { CoinTable } from '../../store/cache/coinTable.js';
import { createCoinTable } from '../../store/cache/createCoinTable.js';
import { NO_HEADER, STATUS } from '../../store/files/headerTable.js';
import { PREFIX } from '../../store/rows/keys.js';
import type { RowReader, RowTransaction } from '../../store/rows/rows.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import { equalBytes, fromLatin1, hashToHex, type Bytes } from '../../util/bytes.js';
import { ReadError } from '../../util/reader.js';
import type { Chain } from '../chain.js';
import { withClaimRepair } from './claimRepair.js';
import { checkBlockView } from '../connect/checkBlockView.js';
import { checkConnect, loadCoins, type ConnectDeps } from '../connect/connectBlock.js';
import type { LoadedBlock } from '../blocks/loadedBlock.js';

/**
 * Maximum memory in bytes of the scratch coins. Blocks are disconnected until it is reached. Lower blocks are checked only
 * up to level 2.
 */
const SCRATCH_BYTES = 256 << 20;

const LEVEL = { rules: 1, undo: 2, disconnect: 3, reconnect: 4 } as const;

export interface VerifyOptions {
  /**
   * Level of the check (`-checklevel`), 0 to 4; other values are clamped. The levels add: reading, rules, undo data,
   * disconnecting, connecting again.
   */
  level: number;
  /** Number of blocks to check; 0 or less for all. */
  blocks: number;
  /** Signal that aborts the check. An aborted check reports no problem. */
  signal: AbortSignal;
}

/** Coins of the running chain as database rows. Coins in the coin table have priority over the database. */
function liveCoins({ coins, store }: ConnectDeps): Pick<RowReader, 'getMany'> {
  return {
    async getMany(keys) {
      const rows = await store.getMany(keys);
      return keys.map((key, i): Bytes | undefined => {
        const known = coins.get(fromLatin1(key.slice(PREFIX.coin.length)));
        if (known === undefined) return rows[i];
        return known === null ? undefined : formatCoinRow(known);
      });
    },
  };
}

class Verification {
  private readonly deps: ConnectDeps;
  private readonly level: number;
  private readonly scratch: CoinTable = createCoinTable();
  private readonly coinRows: Pick<RowReader, 'getMany'>;
  private readonly rows: RowTransaction;
  /** Blocks that were disconnected from the copy of the state, starting with the highest. */
  private readonly disconnected: number[] = [];

  constructor(deps: ConnectDeps, level: number, rows: RowTransaction) {
    this.deps = deps;
    this.level = level;
    this.rows = rows;
    this.coinRows = liveCoins(deps);
  }

  /** Checks the blocks above height `floor`. Returns the first error, or null. */
  async run(chain: Chain, floor: number, signal: AbortSignal): Promise<string | null> {
    const { headers } = this.deps.index;
    let since = performance.now();
    for (
      let id = chain.tip;
      headers.height(id) > floor && headers.prev(id) !== NO_HEADER;
      id = headers.prev(id)
    ) {
      // A pruned node checks only blocks whose data it has. A node on a snapshot checks only blocks above the snapshot's
      // block.
      if (!headers.hasStatus(id, STATUS.haveData)) break;
      if (headers.height(id) <= this.deps.index.snapshotHeight) break;
      const problem = await this.checkStored(chain, id);
      if (problem !== null) return `${problem} at ${headers.height(id)}, hash=${hashToHex(headers.hash(id))}`;
      if (signal.aborted) return null;
      since = await yieldIfDue(since);
    }
    if (this.level < LEVEL.reconnect) return null;
    for (const id of this.disconnected.reverse()) {
      const problem = await this.reconnect(await chain.readBlock(id), headers.prev(id));
      if (problem !== null) return `found unconnectable block at ${headers.height(id)} (${problem})`;
      if (signal.aborted) return null;
      since = await yieldIfDue(since);
    }
    return null;
  }

  private async checkStored(chain: Chain, id: number): Promise<string | null> {
    const { headers } = this.deps.index;
    const block = await this.read(chain, id);
    if (typeof block === 'string') return block;
    if (this.level >= LEVEL.rules) {
      const error = checkBlockView(block);
      if (error) return `found bad block (${error.reason})`;
    }
    if (this.level < LEVEL.undo) return null;
    const undo = this.readUndo(id);
    if (undo === null)
      return `found bad undo data in ${this.deps.files.path('rev', this.deps.index.headers.file(id))}`;
    const isNext = this.disconnected.length === chain.height - headers.height(id);
    if (this.level < LEVEL.disconnect || !isNext || this.scratch.usageBytes > SCRATCH_BYTES) return null;
    return this.disconnect(block, id, undo);
  }

  /** Returns the block, or an error message. */
  private async read(chain: Chain, id: number): Promise<LoadedBlock | string> {
    const { index, files } = this.deps;
    const unreadable = `the block cannot be read from ${files.path('blk', index.headers.file(id))}`;
    try {
      const block = await chain.readBlock(id);
      const isRight = equalBytes(block.hash, index.headers.hash(id)) && !index.checkWork(block.header);
      return isRight ? block : unreadable;
    } catch (error) {
      if (error instanceof BlockFileError || error instanceof ReadError) return unreadable;
      throw error;
    }
  }

  private readUndo(id: number): Buffer | null {
    const { index, files } = this.deps;
    const { headers } = index;
    try {
      const undo = files.readUndoSync(headers.undoPosition(id), headers.hash(headers.prev(id)));
      parseUndo(undo);
      return undo;
    } catch (error) {
      if (error instanceof BlockFileError || error instanceof ReadError) return null;
      throw error;
    }
  }

  private async disconnect(block: LoadedBlock, id: number, undo: Buffer): Promise<string | null> {
    const { index, claims } = this.deps;
    const { headers } = index;
    const height = headers.height(id);
    await loadCoins({ coins: this.scratch, store: this.coinRows }, block, true);
    if (this.scratch.revert(block.raw, block.parsed, undo, height) !== 'ok') {
      return `coin database inconsistencies found in ${this.deps.folder}`;
    }
    const { root } = await claims.disconnect(this.rows, height);
    const parent = await headers.readHeader(headers.prev(id));
    if (!equalBytes(root, parent.claimRoot))
      throw new ClaimCorruptionError(`the claim trie before height ${height} could not be restored`);
    await this.rows.relieve();
    this.disconnected.push(id);
    return null;
  }

  private async reconnect(block: LoadedBlock, parent: number): Promise<string | null> {
    const deps = { ...this.deps, coins: this.scratch, store: this.coinRows, coinsOnDisk: () => true };
    const checked = await checkConnect(deps, block, parent, this.rows, {
      checkScripts: true,
      wanted: { changes: false, report: false },
    });
    if (checked.error) return checked.error.reason;
    this.scratch.apply(block.raw, block.parsed, this.deps.index.headers.height(parent) + 1);
    await this.rows.relieve();
    return null;
  }
}

/** Checks the last blocks. Returns the first error, or null. The chain must not change during the check. */
export function verifyChain(chain: Chain, options: VerifyOptions): Promise<string | null> {
  return chain.exclusively(async () => {
    if (chain.tip === NO_HEADER || chain.height === 0) return null;
    const level = Math.max(0, Math.min(LEVEL.reconnect, options.level));
    const depth = options.blocks <= 0 || options.blocks > chain.height ? chain.height : options.blocks;
    const { store } = chain.deps;
    return withClaimRepair(chain.deps, async () => {
      const rows = store.begin();
      try {
        return await new Verification(chain.deps, level, rows).run(
          chain,
          chain.height - depth,
          options.signal,
        );
      } finally {
        await store.discard(rows);
      }
    });
  });
}
