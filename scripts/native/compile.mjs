/** Compiles and links the addon for one target, by calling the compilers directly. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { clearLeftovers } from './machO.mjs';
import {
  EXPORTED_NAMES,
  HEADERS,
  LEVELDB,
  LEVELDB_WINDOWS,
  NATIVE,
  ROOT,
  SECP256K1,
  SECP256K1_WINDOW,
  SNAPPY,
  databaseSources,
  hashOf,
} from './sources.mjs';

export const run = promisify(execFile);

/** Maximum size of a compiler's output. Compilers may print much output without failing. */
const MAX_OUTPUT_BYTES = 1 << 26;

/** Error: the addon cannot be built. The message is for the user. */
export class BuildError extends Error {}

/**
 * @typedef {object} Compiler
 * @property {string} command
 * @property {string[]} flags that come before all others
 * @property {string} version its version line
 * @property {NodeJS.ProcessEnv} [env]
 *
 * @typedef {object} Secp256k1
 * @property {'bundled' | 'system'} kind
 * @property {string[]} compile
 * @property {string[]} link
 */

/** The first of the candidates that runs, with its version line; null if none runs. @returns {Promise<Compiler | null>} */
export async function findCompiler(candidates) {
  for (const candidate of candidates.filter(Boolean)) {
    const [command, ...flags] = candidate.split(' ').filter(Boolean);
    try {
      const { stdout } = await run(command, [...flags, '--version']);
      return { command, flags, version: stdout.split('\n')[0] };
    } catch {
      // This candidate does not run. The next one is tried.
    }
  }
  return null;
}

/** libsecp256k1 from the included source. @returns {Secp256k1} */
export function bundledSecp256k1() {
  if (!existsSync(join(SECP256K1, 'src', 'secp256k1.c')))
    throw new BuildError('the source of libsecp256k1 is missing');
  return {
    kind: 'bundled',
    compile: ['-DLBC_SECP256K1_BUNDLED=1', '-DSECP256K1_STATIC=1', `-I${join(SECP256K1, 'include')}`],
    link: [],
  };
}

/**
 * Options of libsecp256k1's build. The table of multiples of the generator for verification has 64 KiB instead of the
 * default 1 MiB, since verification is as fast with it; the table for signing has 22 KiB.
 */
function bundledFlags(target) {
  return [
    ...['-std=c99', '-w', `-I${join(SECP256K1, 'include')}`],
    ...[
      `-DECMULT_WINDOW_SIZE=${SECP256K1_WINDOW}`,
      '-DCOMB_BLOCKS=11',
      '-DCOMB_TEETH=6',
      '-DENABLE_MODULE_RECOVERY=1',
    ],
    ...(target.arch === 'x64' ? ['-DUSE_ASM_X86_64=1'] : []),
  ];
}

/** Preprocessor definitions that LevelDB's headers need. */
function leveldbFlags(target) {
  if (target.platform === 'win32')
    return [
      ...['-DLEVELDB_PLATFORM_UV=1', '-DLEVELDB_ATOMIC_PRESENT=1', '-DOS_WIN=1', '-DNOMINMAX=1'],
      // Allows number suffixes of Microsoft's compiler.
      '-fms-extensions',
      ...['-isystem', join(NATIVE, 'windows'), '-isystem', LEVELDB_WINDOWS],
      ...['-isystem', LEVELDB, '-isystem', join(LEVELDB, 'include')],
    ];
  const system = target.platform === 'darwin' ? '-DOS_MACOSX=1' : '-DOS_LINUX=1';
  return [
    ...['-DLEVELDB_PLATFORM_POSIX=1', '-DLEVELDB_ATOMIC_PRESENT=1', system],
    ...['-isystem', LEVELDB, '-isystem', join(LEVELDB, 'include')],
  ];
}

