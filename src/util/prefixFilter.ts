/**
 * An approximate set of hashes, asked by raw bytes: whether a hash with these first four bytes may be in it. It answers
 * without making a text of the bytes, so that a scan over many foreign hashes allocates nothing. Hashes are never removed.
 */

const FIRST_BITS = 1 << 16;
/** One foreign hash of so many is taken for a member at most. */
const BITS_A_MEMBER = 32;

export class PrefixFilter {
  readonly #members: () => Iterable<string>;
  #words = new Uint32Array(FIRST_BITS / 32);
  #mask = FIRST_BITS - 1;
  #count = 0;

  /** `members`: all hashes as texts (a character a byte), read again when the filter grows. */
  constructor(members: () => Iterable<string>) {
    this.#members = members;
  }

  /** Adds a hash, a character a byte, at least four. It must be among `members` by then. */
  add(hash: string): void {
    if (++this.#count * BITS_A_MEMBER > this.#mask) this.#grow();
    this.#set(hash);
  }

  #set(hash: string): void {
    const bit =
      (hash.charCodeAt(0) |
        (hash.charCodeAt(1) << 8) |
        (hash.charCodeAt(2) << 16) |
        (hash.charCodeAt(3) << 24)) &
      this.#mask;
    this.#words[bit >>> 5]! |= 1 << (bit & 31);
  }

  #grow(): void {
    const members = [...this.#members()];
    this.#count = members.length;
    let bits = this.#mask + 1;
    while (this.#count * BITS_A_MEMBER * 2 > bits) bits *= 2;
    this.#words = new Uint32Array(bits / 32);
    this.#mask = bits - 1;
    for (const hash of members) this.#set(hash);
  }

  /** False only where no member begins with the four bytes at `start`. */
  mayHave(bytes: Uint8Array, start: number): boolean {
    const bit =
      (bytes[start]! | (bytes[start + 1]! << 8) | (bytes[start + 2]! << 16) | (bytes[start + 3]! << 24)) &
      this.#mask;
    return (this.#words[bit >>> 5]! & (1 << (bit & 31))) !== 0;
  }
}
