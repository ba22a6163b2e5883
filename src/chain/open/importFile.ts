/**
 * Finds the blocks in a file of Core's format: magic, length, block. Zeros and other bytes between blocks are skipped. Only
 * a few blocks are in memory at a time. Source: Core's `LoadExternalBlockFile`.
 */
import { open } from 'node:fs/promises';
import { environmentError } from '../../util/text/environmentError.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';

/** Maximum size of a block in bytes (the chain's limit of serialized blocks). */
const MAX_BLOCK_BYTES = 8_000_000;
/** Lengths below this size cannot be blocks. Value of Core, whose headers have 80 bytes. */
const MIN_BLOCK_BYTES = 80;
/**
 * Number of bytes per read. The memory of a read is freed only after all its blocks are connected, so larger reads need more
 * memory. Smaller reads take more calls.
 */
const READ_BYTES = 1 << 20;

export interface FoundBlock {
  /** Bytes of the block, as a view that stays valid. */
  bytes: Buffer;
  /** Offset of the block in the file, after magic and length. */
  offset: number;
  /** Offset of the end of the record. */
  end: number;
  /**
   * Distance in bytes from the record's magic at which the search for the next record continues. The consumer of the record
   * lowers the value: to one byte when the bytes are not a block, and to the end of the block when the record is longer. A
   * wrong length therefore does not skip the blocks that follow.
   */
  advance: number;
}

/**
 * Yields the records from `from` on, in order. A truncated record is not yielded; `onTorn` receives its position. Throws
 * `EnvironmentError` when the disk fails.
 */
export async function* readBlockRecords(
  path: string,
  magic: Buffer,
  from = 0,
  onTorn: (offset: number) => void = () => undefined,
): AsyncGenerator<FoundBlock> {
  refuseSpecialFile(path);
  const file = await open(path, 'r');
  try {
    let base = from;
    let window: Buffer = Buffer.alloc(0);
    let ended = false;
    const fill = async (need: number): Promise<boolean> => {
      while (window.length < need && !ended) {
        // The rest of the window is shorter than a record, so little is copied. Earlier bytes stay in their buffer.
        const kept = window.length;
        const larger = Buffer.allocUnsafe(kept + Math.max(READ_BYTES, need - kept));
        window.copy(larger);
        const { bytesRead } = await file.read(larger, kept, larger.length - kept, base + kept);
        if (bytesRead === 0) ended = true;
        else window = larger.subarray(0, kept + bytesRead);
      }
      return window.length >= need;
    };
    const drop = (count: number): void => {
      window = window.subarray(count);
      base += count;
    };
    while (await fill(8)) {
      const at = window.indexOf(magic);
      if (at < 0) {
        drop(window.length - 3);
        continue;
      }
      drop(at);
      if (!(await fill(8))) return;
      const length = window.readUInt32LE(4);
      if (length < MIN_BLOCK_BYTES || length > MAX_BLOCK_BYTES) {
        drop(1);
        continue;
      }
      if (!(await fill(8 + length))) {
        // The record is truncated, or other bytes contain the magic. The search continues after the first byte of the
        // magic.
        onTorn(base);
        drop(1);
        continue;
      }
      const found = {
        bytes: window.subarray(8, 8 + length),
        offset: base + 8,
        end: base + 8 + length,
        advance: 8 + length,
      };
      yield found;
      drop(found.advance);
    }
  } catch (error) {
    throw environmentError(error, path);
  } finally {
    await file.close();
  }
}
