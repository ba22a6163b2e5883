/**
 * Creates the files that `npm pack` includes and git does not contain: `dist/` as `packProgram.mjs` creates it, the addon
 * for other machines (`prebuilds/`), the source to build an addon from if none of them fits (`vendor/`), and
 * `THIRD-PARTY-NOTICES.md`. During packing `package.json` is replaced by the package's own, and the built `dist/` is moved
 * aside. Afterwards npm calls this script again, which restores both and removes the rest.
 *
 * usage: node scripts/prepack.mjs [--clean]
 * environment: LBCNODE_PREBUILT=<target>,<target>… or none (default: all of scripts/native/targets.mjs)
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { BuildError } from './native/compile.mjs';
import { LIBRARIES, ROOT, SECP256K1_WINDOW, VENDOR, libraryFolder } from './native/sources.mjs';
import { PREBUILT_TARGETS } from './native/targets.mjs';
import { noticesText } from './notices.mjs';
import { packProgram } from './packProgram.mjs';
import { packageFileForPacking, restorePackageFile } from './packageFile.mjs';
import { buildPrebuilt } from './buildPrebuilt.mjs';

const NOTICES = join(ROOT, 'THIRD-PARTY-NOTICES.md');
const DIST = join(ROOT, 'dist');
/** Folder for the built `dist/` while the packed `dist/` replaces it. Git and the linter ignore both folder names. */
const KEPT = join(ROOT, 'dist.kept');
const PACKED = join(ROOT, 'dist.packed');

function clean() {
  restorePackageFile();
  if (existsSync(KEPT)) {
    rmSync(DIST, { recursive: true, force: true });
    renameSync(KEPT, DIST);
  }
  for (const path of [VENDOR, join(ROOT, 'prebuilds'), NOTICES, PACKED])
    rmSync(path, { recursive: true, force: true });
}

/**
 * Reduces the verification table to the points of the build's window size; the compiler would leave out the other points
 * anyway.
 */
function trimTable() {
  const path = join(VENDOR, 'secp256k1', 'src', 'precomputed_ecmult.c');
  const trimmed = readFileSync(path, 'latin1').replace(
    /^#if WINDOW_G > (\d+)\n[^#]*#endif\n/gm,
    (block, window) => (Number(window) < SECP256K1_WINDOW ? block : ''),
  );
  writeFileSync(path, trimmed, 'latin1');
}

function copySources() {
  for (const { name, files } of LIBRARIES) {
    const from = libraryFolder(name);
    const wanted = readdirSync(from, { recursive: true })
      .map(String)
      .filter((path) => files.test(path));
    if (wanted.length === 0) throw new BuildError(`nothing of ${name} found in ${from}`);
    for (const path of wanted) {
      mkdirSync(dirname(join(VENDOR, name, path)), { recursive: true });
      cpSync(join(from, path), join(VENDOR, name, path));
    }
  }
  trimTable();
}

function wantedTargets() {
  const wish = process.env['LBCNODE_PREBUILT'];
  if (wish === undefined || wish === '') return PREBUILT_TARGETS.map(({ name }) => name);
  return wish === 'none' ? [] : wish.split(',');
}

async function make() {
  clean();
  const { status } = spawnSync(
    process.execPath,
    [join(ROOT, 'scripts', 'build.mjs'), '--if-stale', '--types'],
    {
      cwd: ROOT,
      // Standard output must contain only npm's result, which scripts read.
      stdio: ['ignore', 2, 2],
    },
  );
  if (status !== 0) throw new BuildError('the program could not be built');
  copySources();
  const wanted = wantedTargets();
  const fitting = PREBUILT_TARGETS.filter(({ name }) => wanted.includes(name));
  // If no addon is available, the package is built for all machines. It runs without an addon, but slower.
  const packages = await packProgram(DIST, PACKED, fitting.length > 0 ? fitting : PREBUILT_TARGETS);
  writeFileSync(NOTICES, noticesText(packages));
  const built = await buildPrebuilt(wanted);
  const left = wanted.filter((name) => !built.includes(name));
  if (left.length > 0) console.warn(`The package has no addon for ${left.join(', ')}: these build their own`);
  // Replacing `dist/` is the last step. No later failure can leave the packed `dist/` in its place.
  renameSync(DIST, KEPT);
  renameSync(PACKED, DIST);
  packageFileForPacking();
}

try {
  if (process.argv.includes('--clean')) clean();
  else await make();
} catch (error) {
  clean();
  console.error(error instanceof BuildError ? error.message : error);
  process.exitCode = 1;
}
