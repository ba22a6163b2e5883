/** Removes a file. An error has the reason that the system returned. */
import { unlink } from 'node:fs/promises';

/**
 * Removes a file or a symbolic link. Does nothing if there is none. Rejects with the system's error. `rm` of Node.js tries to
 * remove a folder after EPERM, and its error then has another reason (ENOTDIR).
 */
export async function removeFile(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
