/** A row of a wallet file, as an iteration over all rows returns it. */
import type { RowIndex } from './rowIndex.js';

/** A row that is valid until the next row is read. */
export class WalletFileRow {
  /** The value of the row as a view of a reused buffer. The caller must copy the value to keep it. */
  readonly value: Buffer;
  private readonly index: RowIndex;
  private readonly at: number;

  constructor(index: RowIndex, at: number, value: Buffer) {
    this.index = index;
    this.at = at;
    this.value = value;
  }

  /** The key of the row as a view. The caller must copy the key to keep it. */
  get key(): Buffer {
    return this.index.keyView(this.at);
  }

  /** The key of the row without its first `from` bytes, as latin1. */
  keyText(from: number): string {
    return this.index.keyAt(this.at, from);
  }
}
