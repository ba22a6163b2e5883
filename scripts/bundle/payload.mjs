/** Writes the payload of the program `lbrynet`, in the format of `launcher/payload.h`. */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';

const MAGIC = 'LBCFILES';
/** Names in `launcher/payload.h` have 256 bytes, including the zero at the end. */
const MAX_NAME_BYTES = 255;
const HASH_DIGITS = 16;

/**
 * @typedef {object} PayloadFile
 * @property {string} path with slashes
 * @property {Uint8Array} data
 * @property {boolean} [executable]
 */

/** Lists all files below a folder, with paths below `prefix`. @returns {PayloadFile[]} */
export function filesBelow(folder, prefix) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .map((path) => ({
      path: `${prefix}/${relative(folder, path).replaceAll('\\', '/')}`,
      data: readFileSync(path),
    }));
}

function text(value) {
  const bytes = Buffer.from(value);
  if (bytes.length > MAX_NAME_BYTES) throw new Error(`the name is too long for the launcher: ${value}`);
  const length = Buffer.alloc(2);
  length.writeUInt16LE(bytes.length);
  return Buffer.concat([length, bytes]);
}

function headerOf(folder, files) {
  const count = Buffer.alloc(4);
  count.writeUInt32LE(files.length);
  const rows = files.map(({ path, data, executable }) => {
    const numbers = Buffer.alloc(17);
    numbers.writeBigUInt64LE(BigInt(data.length), 8);
    numbers[16] = executable ? 1 : 0;
    return { numbers, path: text(path) };
  });
  const start = Buffer.concat([Buffer.from(MAGIC), text(folder), count]);
  let offset = rows.reduce((sum, { path }) => sum + 17 + path.length, start.length);
  rows.forEach(({ numbers }, index) => {
    numbers.writeBigUInt64LE(BigInt(offset), 0);
    offset += files[index].data.length;
  });
  return Buffer.concat([start, ...rows.flatMap(({ numbers, path }) => [numbers, path])]);
}

/**
 * Returns the bytes of the payload and the name of the folder into which the launcher unpacks the payload. The name contains
 * version and content hash, so several versions can coexist.
 * @param {readonly PayloadFile[]} unsorted
 * @param {string} version
 * @returns {{ folder: string, bytes: Buffer }}
 */
export function makePayload(unsorted, version) {
  const files = [...unsorted].sort((a, b) => (a.path < b.path ? -1 : 1));
  const hash = createHash('sha256');
  for (const { path, data, executable } of files)
    hash.update(`${path}\0${executable ? 1 : 0}${data.length}\0`).update(data);
  const folder = `runtime-${version}-${hash.digest('hex').slice(0, HASH_DIGITS)}`;
  return { folder, bytes: Buffer.concat([headerOf(folder, files), ...files.map(({ data }) => data)]) };
}
