import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeFolder } from '../../../../src/util/files/makeFolder.js';

const root = mkdtempSync(join(tmpdir(), 'folder-'));
afterAll(() => rmSync(root, { recursive: true }));

describe('creating a folder', () => {
  it('creates its parents too, with the given mode', () => {
    const path = join(root, 'a/b/c');
    makeFolder(path, 0o700);
    for (const folder of [path, join(root, 'a')]) expect(statSync(folder).mode & 0o777).toBe(0o700);
  });

  it('does not change an existing one', () => {
    makeFolder(root);
    makeFolder(join(root, 'd'));
    makeFolder(join(root, 'd'));
    expect(existsSync(join(root, 'd'))).toBe(true);
  });

  it('reports what is in its place', () => {
    writeFileSync(join(root, 'file'), '');
    expect(() => makeFolder(join(root, 'file'))).toThrow('EEXIST');
    expect(() => makeFolder(join(root, 'file/x/y'))).toThrow('ENOTDIR');
  });

  it('ends below a symbolic link whose target is missing', () => {
    symlinkSync(join(root, 'unmounted'), join(root, 'link'));
    expect(() => makeFolder(join(root, 'link/x'))).toThrow('EEXIST');
  });

  it.skipIf(!existsSync('/proc/self'))('ends if no folder can be created', () => {
    expect(() => makeFolder('/proc/lbcnode/regtest')).toThrow('ENOENT');
  });
});
