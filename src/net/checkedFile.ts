/**
 * Reads and writes small files in Core's format of `peers.dat` and `banlist.dat`: the network's magic, the content, and the
 * double SHA-256 of both. A write creates a new file that then replaces the old file. Source: Core addrdb.cpp
 * `SerializeFileDB`, `DeserializeDB`.
 */
import { open, readFile, rename, stat } from 'node:fs/promises';
import { sha256d } from '../crypto/hash.js';
import { asBuffer, concatBytes, equalBytes, type Bytes } from '../util/bytes.js';
import { environmentError } from '../util/text/environmentError.js';
import { ReadError } from '../util/reader.js';
import { refuseSpecialFile } from '../util/files/specialFile.js';

const HASH_BYTES = 32;

/**
 * Reads the content of a file; null if the file does not exist. Throws `ReadError` if it is corrupt, belongs to another
 * network or is larger than `maxBytes`. Throws system errors if the disk fails.
 */
export async function readCheckedFile(path: string, magic: Bytes, maxBytes: number): Promise<Buffer | null> {
  let framed: Buffer;
  try {
    refuseSpecialFile(path);
    const { size } = await stat(path);
    if (size > maxBytes) throw new ReadError(`file of ${size} bytes is too large`);
    framed = await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const end = framed.length - HASH_BYTES;
  if (end < magic.length) throw new ReadError('file is too short');
  if (!equalBytes(framed.subarray(0, magic.length), magic))
    throw new ReadError('Invalid network magic number');
  if (!equalBytes(sha256d(framed.subarray(0, end)), framed.subarray(end))) {
    throw new ReadError('Checksum mismatch, data corrupted');
  }
  return framed.subarray(magic.length, end);
}

/** Replaces a file and makes it last. Callers write one file only once at a time. Rejects with an
 * `EnvironmentError` when the disk refuses. */
export async function writeCheckedFile(path: string, magic: Bytes, content: Bytes): Promise<void> {
  const framed = concatBytes(magic, asBuffer(content));
  const fresh = `${path}.new`;
  try {
    refuseSpecialFile(fresh);
    const file = await open(fresh, 'w');
    try {
      await file.writeFile(framed);
      await file.writeFile(sha256d(framed));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(fresh, path);
  } catch (error) {
    throw environmentError(error, path);
  }
}
