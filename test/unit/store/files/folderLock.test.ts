import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FolderLockError, lockFolder } from '../../../../src/store/files/folderLock.js';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnode-lock-'));
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

const refusal = (path: string): string =>
  `Cannot obtain a lock on data directory ${path}. lbcnode is probably already running.`;

/** Makes the lock's database unreadable, except for the file that is locked. */
function corruption(path: string): void {
  for (const name of readdirSync(join(path, 'lock'))) {
    if (name !== 'LOCK') writeFileSync(join(path, 'lock', name), 'garbage');
  }
}

describe('the lock of a folder', () => {
  it('is acquired once, and again after its release', async () => {
    const path = join(folder, 'made', 'here');
    const unlock = await lockFolder(path);
    await expect(lockFolder(path)).rejects.toThrow(refusal(path));
    const other = await lockFolder(folder);
    await unlock();
    const again = await lockFolder(path);
    await again();
    await other();
  });

  it('is acquired although a crash corrupted the file', async () => {
    await (
      await lockFolder(folder)
    )();
    corruption(folder);
    const unlock = await lockFolder(folder);
    await expect(lockFolder(folder)).rejects.toThrow(refusal(folder));
    // Another attempt must not remove the lock by repairing the damaged file.
    corruption(folder);
    await expect(lockFolder(folder)).rejects.toThrow(refusal(folder));
    await unlock();
  });

  it('is not acquired on a read-only file system', async () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    await expect(lockFolder(file)).rejects.toThrow(FolderLockError);
    await expect(lockFolder(file)).rejects.toThrow(
      /^Cannot write to data directory '.*'; check permissions\./,
    );
  });
});
