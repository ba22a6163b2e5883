/** Links to files: what is written in place of a file would take the place of the link. */
import { lstatSync, realpathSync } from 'node:fs';

/** Where the file at a path is: where a link leads to, else the path. Throws the system's error (ENOENT for a link that leads nowhere). */
export function linkTarget(path: string): string {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true ? realpathSync(path) : path;
}
