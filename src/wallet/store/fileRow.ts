/** A row of a wallet file during an iteration over all rows. */
import type { RowIndex } from './rowIndex.js';

/** A row that is valid until the next row is read. */
export class FileRow {
  /** The value as a view of a reused buffer. The caller must copy it to keep it. */
  readonly value: Buffer;
  private readonly index: RowIndex;
  private readonly at: number;

  constructor(index: RowIndex, at: number, value: Buffer) {
    this.index = index;
    this.at = at;
    this.value = value;
  }

  /** The key as a view, which the caller must copy to keep it. */
  get key(): Buffer {
    return this.index.keyView(this.at);
  }

  /** The key without its first `from` bytes, as latin1. */
  keyText(from: number): string {
    return this.index.keyAt(this.at, from);
  }
}
