/** Mutations for Bitcoin's serialization: wrong counts, counts that are longer than necessary, and parts of another input. */
import type { Random } from '../../differential/support.js';

/** Bytes that parsers handle separately: markers, prefixes of compact sizes, pushes, claim opcodes. */
const BRANCH_BYTES = [
  0x00, 0x01, 0x02, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f, 0x51, 0x60, 0x6a, 0x6d, 0x75, 0x7f, 0x80, 0x81, 0xac, 0xae,
  0xb5, 0xb6, 0xb7, 0xfc, 0xfd, 0xfe, 0xff,
];

/** Values around which a compact size or a length changes its meaning. */
const EDGES = [
  0, 1, 2, 252, 253, 254, 255, 256, 0xffff, 0x10000, 0x01ffffff, 0x02000000, 0x02000001, 0x7fffffff,
  0x80000000, 0xffffffff,
];

/** A compact size of 1, 3, 5 or 9 bytes, canonical or not. */
export function lyingCompactSize(random: Random): Buffer {
  const value = random.chance(3) ? random.below(300) : random.pick(EDGES);
  const width = random.pick([1, 3, 5, 9]);
  const out = Buffer.alloc(width);
  if (width === 1) out[0] = Math.min(value, 252);
  else if (width === 3) {
    out[0] = 253;
    out.writeUInt16LE(value & 0xffff, 1);
  } else if (width === 5) {
    out[0] = 254;
    out.writeUInt32LE(value, 1);
  } else {
    out[0] = 255;
    out.writeUInt32LE(value, 1);
    out.writeUInt32LE(random.chance(2) ? 0 : random.pick(EDGES), 5);
  }
  return out;
}

function splice(bytes: Buffer, at: number, remove: number, insert: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, at), insert, bytes.subarray(Math.min(bytes.length, at + remove))]);
}

function piece(random: Random, bytes: Buffer): Buffer {
  if (bytes.length === 0) return bytes;
  const at = random.below(bytes.length);
  return bytes.subarray(at, at + 1 + random.below(Math.min(64, bytes.length - at)));
}

function mutateOnce(random: Random, bytes: Buffer, other: Buffer): Buffer {
  // Half of the mutations change the first bytes, where counts and markers are.
  const room = bytes.length + 1;
  const at = random.below(random.chance(2) ? Math.min(room, 200) : room);
  switch (random.below(12)) {
    case 0:
      return bytes.subarray(0, at);
    case 1:
      return splice(bytes, at, 1 + random.below(8), Buffer.alloc(0));
    case 2:
      return splice(bytes, at, 0, random.bytes(1 + random.below(8)));
    case 3:
      return splice(bytes, at, random.pick([0, 1, 3, 5, 9]), lyingCompactSize(random));
    case 4:
      return splice(bytes, at, 1, Buffer.of(random.pick(BRANCH_BYTES)));
    case 5:
      return splice(bytes, at, 0, piece(random, bytes));
    case 6:
      return splice(bytes, at, random.below(64), piece(random, other));
    case 7: {
      const [a, b] = [piece(random, bytes), piece(random, bytes)];
      return splice(splice(bytes, at, a.length, b), random.below(room), b.length, a);
    }
    case 8: {
      const from = random.below(room);
      return splice(bytes, at, 0, bytes.subarray(from, from + random.below(400)));
    }
    case 9: {
      const flipped = Buffer.from(bytes);
      if (at < flipped.length) flipped[at]! ^= 1 << random.below(8);
      return flipped;
    }
    case 10:
      return splice(bytes, at, 4, Buffer.alloc(4, random.pick([0, 0xff])));
    default:
      return splice(bytes, at, 1, random.bytes(1));
  }
}

/** A copy of `bytes` with one to four mutations. Inserted parts come from `other`. */
export function mutateBytes(random: Random, bytes: Buffer, other: Buffer = bytes): Buffer {
  let out = bytes;
  for (let mutations = 1 + random.below(4); mutations > 0; mutations--) out = mutateOnce(random, out, other);
  return Buffer.from(out);
}

/** Random bytes: uniformly distributed, or only those that parsers handle separately. */
export function noise(random: Random, maxLength: number): Buffer {
  const out = random.bytes(random.below(maxLength + 1));
  if (random.chance(2)) {
    for (let i = 0; i < out.length; i++) if (!random.chance(4)) out[i] = random.pick(BRANCH_BYTES);
  }
  return out;
}