/** Compiler flags for LevelDB and Snappy. */
function databaseFlags(target) {
  const config = { darwin: 'mac', win32: 'win32' }[target.platform] ?? 'linux';
  return [
    ...['-std=c++11', '-w', '-fno-builtin-memcmp', '-DNDEBUG', '-DSNAPPY=1', '-DHAVE_CONFIG_H=1'],
    ...leveldbFlags(target),
    ...[`-I${join(SNAPPY, config)}`, `-I${join(SNAPPY, 'snappy')}`],
  ];
}

/** Turns on the processor's CRC-32C instructions: the source checks for this macro and uses the instructions if available. */
function sourceFlags(source, target) {
  return target.arch === 'x64' && source.endsWith('port_posix_sse.cc')
    ? ['-msse4.2', '-DLEVELDB_PLATFORM_POSIX_SSE=1']
    : [];
}

function linkFlags(target, objects) {
  // The linker always writes an import library beside the addon. The library is not needed, so it is written to the folder
  // of the objects.
  if (target.platform === 'win32')
    return ['-shared', '-s', `-Wl,--out-implib,${join(objects, 'lbcnode.lib')}`];
  // On macOS the linker would write the paths of the objects (`-S` omits them) and of the output into the addon.
  return target.platform === 'darwin'
    ? ['-shared', '-undefined', 'dynamic_lookup', '-Wl,-x', '-Wl,-S', '-Wl,-install_name,lbcnode.node']
    : ['-shared', '-pthread', '-Wl,-Bsymbolic', '-Wl,-s'];
}

/** Sets the time of linking in a PE file to zero, so that two builds give equal bytes. Source: PE Format, "COFF File Header". */
function clearTimestamp(path) {
  const bytes = readFileSync(path);
  const signatureAt = bytes.readUInt32LE(0x3c);
  bytes.writeUInt32LE(0, signatureAt + 8);
  writeFileSync(path, bytes);
}

/** Runs the tasks in parallel, one per processor; stops at the first failure. */
async function inParallel(tasks) {
  const queue = [...tasks];
  const worker = async () => {
    for (let task = queue.shift(); task; task = queue.shift()) await task();
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
}

/** Zig's message when a file of its cache is missing. That happens with several processes. Source: ziglang/zig issue 20406. */
const CACHE_MISS = /\bFileNotFound\b/;
const MAX_ATTEMPTS = 3;

/** Runs a compiler. Runs it again when Zig's cache fails. Rejects like `execFile`. */
export async function runCompiler({ command, env }, args) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await run(command, args, { maxBuffer: MAX_OUTPUT_BYTES, env });
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !CACHE_MISS.test(error.stderr ?? '')) throw error;
    }
  }
}

async function compile(compiler, flags, source, object) {
  if (existsSync(object)) return;
  const temporary = `${object}.${process.pid}.tmp`;
  try {
    await runCompiler(compiler, [...compiler.flags, ...flags, '-c', source, '-o', temporary]);
  } catch (error) {
    throw new BuildError(
      `${compiler.command} failed on ${relative(ROOT, source)}:\n${error.stderr ?? error.message}`,
    );
  }
  renameSync(temporary, object);
}

