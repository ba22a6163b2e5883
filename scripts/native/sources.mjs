/**
 * Location of the addon's source text. In a checkout the headers of Node-API, LevelDB and Snappy come from the packages that
 * ship them, and libsecp256k1 from `third_party/`. A packed lbcnode has copies in `vendor/`, which `scripts/prepack.mjs`
 * creates.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const NATIVE = join(ROOT, 'native');
export const VENDOR = join(ROOT, 'vendor');
/** Whether this is a checkout of the project, not the package built from it. */
export const IS_CHECKOUT = existsSync(join(ROOT, 'src'));

/**
 * The libraries compiled in: their location in a checkout, the files needed, and their licence. `vendor/<name>` holds the
 * same files under the same paths.
 */
export const LIBRARIES = [
  {
    name: 'node-api-headers',
    title: 'Node-API headers',
    from: 'node_modules/node-api-headers',
    files: /^(include\/.*\.h|LICENSE)$/,
    license: 'LICENSE',
  },
  {
    name: 'secp256k1',
    title: 'libsecp256k1',
    from: 'third_party/secp256k1',
    files: /^((include|src)\/.*\.(c|h)|COPYING)$/,
    license: 'COPYING',
  },
  {
    name: 'leveldb',
    title: 'LevelDB',
    from: 'node_modules/classic-level/deps/leveldb/leveldb-1.20',
    files: /^(?!.*_(test|bench)\.)((db|include|port|table|util)\/.*\.(cc|h)|LICENSE)$/,
    license: 'LICENSE',
  },
  {
    name: 'snappy',
    title: 'Snappy',
    from: 'node_modules/classic-level/deps/snappy',
    files: /^(?!.*test)((snappy|linux|mac)\/.*\.(cc|h)|snappy\/COPYING)$/,
    license: 'snappy/COPYING',
  },
];

/** Returns the folder with the source code of a library. */
export function libraryFolder(name) {
  const { from } = LIBRARIES.find((library) => library.name === name);
  return IS_CHECKOUT ? join(ROOT, from) : join(VENDOR, name);
}

export const HEADERS = join(libraryFolder('node-api-headers'), 'include');
export const SECP256K1 = libraryFolder('secp256k1');
/** The release of libsecp256k1 in `third_party/`. */
export const SECP256K1_VERSION = '0.5.0';
/**
 * `ECMULT_WINDOW_SIZE` of the build of libsecp256k1. The table of generator multiples for verification has two times 2^(size
 * - 2) points.
 */
export const SECP256K1_WINDOW = 11;
export const LEVELDB = libraryFolder('leveldb');
export const SNAPPY = libraryFolder('snappy');
/** LevelDB's port for Windows, and the names exported by Node's executable. Only a checkout has them: see `buildPrebuilt.mjs`. */
export const LEVELDB_WINDOWS = join(ROOT, 'node_modules/classic-level/deps/leveldb/port-libuv');
export const EXPORTED_NAMES = ['js_native_api', 'node_api'].map((name) =>
  join(ROOT, 'node_modules/node-api-headers/def', `${name}.def`),
);

const DATABASE_PORTS = {
  posix: [join(LEVELDB, 'port', 'port_posix.cc'), join(LEVELDB, 'util', 'env_posix.cc')],
  windows: ['port_uv', 'env_win', 'win_logger'].map((name) => join(LEVELDB_WINDOWS, `${name}.cc`)),
};

const DATABASE_SOURCES = [
  ...[
    ...['builder', 'db_impl', 'db_iter', 'dbformat', 'filename', 'log_reader', 'log_writer', 'memtable'],
    ...['table_cache', 'version_edit', 'version_set', 'write_batch'],
  ].map((name) => join(LEVELDB, 'db', `${name}.cc`)),
  join(LEVELDB, 'port', 'port_posix_sse.cc'),
  ...[
    ...['block', 'block_builder', 'filter_block', 'format', 'iterator', 'merger', 'table', 'table_builder'],
    ...['two_level_iterator'],
  ].map((name) => join(LEVELDB, 'table', `${name}.cc`)),
  ...[
    ...['arena', 'bloom', 'cache', 'coding', 'comparator', 'crc32c', 'env', 'filter_policy'],
    ...['hash', 'logging', 'options', 'status'],
  ].map((name) => join(LEVELDB, 'util', `${name}.cc`)),
  ...['snappy', 'snappy-sinksource', 'snappy-stubs-internal'].map((name) =>
    join(SNAPPY, 'snappy', `${name}.cc`),
  ),
];

/** Sources of the database: LevelDB without its tests and tools, and Snappy, which compresses its blocks. */
export function databaseSources(platform) {
  return [...DATABASE_SOURCES, ...DATABASE_PORTS[platform === 'win32' ? 'windows' : 'posix']];
}

export function hashOf(...parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex');
}

/** Files below `folder` whose names match, sorted, with contents; empty if the folder does not exist. */
function readSources(folder, pattern) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => pattern.test(name))
    .sort()
    .map((name) => ({ path: join(folder, name), content: readFileSync(join(folder, name)) }));
}

/** All source text of the addon, and a hash over it and over these scripts. */
export function readInputs() {
  const native = readSources(NATIVE, /\.(cpp|h|c)$/);
  const api = readSources(HEADERS, /\.h$/);
  const secp256k1 = readSources(SECP256K1, /\.(c|h)$/);
  const database = [LEVELDB, SNAPPY, LEVELDB_WINDOWS].flatMap((folder) => readSources(folder, /\.(cc|h)$/));
  const scripts = readSources(join(ROOT, 'scripts', 'native'), /\.mjs$/);
  const contents = [...scripts, ...native, ...api, ...secp256k1, ...database].map((file) => file.content);
  return { native, api, secp256k1, database, hash: hashOf(process.platform, process.arch, ...contents) };
}
