/**
 * The console output: log lines and, on a terminal, a status line below them that is updated in place. On a pipe or in a
 * supervisor's journal only plain log lines are written.
 */
import { inspect } from 'node:util';
import { cutTo, printable, ROW_INDENT, USUAL_COLUMNS, wrapTo } from './textWidth.js';

/** Members of `process.stdout` that the console uses. */
export interface ConsoleStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** Whether the terminal supports colours, according to NO_COLOR, TERM and similar variables. */
  hasColors?(): boolean;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

/** `-color`. */
export type ColorChoice = 'auto' | 'always' | 'never';

/** Function that creates the status line for a terminal of the given width in columns. */
export type StatusLine = (columns: number) => string;

const CLEAR_LINE = '\r\x1b[K';
/**
 * Number of columns left free after the status line: two for an echoed `^C`, and the last column, where some terminals
 * already wrap.
 */
const ROOM_COLUMNS = 3;
/** Matches the timestamp at the start of a log line, and the word `Warning` or `Error` after it. */
const LINE = /^(?<stamp>\d{4}-\d\d-\d\dT[\d:.]+Z )?(?<kind>Warning|Error)?/i;

export class Console {
  /** Whether a status line can be shown, i.e. whether the stream is a terminal that can move the cursor. */
  readonly isLive: boolean;
  private readonly stream: ConsoleStream;
  private readonly paints: boolean;
  private status: StatusLine | null = null;
  private shown = '';

  constructor(stream: ConsoleStream, color: ColorChoice, env: NodeJS.ProcessEnv = process.env) {
    this.stream = stream;
    this.isLive = stream.isTTY === true && env['TERM'] !== 'dumb';
    this.paints = color === 'always' || (color === 'auto' && stream.isTTY === true && hasColors(stream));
    if (this.isLive) stream.on('resize', this.redraw);
  }

  /** Writes a log line. The text must include its line break. */
  line(line: string): void {
    if (!this.isLive) {
      this.stream.write(this.paints ? this.paint(line.trimEnd()) + '\n' : line);
      return;
    }
    const rows = wrapTo(line.trimEnd(), this.columns, ROW_INDENT);
    const text = this.paints ? this.paint(...rows) : rows.join('\n');
    this.stream.write(`${this.shown === '' ? '' : CLEAR_LINE}${text}\n${this.shown}`);
  }

  /** Sets the status line; null removes it. Has no effect if no status line can be shown. */
  setStatus(status: StatusLine | null): void {
    if (!this.isLive) return;
    this.status = status;
    this.redraw();
  }

  /** Removes the status line and echoed input such as `^C`. */
  clear(): void {
    this.setStatus(null);
    if (this.isLive) this.stream.write(CLEAR_LINE);
  }

  /** Removes the status line at the end of the program. */
  close(): void {
    this.setStatus(null);
    this.stream.off('resize', this.redraw);
  }

  private get columns(): number {
    return this.stream.columns || USUAL_COLUMNS;
  }

  private readonly redraw = (): void => {
    const columns = this.columns - ROOM_COLUMNS;
    const text = this.status === null ? '' : cutTo(printable(this.status(columns)), columns);
    const next = this.paints && text !== '' ? painted('cyan', text) : text;
    if (next === this.shown) return;
    this.stream.write(CLEAR_LINE + next);
    this.shown = next;
  };

  private paint(...rows: readonly string[]): string {
    const { stamp = '', kind } = LINE.exec(rows[0]!)?.groups ?? {};
    const color = kind === undefined ? null : kind.toLowerCase() === 'error' ? 'red' : 'yellow';
    const texts = [rows[0]!.slice(stamp.length), ...rows.slice(1)];
    return (
      (stamp === '' ? '' : painted('grey', stamp)) +
      texts.map((text) => (color === null ? text : painted(color, text))).join('\n')
    );
  }
}

function hasColors(stream: ConsoleStream): boolean {
  return stream.hasColors?.() ?? false;
}

function painted(color: 'red' | 'yellow' | 'cyan' | 'grey', text: string): string {
  const [on, off] = inspect.colors[color]!;
  return `\x1b[${on}m${text}\x1b[${off}m`;
}
