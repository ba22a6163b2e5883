/**
 * Imports blocks from files in Core's format into the chain (`-loadblock`, `bootstrap.dat`): accepts blocks ahead of the
 * chain's tip, holds back children of unknown parents, and reports progress. Source: `LoadExternalBlockFile`.
 */
import { NO_HEADER, STATUS } from '../../store/files/headerTable.js';
import { hashToHex } from '../../util/bytes.js';
import { yieldIfDue } from '../../scheduler/yield.js';
import type { Logger } from '../../util/logging.js';
import { ReadError } from '../../util/reader.js';
import type { Chain } from '../chain.js';
import { readBlockRecords, type FoundBlock } from './importFile.js';
import { loadBlock, type LoadedBlock } from '../blocks/loadedBlock.js';
import type { FileProgress } from '../progress.js';

/** Size in bytes of the blocks that may be accepted before they are connected. Bounds the memory of waiting blocks. */
const AHEAD_BYTES = 8 << 20;
/** Maximum total size in bytes of blocks with unknown parents in memory. Above it, such blocks are discarded with a warning. */
const ORPHAN_BYTES = 64 << 20;

export interface ImportResult {
  /** Number of blocks that were new and have been stored. */
  stored: number;
  /** Number of block records read from the file. */
  read: number;
}

export interface ImportOptions {
  magic: Buffer;
  log: Logger;
  signal?: AbortSignal;
  progress: FileProgress;
}

/** Imports all blocks of one file. Throws if the file cannot be opened. */
export async function importBlockFile(
  chain: Chain,
  path: string,
  options: ImportOptions,
): Promise<ImportResult> {
  return new BlockFileImport(chain, path, options).run();
}

class BlockFileImport {
  private readonly chain: Chain;
  private readonly path: string;
  private readonly options: ImportOptions;
  private readonly result: ImportResult = { stored: 0, read: 0 };
  /** Blocks whose parents are unknown, by the hash of the parent. */
  private readonly orphans = new Map<string, LoadedBlock[]>();
  private orphanBytes = 0;
  private aheadBytes = 0;
  private connecting: Promise<void> | null = null;
  private failure: unknown = null;

  constructor(chain: Chain, path: string, options: ImportOptions) {
    this.chain = chain;
    this.path = path;
    this.options = options;
  }

  async run(): Promise<ImportResult> {
    const { chain, path } = this;
    const { log, signal, progress, magic } = this.options;
    log.debug('reindex', `Reading ${path}`);
    let since = performance.now();
    for await (const record of readBlockRecords(path, magic)) {
      if (signal?.aborted) break;
      this.result.read++;
      const block = this.parse(record);
      if (block === null) continue;
      this.acceptWithChildren(block);
      await this.connect();
      progress.read(record.end);
      since = await yieldIfDue(since);
    }
    for (const waiting of this.orphans.values())
      for (const { hash, header } of waiting)
        log.warn(
          `block ${hashToHex(hash)} of ${path} is skipped: its parent ${hashToHex(header.prevHash)} is unknown`,
        );
    await this.connecting;
    if (this.failure !== null) throw this.failure;
    await chain.connectBestChain();
    return this.result;
  }

  /**
   * Parses the block in a record; null if the bytes are not a block. Also sets the position where the next record is
   * searched.
   */
  private parse(record: FoundBlock): LoadedBlock | null {
    try {
      const block = loadBlock(record.bytes);
      record.advance = 8 + block.consumedBytes;
      return block;
    } catch (error) {
      if (!(error instanceof ReadError)) throw error;
      this.options.log.warn(
        `skipped bytes that are not a block at ${record.offset} of ${this.path}: ${error.message}`,
      );
      record.advance = 1;
      return null;
    }
  }

  /** Accepts a block whose parent is known, and then the stored blocks that waited for it as their parent. */
  private acceptWithChildren(block: LoadedBlock): void {
    const ready = [block];
    for (let next = ready.pop(); next; next = ready.pop()) {
      if (!this.accept(next)) continue;
      const hash = hashToHex(next.hash);
      const children = this.orphans.get(hash);
      if (!children) continue;
      this.orphans.delete(hash);
      for (const child of children) {
        this.orphanBytes -= child.raw.length;
        this.options.log.debug(
          'reindex',
          () => `Processing out of order child ${hashToHex(child.hash)} of ${hash}`,
        );
        ready.push(child);
      }
    }
  }

  /** Accepts the block and returns true if its parent is known. Otherwise stores the block until its parent arrives. */
  private accept(block: LoadedBlock): boolean {
    const { chain, path } = this;
    const { log, progress } = this.options;
    const { headers } = chain.index;
    const known = headers.find(block.hash);
    if (known !== NO_HEADER && headers.hasStatus(known, STATUS.haveData)) return true;
    const { isNew, error } = chain.acceptBlock(block, true);
    if (error?.reason === 'prev-blk-not-found') {
      this.keepOrphan(block);
      return false;
    }
    if (error) log.warn(`block ${hashToHex(block.hash)} of ${path} is invalid: ${error.reason}`);
    if (isNew) {
      this.result.stored++;
      this.aheadBytes += block.raw.length;
      progress.stored(block.raw.length);
    }
    return true;
  }

  private keepOrphan(block: LoadedBlock): void {
    const { log } = this.options;
    const parent = hashToHex(block.header.prevHash);
    if (this.orphanBytes + block.raw.length > ORPHAN_BYTES) {
      log.warn(
        `block ${hashToHex(block.hash)} of ${this.path} is skipped: its parent ${parent} occurs too far ` +
          'after it in the file',
      );
      return;
    }
    this.orphanBytes += block.raw.length;
    log.debug('reindex', `Out of order block ${hashToHex(block.hash)}, parent ${parent} not known`);
    const others = this.orphans.get(parent) ?? [];
    this.orphans.set(parent, [...others, { ...block, raw: Buffer.from(block.raw) }]);
  }

  /**
   * Starts to connect the best chain unless this is already running. Waits until the best chain is connected only if too
   * many accepted blocks are not connected yet.
   */
  private async connect(): Promise<void> {
    if (this.connecting !== null && this.aheadBytes < AHEAD_BYTES) return;
    await this.connecting;
    if (this.failure !== null) throw this.failure;
    this.aheadBytes = 0;
    this.connecting = this.chain
      .connectBestChain()
      .catch((error: unknown) => {
        this.failure = error;
      })
      .finally(() => {
        this.connecting = null;
      });
  }
}
