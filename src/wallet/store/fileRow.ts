/** A row of a wallet file as it is read with all others. */
import type { RowIndex } from './rowIndex.js';

/** A row, valid until the next one is read. */
export class FileRow {
  /** A view of a reused buffer. Copy it to keep it. */
  readonly value: Buffer;
  private readonly index: RowIndex;
  private readonly at: number;

  constructor(index: RowIndex, at: number, value: Buffer) {
    this.index = index;
    this.at = at;
    this.value = value;
  }

  /** A view, too. */
  get key(): Buffer {
    return this.index.keyView(this.at);
  }

  /** The part of the key after this many bytes, latin1. */
  keyText(from: number): string {
    return this.index.keyAt(this.at, from);
  }
}
