/**
 * Standard input as lines, read no further than they are asked for: a terminal or an open pipe makes no one wait for its
 * end. Source: `std::getline`.
 */

export class InputLines {
  private readonly pieces: AsyncIterator<string>;
  private text = '';
  private ended = false;

  constructor(input: AsyncIterable<string>) {
    this.pieces = input[Symbol.asyncIterator]();
  }

  /** The next line without its end, undefined when there is none. A last line break ends the last line and begins none. */
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

  /** Lets go of the input, so that the process may end while it is open. */
  async close(): Promise<void> {
    await this.pieces.return?.();
  }
}
