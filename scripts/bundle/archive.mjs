/**
 * Zip archives with equal bytes for equal contents: sorted entries, a fixed time, and Unix modes. The compressor is fflate,
 * in JavaScript: Node's compressor gives other bytes on other processors.
 */
import { zipSync } from 'fflate';

/** The earliest time that a zip archive can store. Zip times are local: this one is the same in every time zone. */
const firstMoment = () => new Date(1980, 0, 1);
/**
 * Code for the system that created the archive. With this value, readers interpret the upper half of the attributes as a
 * Unix mode. Source: APPNOTE 4.4.2.
 */
const UNIX = 3;
const REGULAR_FILE = 0o100000;

/**
 * @typedef {object} Entry
 * @property {string} name with slashes
 * @property {Uint8Array} data
 * @property {boolean} executable mode 0755, else 0644
 */

/** @param {readonly Entry[]} entries @returns {Uint8Array} */
export function makeZip(entries) {
  const sorted = [...entries].sort((a, b) => (a.name < b.name ? -1 : 1));
  const files = {};
  for (const { name, data, executable } of sorted) {
    if (name in files) throw new Error(`two entries are named ${name}`);
    const attrs = ((REGULAR_FILE | (executable ? 0o755 : 0o644)) << 16) >>> 0;
    files[name] = [data, { level: 9, mtime: firstMoment(), os: UNIX, attrs }];
  }
  return zipSync(files);
}
