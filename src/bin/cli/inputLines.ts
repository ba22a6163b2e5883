/**
 * Standard input as lines, read only as far as requested. With a terminal or an open pipe the program does not wait for the
 * end of the input. Source: `std::getline`.
 */

export class InputLines {
  private readonly pieces: AsyncIterator<string>;
  private text = '';
  private ended = false;

  constructor(input: AsyncIterable<string>) {
    this.pieces = input[Symbol.asyncIterator]();
  }

  /**
   * The next line without its line break, undefined at the end. A line break at the end of the input does not start another
   * line.
   */
  async next(): Promise<string | undefined> {
    let searched = 0;
    for (;;) {
      const end = this.text.indexOf('\n', searched);
      if (end >= 0) return this.take(end, 1);
      if (this.ended) return this.text === '' ? undefined : this.take(this.text.length, 0);
      searched = this.text.length;
      const piece = await this.pieces.next();
      if (piece.done === true) this.ended = true;
      else this.text += piece.value;
    }
  }

  private take(length: number, breakLength: number): string {
    const line = this.text.slice(0, length);
    this.text = this.text.slice(length + breakLength);
    return line;
  }

  /** Stops reading, so that the process can exit while the input is still open. */
  async close(): Promise<void> {
    await this.pieces.return?.();
  }
}
