/**
 * Hash tables over keys that lie side by side in memory: a slot holds the number of a key plus one, or 0 where none is. Keys begin
 * with bytes that are evenly spread, as hashes are; their first four say where the search begins.
 */

/** Slots for so many keys: at least twice as many, in a power of two. */
export function slotsFor(count: number): Int32Array {
  let size = 8;
  while (size < 2 * count) size *= 2;
  return new Int32Array(size);
}

/** Where the search for a key begins, from its first four bytes. */
export function firstSlot(slots: Int32Array, word: number): number {
  return word & (slots.length - 1);
}

/** Where it goes on. */
export function nextSlot(slots: Int32Array, slot: number): number {
  return (slot + 1) & (slots.length - 1);
}

/** The first four bytes at a place, as one number. */
export function wordAt(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

/** The same of a text with a byte a character. */
export function wordOf(text: string, at = 0): number {
  return (
    text.charCodeAt(at) |
    (text.charCodeAt(at + 1) << 8) |
    (text.charCodeAt(at + 2) << 16) |
    (text.charCodeAt(at + 3) << 24)
  );
}

/** Puts the key of that number, which begins with `word`, behind those that begin alike. */
export function enterSlot(slots: Int32Array, word: number, number: number): void {
  let slot = firstSlot(slots, word);
  while (slots[slot] !== 0) slot = nextSlot(slots, slot);
  slots[slot] = number + 1;
}

/** Whether the bytes from `at` on are those of a text with a byte a character. */
export function isText(bytes: Uint8Array, at: number, text: string): boolean {
  for (let i = 0; i < text.length; i++) if (bytes[at + i] !== text.charCodeAt(i)) return false;
  return true;
}

/** The number of a text among keys of equal length side by side, −1 for none. */
export function findText(slots: Int32Array, bytes: Uint8Array, keyBytes: number, text: string): number {
  if (text.length !== keyBytes) return -1;
  for (let slot = firstSlot(slots, wordOf(text)); slots[slot] !== 0; slot = nextSlot(slots, slot)) {
    const number = slots[slot]! - 1;
    if (isText(bytes, number * keyBytes, text)) return number;
  }
  return -1;
}
