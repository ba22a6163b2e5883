/**
 * Finds the blocks in a file of Core's format (magic, length, block; zeros and garbage in between are skipped), with only a
 * few blocks in memory. Source: Core's `LoadExternalBlockFile`.
 */
import { open } from 'node:fs/promises';
import { environmentError } from '../../util/text/environmentError.js';
import { refuseSpecialFile } from '../../util/specialFile.js';

/** Largest block size accepted (the chain's serialized limit). */
const MAX_BLOCK_BYTES = 8_000_000;
/** Smallest size of a block: header, a count and a transaction. Core uses its header's 80. */
const MIN_BLOCK_BYTES = 80;
/**
 * Bytes that are read at once. The memory is given back when every block of them was connected, so a larger piece only takes
 * more of it; a smaller one costs more reads.
 */
const READ_BYTES = 1 << 20;

export interface FoundBlock {
  /** Its bytes; a view that stays valid. */
  bytes: Buffer;
  /** Offset of the bytes in the file, behind magic and length. */
  offset: number;
  /** Offset of the end of the record. */
  end: number;
  /**
   * Distance from the magic at which the search continues. The reader of the record lowers it: to one byte when the bytes
   * are not a block, to the end of the block when more bytes follow it. This prevents a wrong length from skipping the
   * blocks behind it.
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
        const more = Buffer.allocUnsafe(Math.max(READ_BYTES, need - window.length));
        const { bytesRead } = await file.read(more, 0, more.length, base + window.length);
        if (bytesRead === 0) ended = true;
        else
          window =
            window.length === 0
              ? more.subarray(0, bytesRead)
              : Buffer.concat([window, more.subarray(0, bytesRead)]);
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
        // A truncated record, or a stray magic before garbage: the search continues behind it.
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
