/** Making folders. Node's own recursive making never ends below a place that takes no folders and says so by ENOENT (/proc). */
import { mkdirSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** Makes a folder and those above it that are missing. Throws the system's error where one cannot be made. */
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

/** A folder that is there already is none the worse for it. */
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
