/**
 * Whether the block and undo files are what the database says of them, as far as a look at their ends tells: every file
 * that the headers name is there, and reaches as far as they say. Source: Core `LoadBlockIndexDB`.
 */
import type { BlockFiles } from '../store/blockFiles.js';
import type { HeaderTable } from '../store/headerTable.js';
import type { ChainState } from './chainState.js';
import { FolderError } from './folderIdentity.js';

/** Throws `FolderError`. */
export function checkBlockFiles(
  headers: HeaderTable,
  files: BlockFiles,
  { scannedFile, scannedBytes }: Pick<ChainState, 'scannedFile' | 'scannedBytes'>,
): void {
  for (const kind of ['blk', 'rev'] as const) {
    for (const [file, offset] of headers.furthestOffsets(kind)) {
      if (files.sizeBytes(kind, file) <= offset) throw tooShort(files.path(kind, file));
    }
  }
  if (files.sizeBytes('blk', scannedFile) < scannedBytes) throw tooShort(files.path('blk', scannedFile));
}

function tooShort(path: string): FolderError {
  return new FolderError(
    `${path} is missing or shorter than the database expects. Bring it back, or restart with -reindex to rebuild the database from the block files that are there.`,
  );
}
