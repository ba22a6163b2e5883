/**
 * Tools from the npm registry that only releases and the longer tests need, in the versions of their lockfiles in
 * `scripts/toolchain/`. They are installed below `build/toolchain/` when they are first needed, without running install
 * scripts.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LOCK = 'package-lock.json';

/**
 * Installs packages and returns their folder. Prints the reason and returns null on failure.
 * @param {string} name the folder below scripts/toolchain
 * @param {{ place?: string, args?: string[] }} [settings] another folder below build/toolchain, and arguments of npm
 */
function install(name, { place = name, args = [] } = {}) {
  const source = join(ROOT, 'scripts', 'toolchain', name);
  const folder = join(ROOT, 'build', 'toolchain', place);
  const modules = join(folder, 'node_modules');
  // npm writes the hidden lockfile last, so its presence shows a complete installation.
  const isThere = () =>
    existsSync(join(modules, '.package-lock.json')) &&
    readFileSync(join(folder, LOCK), 'utf8') === readFileSync(join(source, LOCK), 'utf8');
  if (isThere()) return modules;
  // Another process may install or use the same packages, so they appear at their place when they are complete.
  const fresh = `${folder}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  for (const file of ['package.json', LOCK]) copyFileSync(join(source, file), join(fresh, file));
  console.log(`Installing ${name} from the npm registry`);
  const { status, stderr, error } = spawnSync(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...args],
    { cwd: fresh, encoding: 'utf8', env: withoutNpmSettings() },
  );
  if (status === 0 && !isThere()) {
    rmSync(folder, { recursive: true, force: true });
    renameSync(fresh, folder);
    return modules;
  }
  rmSync(fresh, { recursive: true, force: true });
  if (status === 0) return modules;
  const reason = (error?.message ?? stderr).trim().split('\n')[0];
  console.log(`${name} cannot be had from the npm registry: ${reason}`);
  return null;
}

/** The environment without the settings of a parent npm command, such as `--global` or `--dry-run`. */
export function withoutNpmSettings(env = process.env) {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => !/^npm_(config_(?!userconfig|cache|registry|cafile)|package_|lifecycle_)/i.test(name),
    ),
  );
}

/**
 * The Node executable of this major version, and an environment in which child processes find it too. Uses the running Node
 * if its version fits. Prints the reason and returns null if the version is not available.
 */
export function nodeOfVersion(major) {
  if (Number.parseInt(process.versions.node) === major)
    return { program: process.execPath, env: process.env };
  const modules = install('node');
  if (modules === null) return null;
  const program = join(modules, `node${major}-${process.platform}-${process.arch}`, 'bin', 'node');
  if (!existsSync(program)) {
    console.log(`The npm registry has no Node ${major} for ${process.platform} on ${process.arch}`);
    return null;
  }
  return {
    program,
    env: { ...process.env, PATH: `${dirname(program)}${delimiter}${process.env['PATH'] ?? ''}` },
  };
}

/**
 * The Node.js runtime in a package of scripts/toolchain/runtime, possibly for another machine: its executable, its licence
 * and its version. Prints the reason and returns null if it is not available.
 * @param {string} name of the package
 * @param {{ platform: string, arch: string }} target
 * @returns {{ program: string, licence: string | null, version: string } | null}
 */
export function runtimeOf(name, { platform, arch }) {
  const args = [`--os=${platform}`, `--cpu=${arch}`, '--libc=glibc'];
  const modules = install('runtime', { place: `runtime-${platform}-${arch}`, args });
  if (modules === null) return null;
  const root = join(modules, name);
  const program = join(root, 'bin', platform === 'win32' ? 'node.exe' : 'node');
  if (!existsSync(program)) {
    console.log(`The package ${name} holds no program of Node`);
    return null;
  }
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const licence = join(root, 'LICENSE');
  return { program, licence: existsSync(licence) ? licence : null, version };
}

/**
 * The command of Zig with its environment: `ZIG` of the environment, a `zig` on the path, or the one from the npm registry.
 * Prints the reason and returns null if none is available.
 */
export function zig() {
  const cache = join(ROOT, 'build', 'toolchain', 'zig-cache');
  const env = { ...process.env, ZIG_GLOBAL_CACHE_DIR: process.env['ZIG_GLOBAL_CACHE_DIR'] ?? cache };
  for (const command of process.env['ZIG'] ? [process.env['ZIG']] : ['zig'])
    if (spawnSync(command, ['version']).status === 0) return { command, env };
  const modules = install('zig');
  if (modules === null) return null;
  const command = join(modules, '@zigc', `${process.platform}-${process.arch}`, 'bin', 'zig');
  if (!existsSync(command)) {
    console.log(`The npm registry has no Zig for ${process.platform} on ${process.arch}; ZIG may name one`);
    return null;
  }
  return { command, env: { ...env, ZIG_LIB_DIR: join(modules, '@zigc', 'lib') } };
}
