/**
 * Checks that the block and undo files match the database, as far as file sizes show: every file that the headers reference
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
      `${path} is a link to a file that is not there. Attach its disk or mend the link, then start again.`,
    );
  }
  throw new FolderError(
    found?.isFile() === false
      ? `${path} is ${found.isDirectory() ? 'a folder' : 'a pipe, socket or device'} where a file should be. Move it away and bring the file back, or restart with -reindex then to rebuild the database from the block files that are there.`
      : `${path} is missing or shorter than the database expects. Bring it back, or restart with -reindex to rebuild the database from the block files that are there.`,
  );
}
