/**
 * The blocks' data: written to the block files, kept in memory until connected, read back and looked at again. Owns
 * no verdict: data that is not what it was when it was stored is damage.
 */
import { BlockFileError, type BlockFiles, type FilePosition } from '../../store/files/blockFiles.js';
import { equalBytes, hashToHex } from '../../util/bytes.js';
import { onFile } from '../../util/text/environmentError.js';
import { ReadError } from '../../util/reader.js';
import type { BlockIndex } from '../index/blockIndex.js';
import { checkBlockView, checkContents } from '../connect/checkBlockView.js';
import { loadBlock, loadBlockAside, type LoadedBlock } from './loadedBlock.js';
import { scanPayments, type FoundPayments, type SoughtPayments } from './paymentScan.js';
import { WaitingBlocks } from './waitingBlocks.js';

const HASH_BYTES = 32;

export class StoredBlocks {
  private readonly files: BlockFiles;
  private readonly index: BlockIndex;
  private readonly waiting: WaitingBlocks;

  constructor(files: BlockFiles, index: BlockIndex) {
    this.files = files;
    this.index = index;
    this.waiting = new WaitingBlocks(index);
  }

  /**
   * Makes a new block's data known; writes it unless it is in the files already. Throws `EnvironmentError` when the disk
   * refuses.
   */
  add(id: number, block: LoadedBlock, position: FilePosition | null): void {
    const { files } = this;
    const write = (): FilePosition => files.writeBlock(block.raw);
    this.index.receiveData(
      id,
      block.parsed.txCount,
      position ?? onFile(files.path('blk', files.currentFile), write),
    );
    this.waiting.add(id, block);
  }

  /** The block for its connection: as it came, or as it lies on disk and was checked again. Throws `BlockFileError`. */
  async take(id: number): Promise<LoadedBlock> {
    const waiting = this.waiting.take(id);
    if (waiting) return waiting;
    const block = await this.read(id);
    const wrong = checkBlockView(block);
    if (wrong) throw this.damaged(id, wrong.reason);
    return block;
  }

  /**
   * Reads a stored block and compares it with its id, transactions and witnesses included. Throws `BlockFileError` when
   * the bytes are not that block any more. `beforeLooking` is waited for once they are read: holding them against the id
   * takes as long as the block is large, and so does what follows at once.
   */
  read(id: number, beforeLooking?: () => Promise<unknown>): Promise<LoadedBlock> {
    return this.readBy(loadBlock, id, beforeLooking);
  }

  /** The same, parsed and hashed on another thread: for many blocks that are read ahead. */
  readAside(id: number): Promise<LoadedBlock> {
    return this.readBy(loadBlockAside, id);
  }

  private async readBy(
    load: (bytes: Buffer) => LoadedBlock | Promise<LoadedBlock>,
    id: number,
    beforeLooking?: () => Promise<unknown>,
  ): Promise<LoadedBlock> {
    const { headers, versionBits } = this.index;
    let block: LoadedBlock;
    try {
      const bytes = await this.files.readBlock(headers.dataPosition(id));
      await beforeLooking?.();
      const loading = load(bytes);
      block = loading instanceof Promise ? await loading : loading;
    } catch (error) {
      throw error instanceof ReadError ? this.damaged(id, error.message) : error;
    }
    if (!equalBytes(block.hash, headers.hash(id))) throw this.damaged(id, 'another block lies there');
    const wrong = checkContents(block, versionBits.isActive('segwit', headers.prev(id)));
    if (wrong) throw this.damaged(id, wrong.reason);
    return block;
  }

  /**
   * Reads the first of these blocks, in ascending order of height, and those behind it in its file, and looks through them;
   * `FoundPayments.blockCount` says how many of them, at least one unless the first needs a closer look. Rejects with
   * `BlockFileError` where the first cannot be read. What is found may lie in `sought.memory`.
   */
  async scanPayments(ids: readonly number[], sought: SoughtPayments): Promise<FoundPayments> {
    const { headers, versionBits } = this.index;
    const { file, starts, hashes } = headers.runOf(ids, sought.memory.length);
    if (starts.length === 0)
      throw new BlockFileError('The data of the first of these blocks is not on disk.');
    const isSegwit = (n: number): boolean => versionBits.isActive('segwit', headers.prev(ids[n]!));
    const { bytes, places } = await this.files.readRun(file, starts, sought.memory);
    const count = places.length / 2;
    // From the first such block on all are.
    let [segwitFrom, end] = [0, count];
    while (segwitFrom < end) {
      const middle = (segwitFrom + end) >>> 1;
      if (isSegwit(middle)) end = middle;
      else segwitFrom = middle + 1;
    }
    return scanPayments({ bytes, places, ids: hashes.subarray(0, HASH_BYTES * count), segwitFrom }, sought);
  }

  /** Forgets what was kept for a connection that cannot come any more. */
  dropBeaten(): void {
    this.waiting.dropBeaten();
  }

  private damaged(id: number, what: string): BlockFileError {
    const { headers } = this.index;
    const { file, offset } = headers.dataPosition(id);
    return new BlockFileError(
      `block ${hashToHex(headers.hash(id))} is damaged on disk (${this.files.path('blk', file)} at ${offset}: ${what}). ` +
        'Bring the file back, or restart with -reindex to rebuild the database from the block files.',
    );
  }
}
