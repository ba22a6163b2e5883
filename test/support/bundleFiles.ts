/**
 * Reads the files that `npm run bundle` writes: archives, the payload of the program `lbrynet`, and the headers of executables.
 */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unzipSync } from 'fflate';

export interface ArchiveEntry {
  readonly name: string;
  readonly mode: number;
  readonly dosTime: number;
  readonly dosDate: number;
  readonly bytes: number;
}

/** Rows of the central directory, in its order. Source: APPNOTE 4.3.12. */
export function archiveEntries(archive: Uint8Array): ArchiveEntry[] {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06'));
  const entries: ArchiveEntry[] = [];
  let at = bytes.readUInt32LE(end + 16);
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left--) {
    const [name, extra, comment] = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset));
    entries.push({
      name: bytes.toString('utf8', at + 46, at + 46 + name!),
      mode: bytes.readUInt32LE(at + 38) >>> 16,
      dosTime: bytes.readUInt16LE(at + 12),
      dosDate: bytes.readUInt16LE(at + 14),
      bytes: bytes.readUInt32LE(at + 24),
    });
    at += 46 + name! + extra! + comment!;
  }
  return entries;
}

/** Extracts the entries with the given names into a folder, with their modes. */
export function unpackArchive(archive: Uint8Array, folder: string, wants = (_name: string) => true): void {
  mkdirSync(folder, { recursive: true });
  const files = unzipSync(archive, { filter: ({ name }) => wants(name) });
  for (const { name, mode } of archiveEntries(archive)) {
    const data = files[name];
    if (data === undefined) continue;
    writeFileSync(join(folder, name), data);
    chmodSync(join(folder, name), mode & 0o777);
  }
}

export interface CarriedFile {
  readonly path: string;
  readonly executable: boolean;
  readonly data: Buffer;
}

/** The folder and files of a payload in the format of `launcher/payload.h`. The payload may be anywhere in the bytes. */
export function carriedFiles(bytes: Buffer): { folder: string; files: CarriedFile[] } {
  const start = bytes.indexOf('LBCFILES');
  let at = start + 8;
  const text = (): string => {
    const length = bytes.readUInt16LE(at);
    at += 2 + length;
    return bytes.toString('utf8', at - length, at);
  };
  const folder = text();
  const count = bytes.readUInt32LE(at);
  at += 4;
  const files: CarriedFile[] = [];
  for (let index = 0; index < count; index++) {
    const from = start + Number(bytes.readBigUInt64LE(at));
    const size = Number(bytes.readBigUInt64LE(at + 8));
    const executable = bytes[at + 16] === 1;
    at += 17;
    files.push({ path: text(), executable, data: bytes.subarray(from, from + size) });
  }
  return { folder, files };
}

const ELF_MACHINES: Readonly<Record<number, string>> = { 62: 'x64', 183: 'arm64' };
const MACH_TYPES: Readonly<Record<number, string>> = { 0x01000007: 'x64', 0x0100000c: 'arm64' };
const PE_MACHINES: Readonly<Record<number, string>> = { 0x8664: 'x64' };

/** Format and processor of an executable or library, as `ELF x64`; `unknown` for other bytes. */
export function executableKind(bytes: Buffer): string {
  if (bytes.toString('latin1', 0, 4) === '\x7fELF') return `ELF ${ELF_MACHINES[bytes.readUInt16LE(18)]}`;
  if (bytes.readUInt32LE(0) === 0xfeedfacf) return `Mach-O ${MACH_TYPES[bytes.readUInt32LE(4)]}`;
  if (bytes.toString('latin1', 0, 2) !== 'MZ') return 'unknown';
  const at = bytes.readUInt32LE(60);
  return bytes.toString('latin1', at, at + 4) === 'PE\0\0'
    ? `PE ${PE_MACHINES[bytes.readUInt16LE(at + 4)]}`
    : 'unknown';
}
