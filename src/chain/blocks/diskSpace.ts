/** Checks for sufficient free disk space. Source: Core `CheckDiskSpace`. */
import { statfsSync } from 'node:fs';
import { onFile } from '../../util/text/environmentError.js';
import { OperatorError } from '../../util/text/operatorError.js';

/** Minimum free disk space in bytes. With less the node stops (Core's `nMinDiskSpace`). */
const MIN_DISK_SPACE_BYTES = 50 << 20;

/** Thrown if less than `MIN_DISK_SPACE_BYTES` of disk space is free. */
export class DiskSpaceError extends OperatorError {
  override readonly name = 'DiskSpaceError';
}

/** Bytes available to this user on the file system of a folder. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Like `freeBytes`, but returns null if the value cannot be read, for example before the folder is created. */
export function freeBytesOrNull(folder: string): number | null {
  try {
    return freeBytes(folder);
  } catch {
    return null;
  }
}

/**
 * Checks the free disk space. Throws `DiskSpaceError` if a folder has too little, and `EnvironmentError` if the space cannot
 * be read.
 */
export function checkDiskSpace(folders: readonly string[], free = freeBytes): void {
  for (const folder of folders) {
    if (onFile(folder, () => free(folder)) >= MIN_DISK_SPACE_BYTES) continue;
    throw new DiskSpaceError(
      `Disk space is low! Fewer than 50 MiB are free for ${folder}. Free disk space and start again; no ` +
        'acknowledged data is lost.',
    );
  }
}
