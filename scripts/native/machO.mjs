/**
 * Makes an addon for macOS independent of the memory of the linker. Zig's linker writes no entry of the indirect symbol table
 * for a symbol of the addon itself, and leaves the same number of entries at the end of the table uninitialized. The loader
 * does not read the table. The entries at the end are marked as local; then the UUID and the page hashes of the ad hoc
 * signature are computed again. Source: `mach-o/loader.h` of Apple's cctools; `kern/cs_blobs.h` of XNU for the signature.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';

const HEADER_BYTES = 32;
const COMMAND = { segment: 0x19, dysymtab: 0xb, uuid: 0x1b, signature: 0x1d };
const SEGMENT_BYTES = 72;
const SECTION_BYTES = 80;
/** The type of a section with stubs. */
const STUBS = 0x8;
/** An entry for a symbol of the addon itself. */
const LOCAL_SYMBOL = 0x80000000;
const UUID_BYTES = 16;
const SUPER_BLOB = 0xfade0cc0;
const CODE_DIRECTORY = 0xfade0c02;
const HASH_SHA256 = 2;

const sha256 = (bytes) => createHash('sha256').update(bytes).digest();

/** Offsets of the load commands, by their type. */
function commandsOf(bytes) {
  const found = new Map();
  let at = HEADER_BYTES;
  for (let left = bytes.readUInt32LE(16); left > 0; left--) {
    const type = bytes.readUInt32LE(at);
    found.set(type, [...(found.get(type) ?? []), at]);
    at += bytes.readUInt32LE(at + 4);
  }
  return found;
}

/** Range of the stubs in the indirect symbol table; null without stubs. */
function stubsOf(bytes, segments) {
  for (const segment of segments)
    for (let n = 0; n < bytes.readUInt32LE(segment + 64); n++) {
      const section = segment + SEGMENT_BYTES + n * SECTION_BYTES;
      if ((bytes.readUInt32LE(section + 64) & 0xff) !== STUBS) continue;
      const count = Number(bytes.readBigUInt64LE(section + 40)) / bytes.readUInt32LE(section + 72);
      return { first: bytes.readUInt32LE(section + 68), count };
    }
  return null;
}

/**
 * Number of entries that the linker wrote. The entries of the lazy pointers come last; they are those of the stubs. Null if
 * they are not found.
 */
function writtenEntries(bytes, tableAt, count, stubs) {
  const entries = (from) => bytes.subarray(tableAt + 4 * from, tableAt + 4 * (from + stubs.count));
  const wanted = entries(stubs.first);
  for (let from = stubs.first + stubs.count; from + stubs.count <= count; from++)
    if (entries(from).equals(wanted)) return from + stubs.count;
  return null;
}

/** Computes the page hashes of an ad hoc signature again. */
function signAgain(bytes, command) {
  const start = bytes.readUInt32LE(command + 8);
  if (bytes.readUInt32BE(start) !== SUPER_BLOB) throw new Error('the addon has another kind of signature');
  for (let n = 0; n < bytes.readUInt32BE(start + 8); n++) {
    const blob = start + bytes.readUInt32BE(start + 16 + n * 8);
    if (bytes.readUInt32BE(blob) !== CODE_DIRECTORY) continue;
    if (bytes[blob + 37] !== HASH_SHA256) throw new Error('the signature of the addon has another hash');
    const [hashesAt, pageBytes] = [blob + bytes.readUInt32BE(blob + 16), 2 ** bytes[blob + 39]];
    const end = bytes.readUInt32BE(blob + 32);
    for (let page = 0; page < bytes.readUInt32BE(blob + 28); page++) {
      const hash = sha256(bytes.subarray(page * pageBytes, Math.min(end, (page + 1) * pageBytes)));
      hash.copy(bytes, hashesAt + page * bytes[blob + 36]);
    }
  }
}

/** Returns the program with known values in these entries. Returns it unchanged if all entries were written. */
export function withoutLeftovers(program) {
  const bytes = Buffer.from(program);
  const commands = commandsOf(bytes);
  const [dysymtab] = commands.get(COMMAND.dysymtab) ?? [];
  if (dysymtab === undefined) return program;
  const [first, count] = [bytes.readUInt32LE(dysymtab + 56), bytes.readUInt32LE(dysymtab + 60)];
  const stubs = stubsOf(bytes, commands.get(COMMAND.segment) ?? []);
  const written = stubs && writtenEntries(bytes, first, count, stubs);
  if (written === null || written === count) return program;
  for (let n = written; n < count; n++) bytes.writeUInt32LE(LOCAL_SYMBOL, first + 4 * n);
  const [signature] = commands.get(COMMAND.signature) ?? [];
  for (const uuid of commands.get(COMMAND.uuid) ?? []) {
    const at = uuid + 8;
    bytes.fill(0, at, at + UUID_BYTES);
    const end = signature === undefined ? bytes.length : bytes.readUInt32LE(signature + 8);
    sha256(bytes.subarray(0, end)).copy(bytes, at, 0, UUID_BYTES);
    // The form of a UUID that is made from a name. Source: RFC 9562, section 5.5.
    bytes[at + 6] = (bytes[at + 6] & 0x0f) | 0x50;
    bytes[at + 8] = (bytes[at + 8] & 0x3f) | 0x80;
  }
  if (signature !== undefined) signAgain(bytes, signature);
  return bytes;
}

/** Rewrites the file at `path`. */
export function clearLeftovers(path) {
  writeFileSync(path, withoutLeftovers(readFileSync(path)));
}
