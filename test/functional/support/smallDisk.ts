/** Small file systems of their own, for tests of what a full disk does. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Mounts one at the folder; `size` as mount takes it. False if the system does not let us. */
export function mountSmall(folder: string, size: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]).status === 0;
}

/** Whether `mountSmall` works here; says so where it does not. */
export const canMount = ((): boolean => {
  const folder = mkdtempSync(join(tmpdir(), 'mount-'));
  const mounted = mountSmall(folder, '1m');
  if (mounted) spawnSync('umount', [folder]);
  else console.log('skipped: this system lets nobody mount a small disk');
  rmSync(folder, { recursive: true });
  return mounted;
})();
