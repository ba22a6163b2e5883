/** A row of a wallet file as it is read with all others. */
import type { RowIndex } from './rowIndex.js';

/** Good until the next one. */
export class FileRow {
  /** A view of memory that is used again: what is to stay is copied. */
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

  /** What follows this many bytes of it, a byte a character. */
  keyText(from: number): string {
    return this.index.keyAt(this.at, from);
  }
}
