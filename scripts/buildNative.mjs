/**
 * Builds the native addon `build/lbcnode.node` for this machine from `native/`, LevelDB and libsecp256k1.
 * `scripts/native/sources.mjs` documents the origin of the sources; nothing is downloaded. libsecp256k1 comes from the
 * system if that has a newer version, with headers, than the included source.
 *
 * usage: node scripts/buildNative.mjs [--optional] [--force] [--out=<folder>]
 *   --optional  without a usable compiler print one line and exit with 0: the node runs on TypeScript alone
 *   --force     build even if nothing changed
 *   --out       writes the addon and its objects there instead of to `build`
 * environment: CXX, CC (compilers), LBCNODE_SECP256K1=bundled|system (default: see above)
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { BuildError, buildAddon, bundledSecp256k1, findCompiler, run } from './native/compile.mjs';
import { ROOT, SECP256K1_VERSION, hashOf, readInputs } from './native/sources.mjs';

const out = process.argv.find((arg) => arg.startsWith('--out='))?.slice('--out='.length);
const BUILD = out ? resolve(out) : join(ROOT, 'build');
const OBJECTS = join(BUILD, 'native');
const ADDON = join(BUILD, 'lbcnode.node');
const STAMP = join(BUILD, 'lbcnode.stamp');

/** Whether the version is newer than that of the bundled source of libsecp256k1. */
function isNewer(version) {
  const [have, than] = [version, SECP256K1_VERSION].map((text) => text.split('.').map(Number));
  const at = than.findIndex((number, i) => number !== have[i]);
  return at >= 0 && have[at] > than[at];
}

/**
 * Flags for compiling and linking with a system library that supports recovery; null if there is none or the user does not
 * want it.
 */
async function findSystemSecp256k1(compiler, wish) {
  const version = (await systemSecp256k1Version()).trim();
  if (wish !== 'system' && !isNewer(version)) return null;
  let compile = [];
  let link = ['-lsecp256k1'];
  try {
    const flags = async (what) =>
      (await run('pkg-config', [what, 'libsecp256k1'])).stdout.trim().split(/\s+/).filter(Boolean);
    compile = await flags('--cflags');
    link = await flags('--libs');
  } catch {
    // pkg-config is missing or has no entry for the library. The default flags may still work.
  }
  const folder = mkdtempSync(join(tmpdir(), 'lbcnode-probe-'));
  try {
    const source = join(folder, 'probe.cpp');
    // The test program uses `secp256k1_context_static`, which exists since version 0.2.0.
    writeFileSync(
      source,
      '#include <secp256k1.h>\n#include <secp256k1_recovery.h>\n' +
        'int main() { return secp256k1_context_static == nullptr || &secp256k1_ecdsa_recover == nullptr; }\n',
    );
    const program = join(folder, 'probe');
    await run(compiler.command, [...compiler.flags, ...compile, source, '-o', program, ...link]);
    await run(program);
    return { compile, link };
  } catch {
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function chooseSecp256k1(compiler, wish) {
  if (!['', 'bundled', 'system'].includes(wish))
    throw new BuildError('LBCNODE_SECP256K1 must be bundled or system');
  const system = wish === 'bundled' ? null : await findSystemSecp256k1(compiler, wish);
  if (system) return { kind: 'system', ...system };
  if (wish === 'system') throw new BuildError('no system libsecp256k1 of 0.2.0 or newer with headers');
  return bundledSecp256k1();
}

/** The inputs and settings of the last successful build; empty strings if there is none. */
function readStamp() {
  try {
    const { inputs, tools } = JSON.parse(readFileSync(STAMP, 'utf8'));
    if (existsSync(ADDON)) return { inputs, tools };
  } catch {
    // The stamp file is missing or corrupt, so the addon counts as not built.
  }
  return { inputs: '', tools: '' };
}

/**
 * Returns the version that pkg-config reports, '' if none. A different version is a cheap sign that the system library has
 * changed.
 */
async function systemSecp256k1Version() {
  try {
    return (await run('pkg-config', ['--modversion', 'libsecp256k1'])).stdout;
  } catch {
    return '';
  }
}

async function build(inputs, force) {
  if (process.platform === 'win32') throw new BuildError('not supported on Windows');
  const stamp = readStamp();
  const isCurrent = !force && stamp.inputs === inputs.hash;
  const cxx = await findCompiler([process.env['CXX'], 'c++', 'g++', 'clang++']);
  const cc = await findCompiler([process.env['CC'], 'cc', 'gcc', 'clang']);
  if (!cxx || !cc) {
    // Without a compiler, an addon that was built elsewhere from the same sources is accepted.
    if (isCurrent) return;
    throw new BuildError(cxx ? 'no C compiler found' : 'no C++ compiler found');
  }
  const wish = process.env['LBCNODE_SECP256K1'] ?? '';
  const tools = hashOf(
    cxx.command,
    cxx.version,
    cc.command,
    cc.version,
    wish,
    await systemSecp256k1Version(),
  );
  if (isCurrent && stamp.tools === tools) return;

  const secp256k1 = await chooseSecp256k1(cxx, wish);
  const target = { platform: process.platform, arch: process.arch };
  // Node may be built for another processor than the machine's.
  const machine =
    target.platform === 'darwin' ? ['-arch', target.arch === 'x64' ? 'x86_64' : target.arch] : [];
  // With `--out`, an installed package builds the addon, and the node prints this line itself.
  if (!out) console.log('Compiling the native addon; the first time takes a minute');
  const [forC, forCxx] = [cc, cxx].map((found) => ({ ...found, flags: [...found.flags, ...machine] }));
  if (force) rmSync(OBJECTS, { recursive: true, force: true });
  await buildAddon({ inputs, target, cc: forC, cxx: forCxx, secp256k1, objects: OBJECTS, addon: ADDON });
  writeFileSync(STAMP, JSON.stringify({ inputs: inputs.hash, tools }));
  console.log(`native addon built with ${basename(cxx.command)} and the ${secp256k1.kind} libsecp256k1`);
}

const inputs = readInputs();
try {
  await build(inputs, process.argv.includes('--force'));
} catch (error) {
  // Removes an addon that was built from other sources: running without an addon is better.
  if (readStamp().inputs !== inputs.hash) rmSync(ADDON, { force: true });
  const optional = process.argv.includes('--optional');
  const reason = error instanceof BuildError ? error.message : (error.stack ?? String(error));
  console.error(
    `native addon not built: ${reason}${optional ? ' (the node will run without it, slower)' : ''}`,
  );
  process.exitCode = optional ? 0 : 1;
}
