#!/usr/bin/env node
// Builds `dist/` and, if a C++ compiler is available, the native addon. With --if-stale only changed parts are built. With
// --types the TypeScript compiler checks the types and writes the declarations, which takes ten times as long; packages
// need them. Needs only the packages that `npm ci` installed, also when install scripts are disabled.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const onlyIfStale = process.argv.includes('--if-stale');
const withTypes = process.argv.includes('--types');

function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      return entry.isDirectory() ? filesBelow(path) : [path];
    })
    .sort();
}

function fingerprint(paths) {
  const hash = createHash('sha256');
  for (const path of paths)
    hash.update(path.slice(root.length)).update('\0').update(readFileSync(path)).update('\0');
  return hash.digest('hex');
}

function run(script, args = []) {
  const { status } = spawnSync(process.execPath, [script, ...args], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/**
 * Moves a finished folder to its final path, where the folder of an older build may exist. Retries when another build
 * creates the path at the same time.
 */
function putInPlace(next, place) {
  for (let attempt = 1; ; attempt++) {
    const old = `${next}.old${attempt}`;
    try {
      if (existsSync(place)) renameSync(place, old);
      renameSync(next, place);
      return;
    } catch (error) {
      if (attempt === 5) throw error;
    } finally {
      rmSync(old, { recursive: true, force: true });
    }
  }
}

/** Compiles by stripping the types. Returns false if the bundler's binary is not installed for this machine. */
async function stripTypes(next) {
  try {
    const { build } = await import('esbuild');
    await build({
      entryPoints: filesBelow(join(root, 'src')).filter(
        (path) => /\.tsx?$/.test(path) && !path.startsWith(join(root, 'src', 'page', 'browser')),
      ),
      outbase: join(root, 'src'),
      outdir: next,
      platform: 'node',
      format: 'esm',
      sourcemap: 'linked',
      sourcesContent: false,
      logLevel: 'warning',
    });
    return true;
  } catch {
    return false;
  }
}

/** Programs of worker threads, as paths below `dist`. */
const THREAD_PROGRAMS = [
  'daemon/base/databaseWorker',
  'daemon/blobs/blobWorker',
  'daemon/content/contentProgram',
  'daemon/ledger/store/storeProgram',
  'daemon/media/inspectionWorker',
  'explorer/explorerWorker',
  'hub/thread/hubWorker',
  'search/postgres/postgresWorker',
  'search/sqlite/searchWorker',
];
/** Package that most threads load at their start. It has many small files, so it is bundled with the programs of threads. */
const THREAD_PACKAGE = '@bufbuild/protobuf';

/** Names of the packages that are installed with the program. They are not bundled, except `THREAD_PACKAGE` with threads. */
function packages() {
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return Object.keys({ ...dependencies, ...peerDependencies });
}

/**
 * Bundles each program (a path below `dist`) with its own modules into one file. Modules that several of the programs use, or
 * that are loaded on demand, are in files named `<chunks>.<hash>.js`. To load one file takes half the time of five hundred. If the
 * bundler's binary is not installed for this machine, the programs are not changed.
 */
async function bundle(next, programs, chunks, external) {
  try {
    const { build } = await import('esbuild');
    await build({
      // The hashes in chunk names include their paths below this folder; the names must be the same in all builds.
      absWorkingDir: next,
      entryPoints: programs.map((program) => join(next, `${program}.js`)),
      outbase: next,
      outdir: next,
      chunkNames: `${chunks}.[hash]`,
      allowOverwrite: true,
      bundle: true,
      splitting: true,
      external,
      // `node_modules` may be a symbolic link; the paths of packages are also in the hashes.
      preserveSymlinks: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      sourcemap: 'linked',
      sourcesContent: false,
      logLevel: 'warning',
    });
  } catch (error) {
    console.warn(`Programs are not bundled and start slower (${programs.join(', ')}): ${error.message}`);
  }
}

/**
 * Builds the style sheet and the script of the explorer's pages, and a manifest. Both files are minified and have content
 * hashes in their names. If the bundler has no binary for this machine, the function copies the style sheet and builds no
 * script. The pages work without the script.
 */
async function buildAssets(next) {
  const folder = join(next, 'explorer', 'assets');
  mkdirSync(folder, { recursive: true });
  const put = (name, extension, text) => {
    const file = `${name}.${createHash('sha256').update(text).digest('hex').slice(0, 12)}.${extension}`;
    writeFileSync(join(folder, file), text);
    return file;
  };
  const css = readFileSync(join(root, 'src', 'page', 'style.css'), 'utf8');
  const script = join(root, 'src', 'page', 'browser', 'main.ts');
  const manifest = { style: '', script: null };
  try {
    const { build, transform } = await import('esbuild');
    manifest.style = put('style', 'css', (await transform(css, { loader: 'css', minify: true })).code);
    if (existsSync(script)) {
      const { outputFiles } = await build({
        entryPoints: [script],
        bundle: true,
        minify: true,
        write: false,
        format: 'esm',
        target: 'es2022',
        logLevel: 'warning',
      });
      manifest.script = put('page', 'js', outputFiles[0].text);
    }
  } catch (error) {
    console.warn(`The explorer's pages have no script: ${error.message}`);
    manifest.style = put('style', 'css', css);
  }
  writeFileSync(join(folder, 'manifest.json'), JSON.stringify(manifest));
}

const inputs = [
  fileURLToPath(import.meta.url),
  ...filesBelow(join(root, 'src')),
  join(root, 'tsconfig.json'),
  join(root, 'package-lock.json'),
];
const stamp = join(root, 'dist', '.stamp');
const print = fingerprint(inputs);
const built = onlyIfStale && existsSync(stamp) ? readFileSync(stamp, 'utf8') : '';
if (built !== `${print} types` && (withTypes || built !== print)) {
  const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  if (!existsSync(tsc)) {
    console.error('The packages to build with are not installed. Run `npm ci --include=dev` first.');
    process.exit(1);
  }
  // The build goes to a new folder, which then replaces the old folder. A process started during the build therefore finds
  // a complete folder. The name is unique, because another build may be running.
  const next = join(root, `dist.next.${process.pid}`);
  console.log('Compiling the program; this takes some seconds');
  process.on('exit', () => rmSync(next, { recursive: true, force: true }));
  const isTyped = withTypes || !(await stripTypes(next));
  if (isTyped) run(tsc, ['-p', 'tsconfig.json', '--outDir', next]);
  const installed = packages();
  await bundle(next, ['bin/lbcnode'], 'bin/lbcnode', installed);
  await bundle(next, ['bin/lbcnet'], 'bin/lbcnet', installed);
  const separate = installed.filter((name) => name !== THREAD_PACKAGE);
  await bundle(next, THREAD_PROGRAMS, 'threads/program', separate);
  await buildAssets(next);
  writeFileSync(join(next, '.stamp'), isTyped ? `${print} types` : print);
  putInPlace(next, join(root, 'dist'));
}
run(join(root, 'scripts', 'buildNative.mjs'), ['--optional']);
