/**
 * Checks that the block and undo files match the database as far as file sizes show: every file to which a header refers
 * exists and is large enough. Source: Core `LoadBlockIndexDB`.
 */
import { lstatSync, statSync } from 'node:fs';
import type { BlockFiles } from '../../store/files/blockFiles.js';
import type { HeaderTable } from '../../store/files/headerTable.js';
import { onFile } from '../../util/text/environmentError.js';
import type { ChainState } from '../connect/chainState.js';
import { FolderError } from './folderIdentity.js';

/** Throws `FolderError`. */
export function checkBlockFiles(
  headers: HeaderTable,
  files: BlockFiles,
  { scannedFile, scannedBytes }: Pick<ChainState, 'scannedFile' | 'scannedBytes'>,
): void {
  for (const kind of ['blk', 'rev'] as const) {
    for (const [file, offset] of headers.furthestOffsets(kind)) mustReach(files.path(kind, file), offset + 1);
  }
  mustReach(files.path('blk', scannedFile), scannedBytes);
}

function mustReach(path: string, leastBytes: number): void {
  const found = onFile(path, () => statSync(path, { throwIfNoEntry: false }));
  if (found?.isFile() === true ? found.size >= leastBytes : !found && leastBytes === 0) return;
  if (!found && lstatSync(path, { throwIfNoEntry: false }) !== undefined) {
    throw new FolderError(
      `${path} is a symbolic link to a file that does not exist. Mount its disk or correct the link, then start again.`,
    );
  }
  throw new FolderError(
    found?.isFile() === false
      ? `${path} is ${found.isDirectory() ? 'a folder' : 'a pipe, socket or device'}, and a file is ` +
          'expected. Move it away and restore the file, or restart with -reindex to rebuild the database from ' +
          'the existing block files.'
      : `${path} is missing or shorter than the database expects. Restore it, or restart with -reindex to ` +
          'rebuild the database from the existing block files.',
  );
}
