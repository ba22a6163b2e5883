/** Growing little-endian writer (Bitcoin's serialization). `finish` returns a view of the written bytes. */
import type { Bytes } from './bytes.js';

export class Writer {
  private buffer: Buffer;
  private length = 0;

  constructor(capacityBytes = 256) {
    this.buffer = Buffer.allocUnsafe(capacityBytes);
  }

  get size(): number {
    return this.length;
  }

  private room(count: number): number {
    const at = this.length;
    const need = at + count;
    if (need > this.buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(need, this.buffer.length * 2));
      this.buffer.copy(grown, 0, 0, at);
      this.buffer = grown;
    }
    this.length = need;
    return at;
  }

  u8(value: number): this {
    const at = this.room(1);
    this.buffer[at] = value;
    return this;
  }
  u16(value: number): this {
    const at = this.room(2);
    this.buffer.writeUInt16LE(value, at);
    return this;
  }
  u32(value: number): this {
    const at = this.room(4);
    this.buffer.writeUInt32LE(value >>> 0, at);
    return this;
  }
  u32be(value: number): this {
    const at = this.room(4);
    this.buffer.writeUInt32BE(value >>> 0, at);
    return this;
  }
  i32(value: number): this {
    const at = this.room(4);
    this.buffer.writeInt32LE(value, at);
    return this;
  }
  u64(value: bigint): this {
    const at = this.room(8);
    this.buffer.writeBigUInt64LE(value, at);
    return this;
  }
  i64(value: bigint): this {
    const at = this.room(8);
    this.buffer.writeBigInt64LE(value, at);
    return this;
  }
  raw(bytes: Bytes): this {
    const at = this.room(bytes.length);
    this.buffer.set(bytes, at);
    return this;
  }
  compactSize(value: number): this {
    if (value < 253) return this.u8(value);
    if (value <= 0xffff) return this.u8(253).u16(value);
    if (value <= 0xffffffff) return this.u8(254).u32(value);
    return this.u8(255).u64(BigInt(value));
  }
  varBytes(bytes: Bytes): this {
    return this.compactSize(bytes.length).raw(bytes);
  }

  /** Writes Core's VARINT. `value` may be at most 2^53. */
  varInt(value: number): this {
    return this.varBigInt(BigInt(value));
  }

  varBigInt(value: bigint): this {
    const groups: number[] = [];
    let n = value;
    for (;;) {
      groups.push(Number(n & 0x7fn) | (groups.length ? 0x80 : 0));
      if (n <= 0x7fn) break;
      n = (n >> 7n) - 1n;
    }
    for (let i = groups.length - 1; i >= 0; i--) this.u8(groups[i]!);
    return this;
  }

  finish(): Buffer {
    return this.buffer.subarray(0, this.length);
  }
}
