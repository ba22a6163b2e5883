/**
 * Makes what `npm pack` takes along and git does not hold: `dist/`, in it the packages that it imports, the addon for other
 * machines (`prebuilds/`), the source that an addon is built from where none of them fits (`vendor/`), and
 * `THIRD-PARTY-NOTICES.md`. Meanwhile `package.json` is the package's own. Afterwards npm calls it once more: all but the
 * program is removed, and `package.json` as it was.
 *
 * usage: node scripts/prepack.mjs [--clean]
 * environment: LBCNODE_PREBUILT=<target>,<target>… or none (default: all of scripts/native/targets.mjs)
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BuildError } from './native/compile.mjs';
import { LIBRARIES, ROOT, VENDOR, libraryFolder } from './native/sources.mjs';
import { PREBUILT_TARGETS } from './native/targets.mjs';
import { PACKED_PACKAGES, copyPackages } from './packPackages.mjs';
import { packageFileForPacking, restorePackageFile } from './packageFile.mjs';
import { buildPrebuilt } from './buildPrebuilt.mjs';

const NOTICES = join(ROOT, 'THIRD-PARTY-NOTICES.md');

function clean() {
  restorePackageFile();
  for (const path of [VENDOR, join(ROOT, 'prebuilds'), NOTICES, PACKED_PACKAGES])
    rmSync(path, { recursive: true, force: true });
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
}

function writeNotices(packed) {
  const compiledIn = LIBRARIES.map(({ name, title, license }) => {
    const text = readFileSync(join(libraryFolder(name), license), 'utf8').trim();
    return `### ${title}\n\nSource in \`vendor/${name}\`.\n\n\`\`\`\n${text}\n\`\`\`\n`;
  });
  const packages = packed.map(({ name, version, license }) => `- ${name} ${version}: ${license}\n`);
  writeFileSync(
    NOTICES,
    [
      '# Third-party notices\n',
      'lbcnode itself is under the MIT licence (`LICENSE`). It comes with the following.\n',
      '## Compiled into the native addon\n',
      ...compiledIn,
      'The prebuilt addons also hold parts of libc++ and compiler-rt (Apache-2.0 with LLVM exceptions), or of libstdc++ and',
      'libgcc (GPL-3.0 with the GCC runtime library exception).\n',
      '## Packages in `dist/node_modules`\n',
      'Each brings its licence in its folder. What is not needed to run them is left out.\n',
      packages.join(''),
    ].join('\n'),
  );
}

function wantedTargets() {
  const wish = process.env['LBCNODE_PREBUILT'];
  if (wish === undefined || wish === '') return PREBUILT_TARGETS.map(({ name }) => name);
  return wish === 'none' ? [] : wish.split(',');
}

async function make() {
  clean();
  const { status } = spawnSync(process.execPath, [join(ROOT, 'scripts', 'build.mjs'), '--if-stale'], {
    cwd: ROOT,
    // npm's answer, which scripts read, is all that may stand there.
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0) throw new BuildError('the program could not be built');
  copySources();
  writeNotices(copyPackages());
  const wanted = wantedTargets();
  const built = await buildPrebuilt(wanted);
  const left = wanted.filter((name) => !built.includes(name));
  if (left.length > 0) console.warn(`The package has no addon for ${left.join(', ')}: these build their own`);
  // Last: nothing fails from here on.
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
