/**
 * Builds the archive of one platform, which needs nothing installed: a Node.js runtime, lbcnode with its packages, its addon
 * and SQLite (Node's own), all in the one program `lbrynet`, with the launchers `lbcnode`, `lbcnode-cli` and `lbcnet` beside
 * it. The launchers are described in launcher/posix.c. Equal sources and tools give equal bytes. The program is a native
 * launcher that unpacks, not a Node executable with the program embedded: the latter cannot load addons, threads and modules
 * from within itself, so it would have to unpack too, and it would lose Node's own signature, which macOS requires.
 *
 * usage: npm run bundle -- <platform> … [--out=<folder>]
 *   <platform>  linux-x64, linux-arm64, macos-x64, macos-arm64, windows-x64, or all
 *   --out       writes <folder>/<platform>/<archive>; default: build/bundles
 */
import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { makeZip } from './bundle/archive.mjs';
import { buildLaunchers } from './bundle/launcher.mjs';
import { filesBelow, makePayload } from './bundle/payload.mjs';
import { MAX_ARCHIVE_BYTES, PLATFORMS, SMALL_PROGRAMS } from './bundle/platforms.mjs';
import { buildByZig } from './buildPrebuilt.mjs';
import { BuildError } from './native/compile.mjs';
import { ROOT, readInputs } from './native/sources.mjs';
import { PREBUILT_TARGETS } from './native/targets.mjs';
import { noticesText } from './notices.mjs';
import { packProgram } from './packProgram.mjs';
import { packedPackageFile } from './packageFile.mjs';
import { runtimeOf, zig as findZig } from './toolchain.mjs';

const BUILD = join(ROOT, 'build', 'bundle');
/** Platform whose runtime package supplies the text of Node's licence. The package for Windows does not contain the text. */
const LICENCE_FROM = PLATFORMS[0];

const targetOf = (platform) => PREBUILT_TARGETS.find(({ name }) => name === platform.target);

function runtime(platform) {
  const found = runtimeOf(platform.runtime, targetOf(platform));
  if (found === null) throw new BuildError(`there is no Node.js runtime for ${platform.name}`);
  return found;
}

const README = (
  platform,
  node,
) => `lbcnode and lbcnet for ${platform.name}. Nothing else needs to be installed.

  lbcnode       the full node with wallet, claim index, search and hub
  lbcnode-cli   asks the node:    lbcnode-cli getblockchaininfo
  lbcnet        the daemon for content and wallets, and its command line:    lbcnet start
  lbrynet       the same as lbcnet, for programs that start lbrynet

The program lbrynet holds all files; keep the four programs together. At its first start it unpacks Node.js ${node.version} and
lbcnode into a folder of the user's caches (140 MB). LBCNODE_RUNTIME_DIR may name another folder.

Documentation: docs/bundles.md of https://github.com/lbcnode/lbcnode
`;

/** Fills the folder `app/` that the launcher unpacks. Returns the packages that it contains. */
async function stageProgram(platform, zig, folder) {
  const target = targetOf(platform);
  const packages = await packProgram(join(ROOT, 'dist'), join(folder, 'dist'), [target]);
  cpSync(join(ROOT, 'data'), join(folder, 'data'), { recursive: true });
  rmSync(join(folder, 'data', 'proto'), { recursive: true, force: true });
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  writeFileSync(join(folder, 'package.json'), packedPackageFile());
  await buildByZig(zig, target, readInputs(), {
    objects: join(ROOT, 'build', 'prebuilt', target.name),
    addon: join(folder, 'prebuilds', target.name, 'lbcnode.node'),
  });
  return packages;
}

async function bundle(platform, out) {
  const zig = findZig();
  if (zig === null) throw new BuildError('a bundle needs Zig');
  const folder = join(BUILD, platform.name);
  rmSync(folder, { recursive: true, force: true });
  const app = join(folder, 'app');
  mkdirSync(app, { recursive: true });
  const node = runtime(platform);
  const packages = await stageProgram(platform, zig, app);
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const program = { path: `bin/node${platform.suffix}`, data: readFileSync(node.program), executable: true };
  const payload = makePayload([program, ...filesBelow(app, 'app')], version);
  const { small, lbrynet } = await buildLaunchers(zig, platform, payload.bytes, join(folder, 'launcher'));
  const licence = readFileSync(node.licence ?? runtime(LICENCE_FROM).licence);
  const notices = noticesText(packages, [
    `Node.js ${node.version}, unchanged, whose licences are in \`LICENSE-node.txt\`. The launchers hold parts of musl or of mingw-w64`,
    '(MIT, public domain and similar).\n',
  ]);
  const text = (name, data) => ({ name, data: Buffer.from(data), executable: false });
  const archive = makeZip([
    { name: `lbrynet${platform.suffix}`, data: lbrynet, executable: true },
    ...SMALL_PROGRAMS.map((name) => ({ name: `${name}${platform.suffix}`, data: small, executable: true })),
    text('LICENSE', readFileSync(join(ROOT, 'LICENSE'))),
    text('LICENSE-node.txt', licence),
    text('README.txt', README(platform, node)),
    text('THIRD-PARTY-NOTICES.md', notices),
  ]);
  if (archive.length > MAX_ARCHIVE_BYTES)
    throw new BuildError(
      `${platform.archive} takes ${archive.length} bytes, ${MAX_ARCHIVE_BYTES} are allowed`,
    );
  mkdirSync(join(out, platform.name), { recursive: true });
  const path = join(out, platform.name, platform.archive);
  writeFileSync(path, archive);
  rmSync(folder, { recursive: true, force: true });
  const sum = createHash('sha256').update(archive).digest('hex');
  console.log(`${sum}  ${path} (${(archive.length / 1e6).toFixed(1)} MB)`);
}

function choose(names) {
  const wanted = names.includes('all')
    ? [...PLATFORMS]
    : PLATFORMS.filter(({ name }) => names.includes(name));
  const unknown = names.filter(
    (name) => name !== 'all' && !PLATFORMS.some((platform) => platform.name === name),
  );
  if (unknown.length > 0 || wanted.length === 0)
    throw new BuildError(`name platforms of: ${PLATFORMS.map(({ name }) => name).join(', ')}, all`);
  return wanted;
}

async function main(args) {
  const out = args.find((arg) => arg.startsWith('--out='))?.slice('--out='.length);
  const wanted = choose(args.filter((arg) => !arg.startsWith('--out=')));
  const { status } = spawnSync(
    process.execPath,
    [join(ROOT, 'scripts', 'build.mjs'), '--if-stale', '--types'],
    {
      cwd: ROOT,
      stdio: 'inherit',
    },
  );
  if (status !== 0) throw new BuildError('the program could not be built');
  for (const platform of wanted) await bundle(platform, resolve(out ?? join(ROOT, 'build', 'bundles')));
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(error instanceof BuildError ? error.message : error);
  process.exitCode = 1;
}
