/**
 * Builds the native addon `build/lbcnode.node` from `native/`, LevelDB and libsecp256k1, by calling the compilers
 * directly. Headers of Node-API come from the package `node-api-headers`; LevelDB, with Snappy, from the source that the
 * package `classic-level` ships; libsecp256k1 from the system when it has 0.2.0 or newer with headers, else from the
 * source that the package `secp256k1` ships. Nothing is downloaded. A processor with
 * AVX-512 IFMA prefers that source also where the system has a newer one: the lanes of `curveLanes.cpp` need it, and
 * gain more than a newer version does.
 *
 * usage: node scripts/buildNative.mjs [--optional] [--force]
 *   --optional  without a usable compiler print one line and exit with 0: the node runs on TypeScript alone
 *   --force     build again although nothing changed
 * environment: CXX, CC (compilers), LBCNODE_SECP256K1=bundled|system (default: as said above)
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const NATIVE = join(ROOT, 'native');
const HEADERS = join(ROOT, 'node_modules', 'node-api-headers', 'include');
const SECP256K1 = join(ROOT, 'node_modules', 'secp256k1', 'src', 'secp256k1');
const LEVELDB = join(ROOT, 'node_modules', 'classic-level', 'deps', 'leveldb', 'leveldb-1.20');
const SNAPPY = join(ROOT, 'node_modules', 'classic-level', 'deps', 'snappy');
const BUILD = join(ROOT, 'build');
const OBJECTS = join(BUILD, 'native');
const TARGET = join(BUILD, 'lbcnode.node');
const STAMP = join(BUILD, 'lbcnode.stamp');

/** Compilers at work at the same time. */
const JOBS = 2;

class BuildError extends Error {}

function hashOf(...parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex');
}

/** What the database is made of: LevelDB without its tests and tools, and Snappy, which packs its blocks. */
const DATABASE_SOURCES = [
  ...[
    'db/builder',
    'db/db_impl',
    'db/db_iter',
    'db/dbformat',
    'db/filename',
    'db/log_reader',
    'db/log_writer',
  ],
  ...['db/memtable', 'db/table_cache', 'db/version_edit', 'db/version_set', 'db/write_batch'],
  ...['port/port_posix', 'port/port_posix_sse'],
  ...[
    'table/block',
    'table/block_builder',
    'table/filter_block',
    'table/format',
    'table/iterator',
    'table/merger',
  ],
  ...['table/table', 'table/table_builder', 'table/two_level_iterator'],
  ...['util/arena', 'util/bloom', 'util/cache', 'util/coding', 'util/comparator', 'util/crc32c', 'util/env'],
  ...['util/env_posix', 'util/filter_policy', 'util/hash', 'util/logging', 'util/options', 'util/status'],
].map((name) => join(LEVELDB, `${name}.cc`));
const SNAPPY_SOURCES = ['snappy', 'snappy-sinksource', 'snappy-stubs-internal'].map((name) =>
  join(SNAPPY, 'snappy', `${name}.cc`),
);

const IS_MAC = process.platform === 'darwin';

/** What whoever includes LevelDB's headers must say. */
const LEVELDB_FLAGS = [
  ...['-DLEVELDB_PLATFORM_POSIX=1', '-DLEVELDB_ATOMIC_PRESENT=1', IS_MAC ? '-DOS_MACOSX=1' : '-DOS_LINUX=1'],
  ...['-isystem', LEVELDB, '-isystem', join(LEVELDB, 'include')],
];

/** How LevelDB and Snappy want to be compiled here. */
const DATABASE_FLAGS = [
  ...['-std=c++11', '-w', '-fno-builtin-memcmp', '-DNDEBUG', '-DSNAPPY=1', '-DHAVE_CONFIG_H=1'],
  ...LEVELDB_FLAGS,
  ...[`-I${join(SNAPPY, IS_MAC ? 'mac' : 'linux')}`, `-I${join(SNAPPY, 'snappy')}`],
];

/** The processor's own CRC-32C, which the source asks for by this name and uses where it is there. */
function sourceFlags(source) {
  return process.arch === 'x64' && source.endsWith('port_posix_sse.cc')
    ? ['-msse4.2', '-DLEVELDB_PLATFORM_POSIX_SSE=1']
    : [];
}

/** Files below `folder` whose names match, sorted, with contents. */
function readSources(folder, pattern) {
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => ({ path: join(folder, name), content: readFileSync(join(folder, name)) }));
}

/** The first of the candidates that runs, with its version line. */
async function findCompiler(candidates) {
  for (const candidate of candidates.filter(Boolean)) {
    const [command, ...flags] = candidate.split(' ').filter(Boolean);
    try {
      const { stdout } = await run(command, [...flags, '--version']);
      return { command, flags, version: stdout.split('\n')[0] };
    } catch {
      // Not this one.
    }
  }
  return null;
}

/** Flags that both compilers need for this machine. */
function machineFlags() {
  if (process.platform !== 'darwin') return [];
  return ['-arch', process.arch === 'x64' ? 'x86_64' : process.arch];
}

