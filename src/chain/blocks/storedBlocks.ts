/**
 * The blocks' data: written to the block files, cached until the block is connected, read back and verified. Decides nothing
 * about validity: data that differs from the stored block is corruption.
 */
import { BlockFileError, type BlockFiles, type FilePosition } from '../../store/files/blockFiles.js';
import { crc32c } from '../../crypto/crc32c.js';
import { equalBytes, hashToHex } from '../../util/bytes.js';
import { onFile } from '../../util/text/environmentError.js';
import { ReadError } from '../../util/reader.js';
import type { BlockIndex } from '../index/blockIndex.js';
import { checkBlockView, checkContents } from '../connect/checkBlockView.js';
import { loadBlock, loadBlockAside, type LoadedBlock } from './loadedBlock.js';
import { scanPayments, type FoundPayments, type SoughtPayments } from './paymentScan.js';
import { WaitingBlocks } from './waitingBlocks.js';

const HASH_BYTES = 32;
/** Maximum number of blocks with a remembered checksum. */
const CHECKSUMS_MAX = 4096;

export class StoredBlocks {
  private readonly files: BlockFiles;
  private readonly index: BlockIndex;
  private readonly waiting: WaitingBlocks;
  /** CRC-32C of the stored bytes of blocks that `readBytes` has verified, by block id, least recently used first. */
  private readonly checksums = new Map<number, number>();

  constructor(files: BlockFiles, index: BlockIndex) {
    this.files = files;
    this.index = index;
    this.waiting = new WaitingBlocks(index);
  }

  /**
   * Registers a new block's data; writes it unless the block files already contain it. `mayWait`: the data may wait in
   * memory until the best chain has been connected. Throws `EnvironmentError` when the disk fails.
   */
  add(id: number, block: LoadedBlock, position: FilePosition | null, mayWait: boolean): void {
    const { files } = this;
    const write = (): FilePosition => {
      const written = files.writeBlock(block.raw);
      if (!mayWait) files.writeOut();
      return written;
    };
    this.index.receiveData(
      id,
      block.parsed.txCount,
      position ?? onFile(() => files.path('blk', files.currentFile), write),
    );
    this.waiting.add(id, block);
  }

  /** Returns the block for its connection: from the cache, or read from disk and verified. Throws `BlockFileError`. */
  async take(id: number): Promise<LoadedBlock> {
    const waiting = this.waiting.take(id);
    if (waiting) return waiting;
    const block = await this.readBy(loadBlock, id, (position) => this.files.readNextBlock(position));
    const wrong = checkBlockView(block);
    if (wrong) throw this.corruption(id, wrong.reason);
    return block;
  }

  /**
   * Reads a stored block and compares it with its id, transactions and witnesses included. Throws `BlockFileError` when the
   * bytes are not that block any more. `beforeLooking` is awaited between reading and verifying. The caller uses it to choose
   * the time of the verification, which takes long for a large block.
   */
  read(id: number, beforeLooking?: () => Promise<unknown>): Promise<LoadedBlock> {
    return this.readBy(loadBlock, id, undefined, beforeLooking);
  }

  /**
   * Like `read`, for callers that need the serialized block only. A block that was verified before is compared with its
   * checksum, which takes a small part of the time.
   */
  async readBytes(id: number, beforeLooking?: () => Promise<unknown>): Promise<Buffer> {
    const { checksums } = this;
    const bytes = await this.files.readBlock(this.index.headers.dataPosition(id));
    if (beforeLooking) await beforeLooking();
    const checksum = crc32c(bytes);
    if (checksums.get(id) !== checksum) {
      const { raw } = await this.verified(loadBlock, id, bytes);
      // The stored bytes of a block in non-canonical form differ from the serialized block, so their checksum is not kept.
      if (raw.length !== bytes.length) return raw;
    }
    checksums.delete(id);
    checksums.set(id, checksum);
    if (checksums.size > CHECKSUMS_MAX) checksums.delete(checksums.keys().next().value!);
    return bytes;
  }

  /** Like `read`, for blocks that are mostly read in the order of the files. Reads several small blocks with one call. */
  readNext(id: number): Promise<LoadedBlock> {
    return this.readBy(loadBlock, id, (position) => this.files.readNextBlock(position));
  }

  /** Like `read`, but parses and hashes the block on another thread. For many blocks that are read ahead. */
  readAside(id: number): Promise<LoadedBlock> {
    return this.readBy(loadBlockAside, id);
  }

  private async readBy(
    load: (bytes: Buffer) => LoadedBlock | Promise<LoadedBlock>,
    id: number,
    readBytes = (position: FilePosition): Promise<Buffer> => this.files.readBlock(position),
    beforeLooking?: () => Promise<unknown>,
  ): Promise<LoadedBlock> {
    const bytes = await readBytes(this.index.headers.dataPosition(id));
    if (beforeLooking) await beforeLooking();
    return this.verified(load, id, bytes);
  }

  /** Parses stored bytes and compares them with the block's id. Throws `BlockFileError` when they are another block. */
  private async verified(
    load: (bytes: Buffer) => LoadedBlock | Promise<LoadedBlock>,
    id: number,
    bytes: Buffer,
  ): Promise<LoadedBlock> {
    const { headers, versionBits } = this.index;
    let block: LoadedBlock;
    try {
      const loading = load(bytes);
      block = loading instanceof Promise ? await loading : loading;
    } catch (error) {
      throw error instanceof ReadError ? this.corruption(id, error.message) : error;
    }
    if (!equalBytes(block.hash, headers.hash(id)))
      throw this.corruption(id, 'another block is at this position');
    const wrong = checkContents(block, versionBits.isActive('segwit', headers.prev(id)));
    if (wrong) throw this.corruption(id, wrong.reason);
    return block;
  }

  /**
   * Takes blocks in ascending order of height. Reads the first block and those of the following blocks that are in the same
   * file, and scans them. `FoundPayments.blockCount` is the number of blocks scanned, at least one unless the first needs a
   * full check. Rejects with `BlockFileError` if the first cannot be read. Results may be views of `sought.memory`.
   */
  async scanPayments(ids: readonly number[], sought: SoughtPayments): Promise<FoundPayments> {
    const { headers, versionBits } = this.index;
    const { file, starts, hashes } = headers.runOf(ids, sought.memory.length);
    if (starts.length === 0)
      throw new BlockFileError('The data of the first requested block is not on disk.');
    const isSegwit = (n: number): boolean => versionBits.isActive('segwit', headers.prev(ids[n]!));
    const { bytes, places } = await this.files.readRun(file, starts, sought.memory);
    const count = places.length / 2;
    // If one block has segwit active, all later blocks do too. A binary search finds the first such block.
    let [segwitFrom, end] = [0, count];
    while (segwitFrom < end) {
      const middle = (segwitFrom + end) >>> 1;
      if (isSegwit(middle)) end = middle;
      else segwitFrom = middle + 1;
    }
    return scanPayments({ bytes, places, ids: hashes.subarray(0, HASH_BYTES * count), segwitFrom }, sought);
  }

  /** Removes cached blocks that have no chance of being connected any more. */
  dropBeaten(): void {
    this.waiting.dropBeaten();
  }

  private corruption(id: number, what: string): BlockFileError {
    const { headers } = this.index;
    const { file, offset } = headers.dataPosition(id);
    return new BlockFileError(
      `block ${hashToHex(headers.hash(id))} is corrupt on disk (${this.files.path('blk', file)} at ` +
        `${offset}: ${what}). Restore the file, or restart with -reindex to rebuild the database from the ` +
        'block files.',
    );
  }
}
