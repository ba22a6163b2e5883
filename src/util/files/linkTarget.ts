/** Resolves symbolic links. Renaming a new file to the path of a link would replace the link instead of its target. */
import { lstatSync, realpathSync } from 'node:fs';

/**
 * Path of the actual file: the target if `path` is a link, otherwise `path`. Throws the system's error (ENOENT for a
 * dangling link).
 */
export function linkTarget(path: string): string {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? realpathSync(path) : path;
}
