/** Saved files on disk: finds free names and existing files. Source: lbry-sdk `_get_next_available_file_name`. */
import { lstat, open, stat, type FileHandle } from 'node:fs/promises';
import { basename, join, parse, resolve } from 'node:path';
import { badValue } from '../base/daemonError.js';
import { makeFolder } from '../../util/files/makeFolder.js';
import { removeFile } from '../../util/files/removeFile.js';
import { environmentError, onFile } from '../../util/text/environmentError.js';
import { fittingName, splitExtension } from '../content/fileNames.js';
import type { SavedPlace } from '../content/rows.js';

/** Highest number that is appended to a file name in the search for a free name. Arbitrary. */
const MAX_NAMES = 10_000;

export const pathOf = ({ directory, fileName }: SavedPlace): string => join(directory, basename(fileName));

/** Where the user wants a file. A part that is undefined or empty means the default. */
export interface ChosenPlace {
  readonly directory?: string | undefined;
  readonly fileName?: string | undefined;
}

/**
 * The place in the form that `createOutput` needs: an absolute folder, so that a start from another folder finds the file, and
 * the last part of the name, shortened to the limit of file systems. Throws `DaemonError` if no file can have the name.
 */
export function usablePlace({ directory, fileName }: ChosenPlace): ChosenPlace {
  const name = fileName ? basename(fileName) : undefined;
  if (directory?.includes('\0')) throw badValue('A path cannot contain a null character.');
  if (name !== undefined && (/^\.{0,2}$/.test(name) || name.includes('\0')))
    throw badValue(`${JSON.stringify(fileName)} is not the name of a file.`);
  return {
    directory: directory ? resolve(directory) : undefined,
    fileName: name === undefined ? undefined : fittingName(...splitExtension(name)),
  };
}

/** Size of the file in bytes; null if it is missing. */
export async function outputSize(place: SavedPlace | null): Promise<number | null> {
  if (place === null) return null;
  const found = await stat(pathOf(place)).catch(() => null);
  return found?.isFile() ? found.size : null;
}

/**
 * Creates a file with the name, or with the first free number appended. Creates the folder if it is missing. Never
 * opens an existing file. `note` stores the place before the file exists, so that a kill leaves no file that no row names.
 * Throws `EnvironmentError`, and the errors of `note`.
 */
export async function createOutput(
  directory: string,
  fileName: string,
  note: (place: SavedPlace) => Promise<void>,
): Promise<{ readonly place: SavedPlace; readonly file: FileHandle }> {
  const { name, ext } = parse(basename(fileName));
  const onDisk = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw environmentError(error, join(directory, fileName));
    });
  onFile(join(directory, fileName), () => makeFolder(directory));
  for (let number = 0; ; number++) {
    const place = {
      directory,
      fileName: number === 0 ? basename(fileName) : fittingName(name, `_${number}${ext}`),
    };
    if (number < MAX_NAMES && (await onDisk(exists(pathOf(place))))) continue;
    await note(place);
    try {
      return { place, file: await open(pathOf(place), 'wx') };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || number >= MAX_NAMES)
        throw environmentError(error, pathOf(place));
    }
  }
}

/** Whether anything has that path, also a dangling link. */
async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Deletes a saved file. Does nothing if there is none. Throws `EnvironmentError` if the system refuses. */
export async function removeOutput(place: SavedPlace): Promise<void> {
  const path = pathOf(place);
  await removeFile(path).catch((error: unknown) => {
    throw environmentError(error, path);
  });
}
