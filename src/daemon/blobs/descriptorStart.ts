/** Finds files that may contain descriptors, by the first bytes of the files. */
import { open } from 'node:fs/promises';

/** Matches the start of a descriptor, with its fields in any order and also as written by other programs. */
const DESCRIPTOR_START = /^\s*\{\s*"/;
const START_BYTES = 16;

/** Whether the file may contain a descriptor. False if it cannot be read: the code that uses the file later reports the error. */
export async function beginsAsDescriptor(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(START_BYTES), 0, START_BYTES, 0);
      return DESCRIPTOR_START.test(buffer.toString('latin1', 0, bytesRead));
    } finally {
      await file.close();
    }
  } catch {
    return false;
  }
}
