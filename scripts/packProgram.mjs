/**
 * Creates the packed `dist/` from the built `dist/`. It contains the code that the programs, their threads and the modules
 * of `exports` reach, without comments and indentation, and the packages that this code imports. The built `dist/` also has
 * each module as a separate file, for tests and tools.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { BuildError } from './native/compile.mjs';
import { ROOT } from './native/sources.mjs';
import { SHORT_FORM, copyPackages } from './packPackages.mjs';

/** Files of `dist/` that are neither code nor type declarations. */
const OTHER_FILES = /^explorer\/assets\//;

const filesOf = (dist) =>
  readdirSync(dist, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dist, join(entry.parentPath ?? entry.path, entry.name)).replaceAll('\\', '/'))
    .filter((name) => !name.startsWith('node_modules/'))
    .sort();

/**
 * Modules started or imported by name: programs, threads (`…Worker.js`), programs in a shared thread (`…Program.js`), and the
 * `exports` of package.json.
 */
export function entryPoints(dist) {
  const { bin, exports: exported } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const named = [...Object.values(bin), ...Object.values(exported).map((entry) => entry.default)];
  const threads = filesOf(dist).filter((name) => /(Worker|Program)\.js$/.test(name));
  return [...named.map((path) => path.replace(/^(\.\/)?dist\//, '')), ...threads];
}

/** Type declarations reachable from those of `exports`. */
async function typeFiles(dist) {
  const { default: ts } = await import('typescript');
  const { exports: exported } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const open = Object.values(exported).map(({ types }) => types.replace(/^\.\/dist\//, ''));
  const found = new Set();
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (found.has(name)) continue;
    found.add(name);
    const { importedFiles } = ts.preProcessFile(readFileSync(join(dist, name), 'utf8'), true, true);
    for (const { fileName } of importedFiles)
      if (fileName.startsWith('.')) open.push(join(dirname(name), fileName.replace(/\.js$/, '.d.ts')));
  }
  return [...found].sort();
}

/**
 * Names of packages that only development needs. A dependency may import one of them if it is installed (`debug` imports
 * `supports-color`).
 */
function developmentPackages() {
  const { packages } = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8'));
  const place = /^node_modules\/((?:@[^/]+\/)?[^/]+)$/;
  return Object.entries(packages).flatMap(([path, { dev }]) => (dev ? (place.exec(path)?.[1] ?? []) : []));
}

/** Files of npm packages that the program imports, as paths below the project. */
async function reachedPackageFiles(build, options) {
  const external = [...options.external, ...developmentPackages()];
  const bundled = { ...options, external, packages: 'bundle', write: false, metafile: true };
  const { metafile } = await build(bundled);
  const paths = Object.keys(metafile.inputs);
  const outside = paths.find((path) => path.startsWith('../'));
  if (outside !== undefined)
    throw new BuildError(`the program imports ${outside}, which is outside of the project`);
  return paths.filter((path) => path.startsWith('node_modules/'));
}

/**
 * Creates the folder `into` from the folder `dist` of a build. Returns name, version and licence of each package in it.
 * Throws a `BuildError` if the bundler has no binary for this machine.
 * @param {string} dist
 * @param {string} into
 * @param {readonly import('./native/targets.mjs').Target[]} targets machines whose native parts are packed
 */
export async function packProgram(dist, into, targets) {
  const { build } = await import('esbuild').catch((error) => {
    throw new BuildError(`the bundler does not run here: ${error.message}`);
  });
  rmSync(into, { recursive: true, force: true });
  mkdirSync(into, { recursive: true });
  const options = {
    absWorkingDir: ROOT,
    entryPoints: entryPoints(dist).map((name) => join(dist, name)),
    outbase: dist,
    outdir: into,
    chunkNames: 'chunks/[hash]',
    bundle: true,
    splitting: true,
    packages: 'external',
    // esbuild gets no additional export conditions, so packages resolve as in Node.
    conditions: [],
    // `node_modules` may be a symbolic link.
    preserveSymlinks: true,
    // Modules that are not bundled: `pg`, which users install themselves, and native binaries.
    external: ['pg', '*.node'],
    platform: 'node',
    format: 'esm',
    ...SHORT_FORM,
    logLevel: 'warning',
  };
  await build(options);
  const others = filesOf(dist).filter((name) => OTHER_FILES.test(name));
  for (const name of [...others, ...(await typeFiles(dist))]) {
    mkdirSync(dirname(join(into, name)), { recursive: true });
    cpSync(join(dist, name), join(into, name));
  }
  const packages = await copyPackages(await reachedPackageFiles(build, options), into, targets);
  if (!existsSync(join(into, 'bin', 'lbcnode.js'))) throw new BuildError('the program is not built');
  return packages;
}