/** What libsecp256k1's configure would have found out. */
function bundledDefines() {
  const wide = ['x64', 'arm64', 'ppc64', 's390x', 'riscv64', 'loong64'].includes(process.arch);
  const defines = [
    'USE_NUM_NONE=1',
    'USE_FIELD_INV_BUILTIN=1',
    'USE_SCALAR_INV_BUILTIN=1',
    'USE_ENDOMORPHISM=1',
    'ECMULT_WINDOW_SIZE=15',
    'ECMULT_GEN_PREC_BITS=4',
    'ENABLE_MODULE_RECOVERY=1',
    ...(wide
      ? ['HAVE___INT128=1', 'USE_FIELD_5X52=1', 'USE_SCALAR_4X64=1']
      : ['USE_FIELD_10X26=1', 'USE_SCALAR_8X32=1']),
    ...(process.arch === 'x64' ? ['USE_ASM_X86_64=1'] : []),
  ];
  return defines.map((define) => `-D${define}`);
}

/** Flags to compile and link against a system library of at least 0.2.0 with recovery, or null. */
async function findSystemSecp256k1(compiler) {
  let compile = [];
  let link = ['-lsecp256k1'];
  try {
    const flags = async (what) =>
      (await run('pkg-config', [what, 'libsecp256k1'])).stdout.trim().split(/\s+/).filter(Boolean);
    compile = await flags('--cflags');
    link = await flags('--libs');
  } catch {
    // No pkg-config, or no description: the plain flags may do.
  }
  const folder = mkdtempSync(join(tmpdir(), 'lbcnode-probe-'));
  try {
    const source = join(folder, 'probe.cpp');
    // `secp256k1_context_static` came with 0.2.0.
    writeFileSync(
      source,
      '#include <secp256k1.h>\n#include <secp256k1_recovery.h>\n' +
        'int main() { return secp256k1_context_static == nullptr || &secp256k1_ecdsa_recover == nullptr; }\n',
    );
    const program = join(folder, 'probe');
    await run(compiler.command, [
      ...compiler.flags,
      ...machineFlags(),
      ...compile,
      source,
      '-o',
      program,
      ...link,
    ]);
    await run(program);
    return { compile, link };
  } catch {
    return null;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether this machine's processor verifies signatures in lanes. */
function hasIfma() {
  if (process.arch !== 'x64') return false;
  try {
    return /\bavx512ifma\b/.test(readFileSync('/proc/cpuinfo', 'latin1'));
  } catch {
    return false;
  }
}

async function chooseSecp256k1(compiler, wish) {
  if (!['', 'bundled', 'system'].includes(wish))
    throw new BuildError('LBCNODE_SECP256K1 must be bundled or system');
  const prefersBundled = wish === 'bundled' || (wish === '' && hasIfma());
  const system = prefersBundled ? null : await findSystemSecp256k1(compiler);
  if (system) return { kind: 'system', ...system };
  if (wish === 'system') throw new BuildError('no system libsecp256k1 of 0.2.0 or newer with headers');
  if (!existsSync(join(SECP256K1, 'src', 'secp256k1.c')))
    throw new BuildError('the source in the package secp256k1 is missing');
  return {
    kind: 'bundled',
    compile: ['-DLBC_SECP256K1_BUNDLED=1', `-I${join(SECP256K1, 'include')}`],
    link: [],
  };
}

/** Runs the tasks, `JOBS` at a time; stops at the first failure. */
async function inParallel(tasks) {
  const queue = [...tasks];
  const worker = async () => {
    for (let task = queue.shift(); task; task = queue.shift()) await task();
  };
  await Promise.all(Array.from({ length: JOBS }, worker));
}

async function compile(compiler, flags, source, object) {
  if (existsSync(object)) return;
  const temporary = `${object}.${process.pid}.tmp`;
  try {
    await run(compiler.command, [...compiler.flags, ...flags, '-c', source, '-o', temporary], {
      maxBuffer: 1 << 26,
    });
  } catch (error) {
    throw new BuildError(
      `${compiler.command} failed on ${relative(ROOT, source)}:\n${error.stderr ?? error.message}`,
    );
  }
  renameSync(temporary, object);
}

/** What the last successful build was made from and with; empty strings when there is none. */
function readStamp() {
  try {
    const { inputs, tools } = JSON.parse(readFileSync(STAMP, 'utf8'));
    if (existsSync(TARGET)) return { inputs, tools };
  } catch {
    // No stamp, or a damaged one.
  }
  return { inputs: '', tools: '' };
}

/** All source text that the addon is made from. */
function readInputs() {
  const native = readSources(NATIVE, /\.(cpp|h|c)$/);
  const api = existsSync(HEADERS) ? readSources(HEADERS, /\.h$/) : [];
  const secp256k1 = existsSync(SECP256K1) ? readSources(SECP256K1, /\.(c|h)$/) : [];
  const leveldb = existsSync(LEVELDB) ? readSources(LEVELDB, /\.(cc|h)$/) : [];
  const snappy = existsSync(SNAPPY) ? readSources(SNAPPY, /\.(cc|h)$/) : [];
  const database = [...leveldb, ...snappy];
  const script = readFileSync(fileURLToPath(import.meta.url));
  const contents = [...native, ...api, ...secp256k1, ...database].map((file) => file.content);
  return {
    native,
    api,
    secp256k1,
    database,
    hash: hashOf(process.platform, process.arch, script, ...contents),
  };
}

/** The version which pkg-config tells, '' when it knows none: a cheap sign that the system library has changed. */
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
    // An addon that was built elsewhere from the same sources will do.
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
  if (inputs.api.length === 0) throw new BuildError('the package node-api-headers is missing');
  if (inputs.database.length === 0)
    throw new BuildError('the source in the package classic-level is missing');

  const secp256k1 = await chooseSecp256k1(cxx, wish);
  const common = ['-O3', '-fPIC', '-fvisibility=hidden', '-pthread', ...machineFlags()];
  const cxxFlags = [
    ...common,
    ...['-std=c++17', '-fno-exceptions', '-fno-rtti', '-Wall', '-Wextra', `-I${HEADERS}`],
    ...LEVELDB_FLAGS,
    ...secp256k1.compile,
  ];
  const dbFlags = [...common, '-fno-exceptions', '-fno-rtti', ...DATABASE_FLAGS];
  const cFlags = [
    ...common,
    ...['-std=c99', '-w', `-I${SECP256K1}`, `-I${join(SECP256K1, 'src')}`],
    ...bundledDefines(),
  ];
  const linkFlags =
    process.platform === 'darwin'
      ? ['-bundle', '-undefined', 'dynamic_lookup', ...machineFlags()]
      : ['-shared', '-pthread', '-Wl,-Bsymbolic', '-Wl,-s'];

  // Objects are named by the hash of all that goes into them, and so used again until that changes.
  const headers = [...inputs.native.filter((file) => file.path.endsWith('.h')), ...inputs.api];
  const cxxHash = hashOf(cxx.command, cxx.version, ...cxxFlags, ...headers.map((file) => file.content));
  const units = inputs.native
    .filter((file) => file.path.endsWith('.cpp'))
    .map((file) => {
      const name = `${basename(file.path, '.cpp')}-${hashOf(cxxHash, file.content).slice(0, 20)}.o`;
      return { compiler: cxx, flags: cxxFlags, source: file.path, object: join(OBJECTS, name) };
    });
  const dbHash = hashOf(
    ...[cxx.command, cxx.version, ...dbFlags],
    ...inputs.database.filter((file) => file.path.endsWith('.h')).map((file) => file.content),
  );
  for (const source of [...DATABASE_SOURCES, ...SNAPPY_SOURCES]) {
    const flags = [...dbFlags, ...sourceFlags(source)];
    const name = `${basename(source, '.cc')}-${hashOf(dbHash, ...flags, readFileSync(source)).slice(0, 20)}.o`;
    units.push({ compiler: cxx, flags, source, object: join(OBJECTS, name) });
  }
  if (secp256k1.kind === 'bundled') {
    const source = join(NATIVE, 'secp256k1Unit.c');
    const included = [...headers, ...inputs.secp256k1];
    const contents = [readFileSync(source), ...included.map((file) => file.content)];
    const name = `secp256k1-${hashOf(cc.command, cc.version, ...cFlags, ...contents).slice(0, 20)}.o`;
    // First, for it takes longest.
    units.unshift({ compiler: cc, flags: cFlags, source, object: join(OBJECTS, name) });
  }
  const objects = units.map((unit) => unit.object);

  if (force) rmSync(OBJECTS, { recursive: true, force: true });
  mkdirSync(OBJECTS, { recursive: true });
  await inParallel(units.map((unit) => () => compile(unit.compiler, unit.flags, unit.source, unit.object)));
  const temporary = `${TARGET}.${process.pid}.tmp`;
  try {
    await run(cxx.command, [...cxx.flags, ...linkFlags, ...objects, ...secp256k1.link, '-o', temporary]);
  } catch (error) {
    throw new BuildError(`linking failed:\n${error.stderr ?? error.message}`);
  }
  renameSync(temporary, TARGET);
  writeFileSync(STAMP, JSON.stringify({ inputs: inputs.hash, tools }));
  for (const name of readdirSync(OBJECTS)) {
    if (!objects.includes(join(OBJECTS, name))) rmSync(join(OBJECTS, name), { force: true });
  }
  console.log(`native addon built with ${basename(cxx.command)} and the ${secp256k1.kind} libsecp256k1`);
}

const inputs = readInputs();
try {
  await build(inputs, process.argv.includes('--force'));
} catch (error) {
  // Better none than one of other sources.
  if (readStamp().inputs !== inputs.hash) rmSync(TARGET, { force: true });
  const optional = process.argv.includes('--optional');
  const reason = error instanceof BuildError ? error.message : (error.stack ?? String(error));
  console.error(
    `native addon not built: ${reason}${optional ? ' (the node will run without it, slower)' : ''}`,
  );
  process.exitCode = optional ? 0 : 1;
}
