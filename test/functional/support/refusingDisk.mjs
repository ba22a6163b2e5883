/**
 * Preloaded by a node (`--import`). It simulates disk errors. While the file REFUSING_FLAG exists, the operation in it fails
 * for all files in REFUSING_FOLDER: `write EROFS` fails writes with that error, `sync EIO` fails flushes to disk.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

const { REFUSING_FLAG, REFUSING_FOLDER } = process.env;
const { readFileSync, readlinkSync } = fs;

function refusal(what, path) {
  if (!path.startsWith(REFUSING_FOLDER)) return null;
  let reported;
  try {
    reported = readFileSync(REFUSING_FLAG, 'utf8').split(' ');
  } catch {
    return null;
  }
  const [kind, code] = reported;
  return kind === what
    ? Object.assign(new Error(`${code}: refused, ${what}`), { code, syscall: what })
    : null;
}

const pathOf = (fd) => {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return '';
  }
};

function refuse(name, what, pathOfArguments) {
  const original = fs[name];
  fs[name] = (...args) => {
    const error = refusal(what, pathOfArguments(args));
    const last = args.at(-1);
    if (error === null) return original(...args);
    if (typeof last !== 'function') throw error;
    queueMicrotask(() => last(error));
    return undefined;
  };
}

const ofFile = ([fd]) => pathOf(fd);
const ofPath = ([path, flags]) => (typeof flags === 'string' && flags !== 'r' ? String(path) : '');
for (const name of ['writeSync', 'ftruncateSync']) refuse(name, 'write', ofFile);
refuse('openSync', 'write', ofPath);
for (const name of ['fsync', 'fsyncSync']) refuse(name, 'sync', ofFile);
const { open } = fs.promises;
fs.promises.open = async (...args) => {
  const error = refusal('write', ofPath(args));
  if (error !== null) throw error;
  return open(...args);
};
syncBuiltinESMExports();
