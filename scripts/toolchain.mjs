/**
 * Tools from the npm registry that only releasing and the longer tests need, at the versions of their lockfiles in
 * `scripts/toolchain/`: installed below `build/toolchain/` when first asked for, without running any script of theirs.
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const LOCK = 'package-lock.json';

/**
 * The folder of the installed packages; null, after a line that says why, when they cannot be had.
 * @param {string} name the folder below scripts/toolchain
 * @param {{ place?: string, args?: string[] }} [settings] another folder below build/toolchain, and arguments of npm
 */
function install(name, { place = name, args = [] } = {}) {
  const source = join(ROOT, 'scripts', 'toolchain', name);
  const folder = join(ROOT, 'build', 'toolchain', place);
  const modules = join(folder, 'node_modules');
  // npm writes this one last.
  const isThere = existsSync(join(modules, '.package-lock.json'));
  if (isThere && readFileSync(join(folder, LOCK), 'utf8') === readFileSync(join(source, LOCK), 'utf8'))
    return modules;
  rmSync(modules, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const file of ['package.json', LOCK]) copyFileSync(join(source, file), join(folder, file));
  console.log(`Installing ${name} from the npm registry`);
  const { status, stderr, error } = spawnSync(
    'npm',
    ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...args],
    { cwd: folder, encoding: 'utf8', env: withoutNpmSettings() },
  );
  if (status === 0) return modules;
  rmSync(modules, { recursive: true, force: true });
  const reason = (error?.message ?? stderr).trim().split('\n')[0];
  console.log(`${name} cannot be had from the npm registry: ${reason}`);
  return null;
}

/** The environment without what an npm above says of its own command, as `--global` or `--dry-run`. */
export function withoutNpmSettings(env = process.env) {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name]) => !/^npm_(config_(?!userconfig|cache|registry|cafile)|package_|lifecycle_)/i.test(name),
    ),
  );
}

/**
 * The program of Node of this major version, and the environment in which children find it too: the one that runs this
 * where it is of that version. Null, after a line that says why, when it cannot be had.
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
 * The Node.js runtime of a package of scripts/toolchain/runtime, for a machine that need not be this one: its program, its
 * licence and its version. Null, after a line that says why, when it cannot be had.
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
 * The command of Zig with its environment: `ZIG` of the environment, a `zig` on the path, or that of the npm registry.
 * Null, after a line that says why, when there is none.
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
