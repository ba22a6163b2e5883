/** Finds files that may hold descriptors by their first bytes. */
import { open } from 'node:fs/promises';

/** Start of a descriptor, in either field order and from other writers. */
const DESCRIPTOR_START = /^\s*\{\s*"/;
const START_BYTES = 16;

/** Whether the file may hold a descriptor. False if it cannot be read; the later use reports the error. */
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
