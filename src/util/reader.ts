/**
 * Sequential little-endian reader over a byte array (Bitcoin's serialization).
 * A read past the end throws `ReadError`.
 */
import { asBuffer, type Bytes } from './bytes.js';

/** Thrown if bytes cannot be parsed. The message names the value that was being read. */
export class ReadError extends Error {
  override readonly name = 'ReadError';
}

/** Maximum value of a CompactSize. Source: Core's MAX_SIZE. */
const MAX_COMPACT_SIZE = 0x02000000;

const NO_BYTES = Buffer.alloc(0);

export class Reader {
  readonly bytes: Buffer;
  offset: number;
  readonly end: number;

  constructor(bytes: Bytes, offset = 0, end = bytes.length) {
    this.bytes = asBuffer(bytes);
    this.offset = offset;
    this.end = end;
  }

  get remaining(): number {
    return this.end - this.offset;
  }

  private take(count: number): number {
    const at = this.offset;
    if (count > this.end - at)
      throw new ReadError(`end of data: ${count} bytes wanted at ${at}, ${this.end - at} left`);
    this.offset = at + count;
    return at;
  }

  u8(): number {
    return this.bytes[this.take(1)]!;
  }
  u16(): number {
    return this.bytes.readUInt16LE(this.take(2));
  }
  u32(): number {
    return this.bytes.readUInt32LE(this.take(4));
  }
  u32be(): number {
    return this.bytes.readUInt32BE(this.take(4));
  }
  i32(): number {
    return this.bytes.readInt32LE(this.take(4));
  }
  u64(): bigint {
    return this.bytes.readBigUInt64LE(this.take(8));
  }
  i64(): bigint {
    return this.bytes.readBigInt64LE(this.take(8));
  }

  /** Reads bytes as a view of the underlying buffer, which must not change. */
  view(count: number): Buffer {
    const at = this.take(count);
    return this.bytes.subarray(at, at + count);
  }

  /** Reads a 32-byte hash in wire order, as a view. */
  hash(): Buffer {
    return this.view(32);
  }

  skip(count: number): void {
    this.take(count);
  }

  /**
   * Reads a CompactSize. Throws for a non-canonical form and, unless `unlimited` is set, for a value over 32 MiB. Source:
   * `ReadCompactSize`.
   */
  compactSize(unlimited = false): number {
    const first = this.u8();
    let value: number;
    if (first < 253) return first;
    if (first === 253) {
      value = this.u16();
      if (value < 253) throw new ReadError('non-canonical ReadCompactSize()');
    } else if (first === 254) {
      value = this.u32();
      if (value < 0x10000) throw new ReadError('non-canonical ReadCompactSize()');
    } else {
      const wide = this.u64();
      if (wide < 0x100000000n) throw new ReadError('non-canonical ReadCompactSize()');
      if (wide > BigInt(Number.MAX_SAFE_INTEGER)) throw new ReadError('ReadCompactSize(): size too large');
      value = Number(wide);
    }
    if (!unlimited && value > MAX_COMPACT_SIZE) throw new ReadError('ReadCompactSize(): size too large');
    return value;
  }

  /**
   * Reads a CompactSize and this number of bytes, as a view. All empty results are the same object, because a block's
   * witness can contain millions of them.
   */
  varBytes(): Buffer {
    const length = this.compactSize();
    return length === 0 ? NO_BYTES : this.view(length);
  }

  /** Reads Core's VARINT (base 128, most significant group first, offset by one per group). Values up to 2^53. */
  varInt(): number {
    let n = 0;
    for (;;) {
      const byte = this.u8();
      if (n > (Number.MAX_SAFE_INTEGER - 127) / 128) throw new ReadError('ReadVarInt(): size too large');
      n = n * 128 + (byte & 0x7f);
      if ((byte & 0x80) === 0) return n;
      n += 1;
    }
  }

  /** Reads Core's VARINT for 64-bit amounts. */
  varBigInt(): bigint {
    let n = 0n;
    for (;;) {
      const byte = this.u8();
      if (n > 0xffffffffffffffffn >> 7n) throw new ReadError('ReadVarInt(): size too large');
      n = (n << 7n) | BigInt(byte & 0x7f);
      if ((byte & 0x80) === 0) return n;
      if (n === 0xffffffffffffffffn) throw new ReadError('ReadVarInt(): size too large');
      n += 1n;
    }
  }
}
