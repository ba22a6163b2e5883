/** Finds programs of the system that tests use if they are installed. */
import { spawnSync } from 'node:child_process';

/** Whether a program is installed. Prints a line if it is not, so that the output shows which tests were skipped. */
export function isInstalled(program: string): boolean {
  const { status } = spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
  if (status !== 0) console.log(`skipped: ${program} is not installed`);
  return status === 0;
}
