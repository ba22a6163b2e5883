/**
 * A seal on the file of the SQLite index: how long it was and what its bytes hash to when the node stopped. SQLite finds
 * damage of its own structures when it comes upon them, and that of a row's content never; the seal tells both before anybody
 * is answered. It is taken off before the file is written to, so that after a kill there is none.
 */
import { createHash } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';

/**
 * Longer files are not sealed: hashing takes seconds for each GiB, at the start and at the end of a run. That many bytes are
 * some five million claims.
 */
const MAX_SEALED_BYTES = 4 * 2 ** 30;
const PIECE_BYTES = 1 << 20;

/** Where the seal of a file lies. */
export const sealOf = (path: string): string => `${path}-seal`;

/** Length and hash of a file; null when it is too long to be read. */
function digestOf(path: string, maxBytes: number): string | null {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    if (size > maxBytes) return null;
    const hash = createHash('sha256');
    const piece = Buffer.allocUnsafe(PIECE_BYTES);
    for (let read = readSync(file, piece); read > 0; read = readSync(file, piece))
      hash.update(piece.subarray(0, read));
    return `${size} ${hash.digest('hex')}\n`;
  } finally {
    closeSync(file);
  }
}

/** Seals a file that nobody has open. Nothing is done where SQLite left a log beside it, or where it is too long. */
export function sealIndexFile(path: string, maxBytes = MAX_SEALED_BYTES): void {
  const hasLog = (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0;
  const digest = hasLog ? null : digestOf(path, maxBytes);
  if (digest !== null) writeFileSync(sealOf(path), digest);
}

/** Takes the seal off. False when the file is not what was sealed; true too where there is none. */
export function breakSeal(path: string): boolean {
  const seal = sealOf(path);
  let sealed: string;
  try {
    sealed = readFileSync(seal, 'latin1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return true;
    throw error;
  }
  const isThere = statSync(path, { throwIfNoEntry: false }) !== undefined;
  const isWhole = !isThere || digestOf(path, Infinity) === sealed;
  rmSync(seal);
  return isWhole;
}

/** Deletes the seal, whatever it says. */
export function removeSeal(path: string): void {
  rmSync(sealOf(path), { force: true });
}
