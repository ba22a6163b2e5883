/** Saved files on disk: names that are free, and what is there. Source: lbry-sdk `_get_next_available_file_name`. */
import { mkdir, open, rm, stat, type FileHandle } from 'node:fs/promises';
import { basename, join, parse } from 'node:path';
import { environmentError } from '../../util/text/environmentError.js';
import type { SavedPlace } from '../content/rows.js';

/** Names that are tried. Arbitrary. */
const MAX_NAMES = 10_000;

export const pathOf = ({ directory, fileName }: SavedPlace): string => join(directory, basename(fileName));

/** The bytes of the file; null if there is none. */
export async function outputSize(place: SavedPlace | null): Promise<number | null> {
  if (place === null) return null;
  const found = await stat(pathOf(place)).catch(() => null);
  return found?.isFile() ? found.size : null;
}

/**
 * Makes a new file of that name, or of the name with the first number that is free, in a folder that is made where it is
 * missing. A file that is there is never opened. Throws `EnvironmentError`.
 */
export async function createOutput(
  directory: string,
  fileName: string,
): Promise<{ readonly place: SavedPlace; readonly file: FileHandle }> {
  const { name, ext } = parse(basename(fileName));
  try {
    await mkdir(directory, { recursive: true });
    for (let number = 0; ; number++) {
      const place = { directory, fileName: number === 0 ? basename(fileName) : `${name}_${number}${ext}` };
      try {
        return { place, file: await open(pathOf(place), 'wx') };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || number >= MAX_NAMES) throw error;
      }
    }
  } catch (error) {
    throw environmentError(error, join(directory, fileName));
  }
}

export async function removeOutput(place: SavedPlace): Promise<void> {
  await rm(pathOf(place), { force: true }).catch(() => undefined);
}
