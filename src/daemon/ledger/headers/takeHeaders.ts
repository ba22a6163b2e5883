/**
 * Imports block headers from a file named by the operator (`--initial-headers`) instead of requesting all of them from a
 * hub. The file has 112 bytes per header from the first block on, the format of this daemon and of lbry-sdk. The headers are
 * checked like headers from a hub. Source: lbry-sdk lbry/extras/cli.py `main`, which copies them unchecked.
 */
import { open, type FileHandle } from 'node:fs/promises';
import { HEADER_SIZE_BYTES } from '../../../primitives/header.js';
import { EnvironmentError, failureReason } from '../../../util/text/environmentError.js';
import type { Logger } from '../../../util/logging.js';
import { refuseSpecialFile } from '../../../util/files/specialFile.js';
import { BadHeader, type LedgerHeaders } from './ledgerHeaders.js';

/** Number of headers per read and check. It equals the number of headers per request to a hub. */
const AT_ONCE = 2000;
const NOTHING = Buffer.alloc(0);

const WITHOUT =
  'Use another file, or start without --initial-headers: all headers are then downloaded from a hub.';

export interface TakeHeadersOptions {
  readonly chain: LedgerHeaders;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Returns whether to stop. Called between chunks. Headers that were accepted before stay. */
  readonly isStopped: () => boolean;
}

/**
 * Imports the headers of the file beyond the chain. A file on another branch is logged and skipped. Throws
 * `EnvironmentError` for a file that does not hold headers of this chain. Valid headers before an invalid one are kept.
 */
export async function takeHeaders(path: string, options: TakeHeadersOptions): Promise<void> {
  let file: FileHandle;
  try {
    refuseSpecialFile(path);
    file = await open(path, 'r');
  } catch (error) {
    throw new EnvironmentError(
      `The block headers in ${path} cannot be read: ${failureReason(error)}. ${WITHOUT}`,
    );
  }
  try {
    await takeFrom(file, path, options);
  } catch (error) {
    if (error instanceof BadHeader)
      throw new EnvironmentError(`${path} cannot be used: ${error.message}. ${WITHOUT}`);
    throw error;
  } finally {
    await file.close();
  }
}

async function takeFrom(
  file: FileHandle,
  path: string,
  { chain, log, isStopped }: TakeHeadersOptions,
): Promise<void> {
  const status = await file.stat();
  if (!status.isFile()) throw new BadHeader('it is not a regular file');
  const count = status.size / HEADER_SIZE_BYTES;
  if (count === 0 || !Number.isInteger(count))
    throw new BadHeader(
      `its size of ${status.size} bytes is not a multiple of ${HEADER_SIZE_BYTES}, the size of a block ` +
        'header; it may be truncated',
    );
  const read = async (height: number, most: number): Promise<Buffer> => {
    const headers = Buffer.alloc(Math.min(most, count - height) * HEADER_SIZE_BYTES);
    const { bytesRead } = await file.read(headers, 0, headers.length, height * HEADER_SIZE_BYTES);
    if (bytesRead < headers.length) throw new BadHeader('it became shorter while it was being read');
    return headers;
  };
  if (!(await read(0, 1)).equals(chain.headerAt(0)!))
    throw new BadHeader('it does not begin with the first header of this chain');
  if (count - 1 <= chain.height) return log.info(`${path} contains no block headers that are missing here`);
  if (!(await read(chain.height, 1)).equals(chain.headerAt(chain.height)!))
    return log.warn(`${path} is ignored: it contains another branch than the stored block headers`);
  log.info(`Block headers ${chain.height + 1} to ${count - 1} are imported from ${path}`);
  while (chain.height < count - 1 && !isStopped()) {
    const branch = { forkHeight: chain.height, headers: NOTHING };
    const headers = await read(chain.height + 1, AT_ONCE);
    assertNoHole(headers, chain.height + 1);
    await chain.check(branch, headers);
    chain.accept({ ...branch, headers });
  }
}

/**
 * Throws if a header consists of zeros. lbry-sdk fetches headers on demand, and its file contains zeros for missing ones.
 */
function assertNoHole(headers: Buffer, first: number): void {
  for (let at = 0; at < headers.length; at += HEADER_SIZE_BYTES)
    if (headers.subarray(at, at + HEADER_SIZE_BYTES).every((byte) => byte === 0))
      throw new BadHeader(`the header at height ${first + at / HEADER_SIZE_BYTES} is missing`);
}
