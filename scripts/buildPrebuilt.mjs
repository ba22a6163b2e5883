/**
 * Builds the addon for other machines: `prebuilds/<target>/lbcnode.node` for each target of `scripts/native/targets.mjs`,
 * by Zig, which brings a compiler, linker and C library for all of them. Without Zig, only the addon for machines like this
 * one is built, by the system's compiler. libstdc++ or libc++ and libsecp256k1 are linked in.
 *
 * usage: node scripts/buildPrebuilt.mjs [<target> …]   (default: all)
 */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BuildError, buildAddon, bundledSecp256k1, findCompiler, run } from './native/compile.mjs';
import { ROOT, readInputs } from './native/sources.mjs';
import { PREBUILT_TARGETS } from './native/targets.mjs';
import { zig } from './toolchain.mjs';

const PREBUILDS = join(ROOT, 'prebuilds');
const objectsOf = (target) => join(ROOT, 'build', 'prebuilt', target.name);
const addonOf = (target) => join(PREBUILDS, target.name, 'lbcnode.node');

/**
 * Builds the addon for one target.
 * @param {{ command: string, env: NodeJS.ProcessEnv }} zig
 * @param {import('./native/targets.mjs').Target} target
 * @param {ReturnType<typeof readInputs>} inputs
 * @param {{ objects?: string, addon?: string }} [places] paths for the objects and the addon; default: the paths in the
 * package
 */
export async function buildByZig({ command, env }, target, inputs, places = {}) {
  const version = (await run(command, ['version'], { env })).stdout.trim();
  const compiler = (kind) => ({
    command,
    flags: [kind, '-target', target.zig, '-g0', '-Wno-nullability-completeness'],
    version,
    env,
  });
  await buildAddon({
    inputs,
    target,
    cc: compiler('cc'),
    cxx: compiler('c++'),
    secp256k1: bundledSecp256k1(),
    objects: places.objects ?? objectsOf(target),
    addon: places.addon ?? addonOf(target),
  });
}

async function buildHere(target, inputs) {
  const cxx = await findCompiler([process.env['CXX'], 'c++', 'g++', 'clang++']);
  const cc = await findCompiler([process.env['CC'], 'cc', 'gcc', 'clang']);
  if (!cxx || !cc) throw new BuildError('no compiler found');
  const link = target.platform === 'linux' ? ['-static-libstdc++', '-static-libgcc'] : [];
  await buildAddon({
    inputs,
    target,
    cc,
    cxx,
    secp256k1: bundledSecp256k1(),
    objects: objectsOf(target),
    addon: addonOf(target),
    link,
  });
}

/** Builds the targets with these names; returns the names of those that were built. */
export async function buildPrebuilt(names) {
  const wanted = PREBUILT_TARGETS.filter(({ name }) => names.includes(name));
  const unknown = names.filter((name) => !wanted.some((target) => target.name === name));
  if (unknown.length > 0) throw new BuildError(`unknown target: ${unknown.join(', ')}`);
  rmSync(PREBUILDS, { recursive: true, force: true });
  if (wanted.length === 0) return [];
  const inputs = readInputs();
  const found = zig();
  if (found === null) {
    const { targetName } = await import('../dist/native/addonFiles.js');
    console.warn(
      `Without Zig the addon is built for ${targetName()} only, and needs a C library as new as this machine's`,
    );
    const own = wanted.find(({ name }) => name === targetName());
    if (own) await buildHere(own, inputs);
  } else {
    for (const target of wanted) {
      await buildByZig(found, target, inputs);
      console.log(`addon for ${target.name} built`);
    }
  }
  return wanted.map(({ name }) => name).filter((name) => existsSync(join(PREBUILDS, name, 'lbcnode.node')));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const names = process.argv.slice(2);
  try {
    await buildPrebuilt(names.length > 0 ? names : PREBUILT_TARGETS.map(({ name }) => name));
  } catch (error) {
    console.error(error instanceof BuildError ? error.message : error);
    process.exitCode = 1;
  }
}
