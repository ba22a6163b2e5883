import { readFileSync, readdirSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { preProcessFile } from 'typescript';
import { describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { dependencies, peerDependencies, devDependencies, files, scripts } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
) as {
  dependencies: Record<string, string>;
  peerDependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  files: string[];
  scripts: Record<string, string>;
};

const filesBelow = (folder: string, pattern: RegExp): string[] =>
  readdirSync(join(root, folder), { recursive: true })
    .map((name) => join(root, folder, String(name)))
    .filter((path) => pattern.test(path) && !path.includes('node_modules'));

/** Names of the packages that the files import. */
function packagesOf(paths: readonly string[]): string[] {
  const found = paths.flatMap((path) =>
    preProcessFile(readFileSync(path, 'utf8'), true, true).importedFiles.map(({ fileName }) => fileName),
  );
  const packages = found.filter((name) => !/^[./]|^node:/.test(name) && !builtinModules.includes(name));
  return [...new Set(packages.map((name) => name.split('/', name.startsWith('@') ? 2 : 1).join('/')))].sort();
}

/** Packages that are or may be installed at run time. */
const all = { ...dependencies, ...peerDependencies };

/** Code for browsers is bundled when the program is built. */
const isNoBundle = (path: string): boolean => !path.includes(join('page', 'browser'));

describe('package.json', () => {
  it('has the imported packages as dependencies, and no others', () => {
    expect(packagesOf(filesBelow('src', /\.tsx?$/).filter(isNoBundle))).toEqual(Object.keys(all).sort());
  });

  it('has as dependencies what the compiled program imports', () => {
    const imported = packagesOf(filesBelow('dist', /\.js$/));
    expect(imported).not.toEqual([]);
    expect(Object.keys(all)).toEqual(expect.arrayContaining(imported));
  });

  it('declares what the tests import', () => {
    const imported = packagesOf(filesBelow('test', /\.(ts|mjs)$/));
    expect(Object.keys({ ...dependencies, ...devDependencies })).toEqual(expect.arrayContaining(imported));
  });

  it('includes each script that builds the addon, and these use nothing outside the package', () => {
    const shipped = ['scripts/buildNative.mjs', 'scripts/native'];
    expect(files).toEqual(expect.arrayContaining(shipped));
    const paths = [join(root, 'scripts/buildNative.mjs'), ...filesBelow('scripts/native', /\.mjs$/)];
    expect(packagesOf(paths)).toEqual([]);
    for (const path of paths)
      for (const [, target] of readFileSync(path, 'utf8').matchAll(/from '(\.[^']+)'/g))
        expect(target).toMatch(/^\.\/(native\/)?[\w-]+\.mjs$/);
  });

  it('has no script that npm would run, or ask about, at the installation', () => {
    for (const name of ['preinstall', 'install', 'postinstall', 'prepare'])
      expect(scripts).not.toHaveProperty(name);
  });

  it('packs each program that is started by its name', async () => {
    const { entryPoints } = (await import('../../scripts/packProgram.mjs' as string)) as {
      entryPoints: (dist: string) => string[];
    };
    const packed = new Set(entryPoints(join(root, 'dist')).map((name) => name.split('/').at(-1)));
    const named = filesBelow('src', /\.tsx?$/).flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/^(?!import ).*[[ ]'(\w+\.js)'/gm)].map(([, name]) => name),
    );
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((name) => !packed.has(name))).toEqual([]);
  });
});
