/**
 * Deletes old block and undo files (`-prune`): automatically to stay below a target, or manually up to a given height. The
 * last 288 blocks, and blocks that an index has not read yet, are never deleted. Source: Core `FindFilesToPrune`,
 * `FindFilesToPruneManual`, `PruneOneBlockFile`.
 */
import { NO_HEADER } from '../../store/files/headerTable.js';
import type { Logger } from '../../util/logging.js';
import type { Chain } from '../chain.js';
import { MIN_BLOCKS_TO_KEEP } from './acceptance.js';
import type { Flusher } from '../flusher.js';

/** Number of bytes below the target that must stay free for the next chunk of a block file and its undo data. */
const HEADROOM_BYTES = 17 << 20;

const mib = (bytes: number): number => Math.trunc(bytes / (1 << 20));

export interface PruneOptions {
  /** Target size of block and undo files in bytes; null allows manual pruning only. */
  targetBytes: number | null;
  /** Returns the lowest height of the blocks that indexes still have to read. Called before files are deleted. */
  neededFrom: () => number;
}

interface FileUse {
  file: number;
  /** Height of the highest block in the file, on any branch. */
  lastHeight: number;
  ids: number[];
}

export class Pruner {
  private readonly chain: Chain;
  private readonly flusher: Flusher;
  private readonly options: PruneOptions;
  private readonly log: Logger;
  private checkedFile = -1;

  constructor(chain: Chain, flusher: Flusher, options: PruneOptions, log: Logger) {
    this.chain = chain;
    this.flusher = flusher;
    this.options = options;
    this.log = log;
    chain.events.on('tipChanged', () => {
      const { currentFile } = chain.deps.files;
      if (this.options.targetBytes === null || currentFile === this.checkedFile) return;
      // During a rebuild of the chain state the block files are still read, so none is deleted.
      if (flusher.isRebuilding) return;
      this.checkedFile = currentFile;
      // The chain itself reports the error of a failed change and stops the node, so the error is ignored here.
      this.pruneToTarget().catch(() => undefined);
    });
  }

  get automatic(): boolean {
    return this.options.targetBytes !== null;
  }

  get targetBytes(): number {
    return this.options.targetBytes ?? 0;
  }

  /** Size in bytes of the block and undo files on disk. */
  usageBytes(): number {
    const { files } = this.chain.deps;
    return files
      .fileNumbers()
      .reduce((sum, file) => sum + files.sizeBytes('blk', file) + files.sizeBytes('rev', file), 0);
  }

  /** Lowest height from which the active chain's block data is stored without a gap up to the tip. */
  lowestStoredHeight(): number {
    const { active, headers } = this.chain.index;
    let height = active.height;
    while (height > 0 && headers.file(active.at(height - 1)) >= 0) height--;
    return height;
  }

  /**
   * Block ids in each file that may be deleted. The list of a file is empty if a crash happened after the headers were
   * removed but before the file was deleted.
   */
  private uses(): FileUse[] {
    const { headers } = this.chain.index;
    const { files } = this.chain.deps;
    const uses = new Map<number, FileUse>();
    if (this.flusher.pruned)
      for (const file of files.fileNumbers()) uses.set(file, { file, lastHeight: 0, ids: [] });
    for (let id = 0; id < headers.count; id++) {
      const file = headers.file(id);
      if (file < 0) continue;
      let use = uses.get(file);
      if (!use) uses.set(file, (use = { file, lastHeight: 0, ids: [] }));
      use.lastHeight = Math.max(use.lastHeight, headers.height(id));
      use.ids.push(id);
    }
    // The next start reads the block files from this position on, because the index does not contain their blocks. These
    // files are kept.
    const end = Math.min(files.currentFile, this.flusher.scanFrom?.file ?? Infinity);
    return [...uses.values()].filter(({ file }) => file < end).sort((a, b) => a.file - b.file);
  }

  private lastPrunable(): number {
    return Math.min(this.chain.height - MIN_BLOCKS_TO_KEEP, this.options.neededFrom() - 1);
  }

  /** Deletes all files whose blocks are at or below `height`. Returns the height of the highest deleted block. */
  pruneToHeight(height: number): Promise<number> {
    return this.chain.change(async () => {
      const last = Math.min(height, this.lastPrunable());
      const doomed = this.uses().filter((use) => use.lastHeight <= last);
      this.log.debug(
        'prune',
        `Prune by hand: max_prune_height=${last} removes ${doomed.length} blk/rev pairs`,
      );
      await this.remove(doomed);
      return this.lowestStoredHeight() - 1;
    });
  }

  /** Deletes the oldest files until the remaining ones fit the target; only for automatic pruning. */
  pruneToTarget(): Promise<void> {
    return this.chain.change(async () => {
      const { params } = this.chain.deps;
      if (this.chain.tip === NO_HEADER || this.chain.height <= params.pruneAfterHeight) return;
      const last = this.lastPrunable();
      const { files } = this.chain.deps;
      let usage = this.usageBytes();
      const doomed: FileUse[] = [];
      for (const use of this.uses()) {
        if (usage + HEADROOM_BYTES <= this.targetBytes) break;
        if (use.lastHeight > last) continue;
        usage -= files.sizeBytes('blk', use.file) + files.sizeBytes('rev', use.file);
        doomed.push(use);
      }
      this.log.debug(
        'prune',
        () =>
          `Prune: target=${mib(this.targetBytes)}MiB actual=${mib(usage)}MiB diff=${mib(this.targetBytes - usage)}MiB max_prune_height=${last} removes ${doomed.length} blk/rev pairs`,
      );
      await this.remove(doomed);
    });
  }

  /** Removes the files from the database first, then from disk: a crash between the two steps leaves files without references. */
  private async remove(uses: FileUse[]): Promise<void> {
    if (uses.length === 0) return;
    for (const use of uses) for (const id of use.ids) this.chain.index.forgetData(id);
    this.flusher.pruned = true;
    await this.flusher.flush();
    for (const { file, lastHeight, ids } of uses) {
      this.chain.deps.files.remove(file);
      this.log.debug(
        'prune',
        `Prune: deleted blk/rev ${file}, ${ids.length} blocks up to height ${lastHeight}`,
      );
    }
    this.log.info(`Prune: deleted block files ${uses.map((use) => use.file).join(', ')}`);
  }
}
