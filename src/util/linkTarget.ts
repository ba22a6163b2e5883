/** Resolves symbolic links to files: a file that replaces the link's path would replace the link itself. */
import { lstatSync, realpathSync } from 'node:fs';

/**
 * The path of the actual file: the target of a link, else the path itself. Throws the system's error (ENOENT for a dangling
 * link).
 */
export function linkTarget(path: string): string {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? realpathSync(path) : path;
}
