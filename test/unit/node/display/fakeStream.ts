/** A stream, optionally a terminal, that stores the written text. */
import type { ConsoleStream } from '../../../../src/node/display/console.js';

export class FakeStream implements ConsoleStream {
  written = '';
  isTTY: boolean;
  columns: number;
  readonly colors: boolean;
  private readonly listeners = new Set<() => void>();

  constructor({ isTTY = true, columns = 40, colors = false } = {}) {
    this.isTTY = isTTY;
    this.columns = columns;
    this.colors = colors;
  }

  write(text: string): void {
    this.written += text;
  }

  hasColors(): boolean {
    return this.colors;
  }

  on(_event: 'resize', listener: () => void): void {
    this.listeners.add(listener);
  }

  off(_event: 'resize', listener: () => void): void {
    this.listeners.delete(listener);
  }

  resize(columns: number): void {
    this.columns = columns;
    for (const listener of this.listeners) listener();
  }

  get isFollowed(): boolean {
    return this.listeners.size > 0;
  }

  /** The rows that a terminal of this width shows for the written text, without colors. */
  screen(): string[] {
    const rows = [''];
    for (const [part] of this.written.matchAll(/\x1b\[K|\x1b\[\d+m|\r|\n|[^\x1b\r\n]+/g)) {
      if (part === '\n') rows.push('');
      else if (part === '\r' || part === '\x1b[K') rows[rows.length - 1] = part === '\r' ? rows.at(-1)! : '';
      else if (!part.startsWith('\x1b')) rows[rows.length - 1] += part;
    }
    return rows;
  }
}
