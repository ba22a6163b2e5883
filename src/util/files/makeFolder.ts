/**
 * Creates folders. Node's own recursive creation runs forever below a path that cannot contain folders and reports ENOENT:
 * /proc, or a symbolic link whose target is missing (an unmounted disk).
 */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** Creates a folder and its missing parents. Throws the system's error if a folder cannot be created. */
export function makeFolder(path: string, mode = 0o777): void {
  const parent = dirname(path);
  try {
    mkdirOnce(path, mode);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' || parent === path) throw error;
    makeFolder(parent, mode);
    mkdirOnce(path, mode);
  }
}

/** Creates one folder. An existing folder is not an error. */
function mkdirOnce(path: string, mode: number): void {
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (!isFolder(path)) throw error;
  }
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
