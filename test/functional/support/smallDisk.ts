/** Small file systems for tests of full disks. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Mounts a small file system at the folder; `size` is in the format of mount. Returns false if the system does not allow it.
 */
export function mountSmall(folder: string, size: string): boolean {
  return spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]).status === 0;
}

/** A small disk in a file that can fail like a broken disk. */
export class FailingDisk {
  readonly folder: string;
  private readonly image: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.image = `${folder}.img`;
  }

  /** Mounts a disk at the folder. Null if the system does not allow that. */
  static mount(folder: string, sizeMib: number): FailingDisk | null {
    const disk = new FailingDisk(folder);
    mkdirSync(folder, { recursive: true });
    writeFileSync(disk.image, '');
    truncateSync(disk.image, sizeMib * 1024 * 1024);
    if (spawnSync('mkfs.ext4', ['-q', '-F', disk.image]).status !== 0) return null;
    return disk.mountAgain() ? disk : null;
  }

  /** Makes the disk read-only, as the system does after a disk error. */
  fail(): boolean {
    const device = /^\/dev\/(loop[0-9]+) /m.exec(
      spawnSync('findmnt', ['-n', '-o', 'SOURCE,TARGET', this.folder], { encoding: 'utf8' }).stdout,
    )?.[1];
    const trigger = `/sys/fs/ext4/${device ?? 'none'}/trigger_fs_error`;
    if (!existsSync(trigger)) return false;
    writeFileSync(trigger, 'test');
    return true;
  }

  /** Repairs the disk and mounts it. Files must not be open. */
  mountAgain(): boolean {
    spawnSync('umount', [this.folder]);
    spawnSync('fsck.ext4', ['-y', this.image]);
    return spawnSync('mount', ['-o', 'loop,errors=remount-ro', this.image, this.folder]).status === 0;
  }

  unmount(): void {
    spawnSync('umount', ['-l', this.folder]);
    rmSync(this.image, { force: true });
  }
}

/** Whether `mountSmall` works on this system. Prints a line if it does not. */
export const canMount = ((): boolean => {
  const folder = mkdtempSync(join(tmpdir(), 'mount-'));
  const mounted = mountSmall(folder, '1m');
  if (mounted) spawnSync('umount', [folder]);
  else console.log('skipped: this system does not allow mounting a small disk');
  rmSync(folder, { recursive: true });
  return mounted;
})();

/** Whether a `FailingDisk` works on this system: it needs loop devices and ext4. */
export const canFail = ((): boolean => {
  if (!canMount) return false;
  const folder = mkdtempSync(join(tmpdir(), 'failing-'));
  const disk = FailingDisk.mount(join(folder, 'disk'), 8);
  const failed = disk?.fail() === true;
  disk?.unmount();
  if (!failed) console.log('skipped: this system cannot show a failing disk');
  rmSync(folder, { recursive: true });
  return failed;
})();
