/** Whether there is room to continue. Source: Core `CheckDiskSpace`. */
import { statfsSync } from 'node:fs';
import { onFile } from '../../util/text/environmentError.js';
import { OperatorError } from '../../util/text/operatorError.js';

/** Less free disk than this stops the node (Core's `nMinDiskSpace`). */
const MIN_DISK_SPACE_BYTES = 50 << 20;

/** The disk is too full to continue. */
export class DiskSpaceError extends OperatorError {
  override readonly name = 'DiskSpaceError';
}

/** Bytes that are free for us on the file system of a folder. */
export function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** The same; null if the folder cannot be asked, as before it was made. */
export function freeBytesOrNull(folder: string): number | null {
  try {
    return freeBytes(folder);
  } catch {
    return null;
  }
}

/** Throws `DiskSpaceError` when one of the folders has too little room left, `EnvironmentError` when it cannot be asked. */
export function checkDiskSpace(folders: readonly string[], free = freeBytes): void {
  for (const folder of folders) {
    if (onFile(folder, () => free(folder)) >= MIN_DISK_SPACE_BYTES) continue;
    throw new DiskSpaceError(
      `Disk space is low! Fewer than 50 MiB are free for ${folder}. Make room and start again; what was acknowledged is kept.`,
    );
  }
}