/** The compiler flags of each source. Objects are named by the hash of all their inputs. */
function unitsOf({ inputs, target, cc, cxx, secp256k1, objects }) {
  const common = [
    '-O3',
    ...(target.platform === 'win32' ? [] : ['-fPIC']),
    '-fvisibility=hidden',
    '-pthread',
  ];
  const cxxFlags = [
    ...common,
    ...['-std=c++17', '-fno-exceptions', '-fno-rtti', '-Wall', '-Wextra', `-I${NATIVE}`, `-I${HEADERS}`],
    ...leveldbFlags(target),
    ...secp256k1.compile,
  ];
  const dbFlags = [...common, '-fno-exceptions', '-fno-rtti', ...databaseFlags(target)];
  const cFlags = [...common, ...bundledFlags(target)];
  const headers = [...inputs.native.filter((file) => file.path.endsWith('.h')), ...inputs.api];
  const databaseHeaders = inputs.database.filter((file) => file.path.endsWith('.h'));
  const secp256k1Headers = inputs.secp256k1.filter((file) => file.path.endsWith('.h'));
  const unit = (compiler, flags, source, included) => {
    const contents = [readFileSync(source), ...included.map((file) => file.content)];
    // The hash must not depend on the folder of the project.
    const words = [compiler.command, ...compiler.flags, compiler.version, ...flags];
    const hash = hashOf(...words.map((word) => word.replaceAll(ROOT, '')), ...contents);
    const stem = basename(source).replace(/\.\w+$/, '');
    return { compiler, flags, source, object: join(objects, `${stem}-${hash.slice(0, 20)}.o`) };
  };
  const units = [
    ...inputs.native
      .filter((file) => file.path.endsWith('.cpp'))
      .map((file) => unit(cxx, cxxFlags, file.path, headers)),
    ...databaseSources(target.platform).map((source) =>
      unit(cxx, [...dbFlags, ...sourceFlags(source, target)], source, databaseHeaders),
    ),
  ];
  // libsecp256k1 is compiled first, because its compilation takes longest.
  if (secp256k1.kind === 'bundled')
    units.unshift(
      ...['secp256k1', 'precomputed_ecmult', 'precomputed_ecmult_gen'].map((name) =>
        unit(cc, cFlags, join(SECP256K1, 'src', `${name}.c`), secp256k1Headers),
      ),
    );
  return units;
}

/**
 * Creates the import libraries with which an addon for Windows finds the functions in Node's executable. Only Zig's compiler
 * can create such libraries.
 */
async function importLibraries({ cxx, objects }) {
  const made = [];
  for (const names of EXPORTED_NAMES) {
    const library = join(objects, basename(names).replace(/\.def$/, '.lib'));
    await run(cxx.command, ['dlltool', '-m', 'i386:x86-64', '-d', names, '-l', library], { env: cxx.env });
    made.push(library);
  }
  return made;
}

/**
 * Builds the addon. Existing objects are reused, and other objects in their folder are removed.
 * @param {object} plan
 * @param {ReturnType<typeof import('./sources.mjs').readInputs>} plan.inputs
 * @param {Pick<import('./targets.mjs').Target, 'platform' | 'arch'>} plan.target
 * @param {Compiler} plan.cc
 * @param {Compiler} plan.cxx
 * @param {Secp256k1} plan.secp256k1
 * @param {string} plan.objects the folder of the objects
 * @param {string} plan.addon path of the addon
 * @param {string[]} [plan.link] further flags to link with
 */
export async function buildAddon(plan) {
  const { inputs, target, cxx, secp256k1, objects, addon, link = [] } = plan;
  if (inputs.api.length === 0) throw new BuildError('the headers of Node-API are missing');
  if (inputs.database.length === 0) throw new BuildError('the source of LevelDB is missing');
  const units = unitsOf(plan);
  const files = units.map((unit) => unit.object);
  mkdirSync(objects, { recursive: true });
  mkdirSync(dirname(addon), { recursive: true });
  await inParallel(units.map((unit) => () => compile(unit.compiler, unit.flags, unit.source, unit.object)));
  // On Windows and macOS the linker stores the file name of the addon in the addon, so it must write to the final name.
  const folder = `${addon}.${process.pid}.tmp`;
  const temporary = join(folder, basename(addon));
  mkdirSync(folder, { recursive: true });
  try {
    if (target.platform === 'win32') files.push(...(await importLibraries(plan)));
    const args = [
      ...cxx.flags,
      ...linkFlags(target, objects),
      ...files,
      ...secp256k1.link,
      ...link,
      '-o',
      temporary,
    ];
    await runCompiler(cxx, args);
    if (target.platform === 'win32') clearTimestamp(temporary);
    if (target.platform === 'darwin') clearLeftovers(temporary);
    renameSync(temporary, addon);
  } catch (error) {
    throw new BuildError(`linking failed:\n${error.stderr ?? error.message}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  for (const name of readdirSync(objects))
    if (!files.includes(join(objects, name))) rmSync(join(objects, name), { force: true });
}
