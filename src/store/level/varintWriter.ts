/** Writes numbers of seven bits a byte, and bytes behind their length. Source: LevelDB util/coding. */
export class VarintWriter {
  private memory = Buffer.allocUnsafe(1 << 10);
  private used = 0;

  get sizeBytes(): number {
    return this.used;
  }

  private makeRoom(bytes: number): void {
    const needed = this.used + bytes;
    if (needed <= this.memory.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, 2 * this.memory.length));
    this.memory.copy(grown, 0, 0, this.used);
    this.memory = grown;
  }

  byte(value: number): this {
    this.makeRoom(1);
    this.memory[this.used++] = value;
    return this;
  }

  varint(value: number): this {
    let left = value;
    for (; left >= 128; left = Math.floor(left / 128)) this.byte((left % 128) + 128);
    return this.byte(left);
  }

  u32(value: number): this {
    this.makeRoom(4);
    this.used = this.memory.writeUInt32LE(value, this.used);
    return this;
  }

  u64(value: number): this {
    return this.u32(value % 2 ** 32).u32(Math.floor(value / 2 ** 32));
  }

  raw(bytes: Buffer): this {
    this.makeRoom(bytes.length);
    this.used += bytes.copy(this.memory, this.used);
    return this;
  }

  bytes(bytes: Buffer): this {
    return this.varint(bytes.length).raw(bytes);
  }

  /** What was written since the last call; a view that is good until something is written. */
  take(): Buffer {
    const written = this.memory.subarray(0, this.used);
    this.used = 0;
    return written;
  }
}
