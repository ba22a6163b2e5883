/** Programs of the system that tests use where they are there. */
import { spawnSync } from 'node:child_process';

/** Whether a program can be found; says so when it cannot, so that a run shows what it left out. */
export function isInstalled(program: string): boolean {
  const { status } = spawnSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' });
  if (status !== 0) console.log(`skipped: ${program} is not installed`);
  return status === 0;
}
