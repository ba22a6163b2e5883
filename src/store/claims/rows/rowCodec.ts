/**
 * Compact binary codec of the claim rows: numbers and amounts in little-endian base 128, strings in latin1. Reading past the
 * end throws `ReadError`. Such an error means that the database is corrupt, never that a block is invalid.
 */
import { asBuffer, type Bytes } from '../../../util/bytes.js';
import { ReadError } from '../../../util/reader.js';

const SAFE = BigInt(Number.MAX_SAFE_INTEGER);

export class RowEncoder {
  private buffer = Buffer.allocUnsafe(256);
  private at = 0;

  get size(): number {
    return this.at;
  }

  private room(count: number): void {
    if (this.at + count <= this.buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.at + count, this.buffer.length * 2));
    this.buffer.copy(grown, 0, 0, this.at);
    this.buffer = grown;
  }

  byte(value: number): this {
    this.room(1);
    this.buffer[this.at++] = value;
    return this;
  }

  /** Writes an integer from 0 to 2^53 - 1. */
  number(value: number): this {
    this.room(8);
    let rest = value;
    while (rest >= 0x80) {
      this.buffer[this.at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.buffer[this.at++] = rest;
    return this;
  }

  amount(value: bigint): this {
    if (value <= SAFE) return this.number(Number(value));
    this.room(10);
    let rest = value;
    while (rest >= 0x80n) {
      this.buffer[this.at++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    this.buffer[this.at++] = Number(rest);
    return this;
  }

  /** Writes a string without its length, which the reader must know. */
  raw(text: string): this {
    this.room(text.length);
    this.at += this.buffer.write(text, this.at, 'latin1');
    return this;
  }

  string(text: string): this {
    return this.number(text.length).raw(text);
  }

  bytes(bytes: Bytes): this {
    this.room(bytes.length);
    this.buffer.set(bytes, this.at);
    this.at += bytes.length;
    return this;
  }

  /** Returns a copy of the written bytes. The encoder can then be used for the next row. */
  finish(): Buffer {
    const row = Buffer.allocUnsafe(this.at);
    this.buffer.copy(row, 0, 0, this.at);
    this.at = 0;
    return row;
  }
}

export class RowDecoder {
  private readonly buffer: Buffer;
  private at = 0;

  constructor(row: Bytes) {
    this.buffer = asBuffer(row);
  }

  get position(): number {
    return this.at;
  }

  get done(): boolean {
    return this.at >= this.buffer.length;
  }

  private take(count: number): number {
    const { at } = this;
    if (at + count > this.buffer.length) throw new ReadError('a row of the claim trie is cut short');
    this.at = at + count;
    return at;
  }

  byte(): number {
    return this.buffer[this.take(1)]!;
  }

  number(): number {
    let byte = this.byte();
    if (byte < 0x80) return byte;
    let value = byte & 0x7f;
    for (let scale = 0x80; ; scale *= 0x80) {
      byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      if (scale > Number.MAX_SAFE_INTEGER) throw new ReadError('a number in the claim trie is too long');
    }
  }

  amount(): bigint {
    const start = this.at;
    let scale = 1;
    let value = 0;
    for (let i = 0; i < 7; i++) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return BigInt(value);
      scale *= 0x80;
    }
    this.at = start;
    let wide = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = this.byte();
      wide |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return wide;
      if (shift > 63n) throw new ReadError('an amount in the claim trie is too long');
    }
  }

  raw(length: number): string {
    const at = this.take(length);
    return this.buffer.toString('latin1', at, at + length);
  }

  string(): string {
    return this.raw(this.number());
  }

  /** Reads bytes. The result is a view of the row. */
  bytes(length: number): Buffer {
    const at = this.take(length);
    return this.buffer.subarray(at, at + length);
  }
}
