/** Names and folders that a user chooses for a saved file. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createOutput, usablePlace } from '../../../../src/daemon/files/outputs.js';

describe('a chosen place of a file', () => {
  it('has the last part of the name, and an absolute folder', () => {
    expect(usablePlace({ fileName: '../../etc/film.mp4', directory: 'films' })).toEqual({
      fileName: 'film.mp4',
      directory: resolve('films'),
    });
    const directory = join(resolve('/'), 'films');
    expect(usablePlace({ fileName: '.hidden', directory })).toEqual({ fileName: '.hidden', directory });
  });

  it('uses the defaults for empty texts', () => {
    expect(usablePlace({ fileName: '', directory: '' })).toEqual({});
    expect(usablePlace({})).toEqual({});
  });

  it('shortens a name that is too long for file systems, and keeps its ending', () => {
    const { fileName } = usablePlace({ fileName: `${'é'.repeat(200)}.mp4` });
    expect(Buffer.byteLength(fileName!)).toBeLessThanOrEqual(255);
    expect(fileName).toMatch(/^é+\.mp4$/);
  });

  it.each(['.', '..', 'a/..', '/', '///', 'a\0b'])('refuses %j, which is not the name of a file', (name) => {
    expect(() => usablePlace({ fileName: name })).toThrow('is not the name of a file');
  });

  it('refuses a folder below a symbolic link whose target is missing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'lbcnet-outputs-'));
    symlinkSync(join(folder, 'unmounted'), join(folder, 'films'));
    const output = createOutput(join(folder, 'films', 'new'), 'film.mp4', () => Promise.resolve());
    await expect(output).rejects.toThrow('films');
    rmSync(folder, { recursive: true });
  });

  it('refuses a folder with a null character', () => {
    expect(() => usablePlace({ directory: '/a\0b' })).toThrow('null character');
  });
});
