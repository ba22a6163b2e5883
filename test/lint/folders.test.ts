import { readdirSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const MAX_FILES = 25;

/** Folders with more files. The aim is an empty list: a folder leaves it when it gets subfolders. */
const EXCEPTIONS: readonly string[] = [
  'test/bench',
  'test/functional',
  'test/functional/support',
  'test/support',
];

function largeFolders(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  const large = entries.flatMap((entry) =>
    entry.isDirectory() && entry.name !== 'node_modules' ? largeFolders(join(folder, entry.name)) : [],
  );
  const isLarge = entries.filter((entry) => entry.isFile()).length > MAX_FILES;
  return isLarge ? [relative(root, folder).split(sep).join('/'), ...large] : large;
}

describe('folders', () => {
  it(`contain at most ${MAX_FILES} files, except those listed`, () => {
    const large = ['src', 'native', 'test', 'scripts'].flatMap((name) => largeFolders(join(root, name)));
    expect(large.filter((folder) => !EXCEPTIONS.includes(folder))).toEqual([]);
    expect(EXCEPTIONS.filter((folder) => !large.includes(folder))).toEqual([]);
  });
});
