/**
 * Hash tables over keys in contiguous memory. A slot contains the index of a key plus one, or 0 if the slot is empty. The
 * keys are hashes or begin with a hash, so their first four bytes select the first slot of a search.
 */

/** Creates a table for `count` keys. The number of slots is a power of two, and at least twice the number of keys. */
export function slotsFor(count: number): Int32Array {
  let size = 8;
  while (size < 2 * count) size *= 2;
  return new Int32Array(size);
}

/** The slot at which the search for a key starts. `word` contains the key's first four bytes. */
export function firstSlot(slots: Int32Array, word: number): number {
  return word & (slots.length - 1);
}

/** The slot after `slot` in a search. The last slot is followed by the first. */
export function nextSlot(slots: Int32Array, slot: number): number {
  return (slot + 1) & (slots.length - 1);
}

/** The four bytes at an offset as a number, little endian. */
export function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

/** The four bytes at an offset as a number, little endian, of a text with one byte per character. */
export function wordOf(text: string, at = 0): number {
  return (
    text.charCodeAt(at) |
    (text.charCodeAt(at + 1) << 8) |
    (text.charCodeAt(at + 2) << 16) |
    (text.charCodeAt(at + 3) << 24)
  );
}

/**
 * Inserts the key with index `number`. `word` contains its first four bytes. In a search the key follows earlier keys with
 * the same `word`.
 */
export function enterSlot(slots: Int32Array, word: number, number: number): void {
  let slot = firstSlot(slots, word);
  while (slots[slot] !== 0) slot = nextSlot(slots, slot);
  slots[slot] = number + 1;
}

/** Whether the bytes from `at` on equal those of a text with one byte per character. */
export function isText(bytes: Uint8Array, at: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false;
  return true;
}

/** Index of the key that equals `text`; −1 if it is not found. All keys have `keyBytes` bytes and are contiguous in `bytes`. */
export function findText(slots: Int32Array, bytes: Uint8Array, keyBytes: number, text: string): number {
  if (text.length !== keyBytes) return -1;
  for (let slot = firstSlot(slots, wordOf(text)); slots[slot] !== 0; slot = nextSlot(slots, slot)) {
    const number = slots[slot]! - 1;
    if (isText(bytes, number * keyBytes, text)) return number;
  }
  return -1;
}
