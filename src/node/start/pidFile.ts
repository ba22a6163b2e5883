/** File with the process id (`-pid`), for process supervisors. Source: `CreatePidFile`. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { failureReason } from '../../util/text/environmentError.js';
import { isSpecialFile, refuseSpecialFile } from '../../util/files/specialFile.js';
import type { CloseStack } from './closeStack.js';

/**
 * Writes the PID file and registers its removal in `closers`. A file that another process has overwritten is not removed.
 * The node works without the file: if it cannot be written, `warn` is called.
 */
export async function writePidFile(
  path: string,
  closers: Pick<CloseStack, 'push'>,
  warn: (message: string) => void,
): Promise<void> {
  const content = `${process.pid}\n`;
  try {
    refuseSpecialFile(path);
    await writeFile(path, content);
  } catch (error) {
    warn(`The process id could not be written to ${path}: ${failureReason(error)}`);
    return;
  }
  closers.push(async () => {
    if (isSpecialFile(path)) return;
    const present = await readFile(path, 'utf8').catch(() => null);
    if (present === content) await rm(path, { force: true });
  });
}
