import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { checkDiskSpace, DiskSpaceError, freeBytes } from '../../../../src/chain/blocks/diskSpace.js';

describe('disk space', () => {
  it('is required in every folder', () => {
    const room: Record<string, number> = { plenty: 1e9, enough: 50 << 20, little: (50 << 20) - 1 };
    const free = (folder: string): number => room[folder]!;
    expect(() => checkDiskSpace(['plenty', 'enough'], free)).not.toThrow();
    expect(() => checkDiskSpace(['plenty', 'little'], free)).toThrow(DiskSpaceError);
    expect(() => checkDiskSpace(['little', 'plenty'], free)).toThrow(/Disk space is low! .* little\./);
  });

  it('is read from the file system', () => {
    expect(freeBytes(tmpdir())).toBeGreaterThan(0);
    expect(() => freeBytes('/there is no such folder')).toThrow(/ENOENT/);
  });
});
