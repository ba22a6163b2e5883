/**
 * The console: log lines and, on a terminal, a status line below them that is updated in place. New log lines appear above
 * it. On a pipe or in a supervisor's journal only plain lines are written.
 */
import { inspect } from 'node:util';
import { cutTo, printable, ROW_INDENT, USUAL_COLUMNS, wrapTo } from './textWidth.js';

/** The used part of `process.stdout`. */
export interface ConsoleStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** Whether colours are supported, according to NO_COLOR, TERM and similar variables. */
  hasColors?(): boolean;
  on(event: 'resize', listener: () => void): unknown;
  off(event: 'resize', listener: () => void): unknown;
}

/** `-color`. */
export type ColorChoice = 'auto' | 'always' | 'never';

/** Creates the status line for a width in columns. */
export type StatusLine = (columns: number) => string;

const CLEAR_LINE = '\r\x1b[K';
/**
 * Columns left free behind the status line: for the `^C` of a user, and the last column, where some terminals already wrap.
 */
const ROOM_COLUMNS = 3;
/** Matches a timestamp at the start of a line, and the mark of a warning or an error. */
const LINE = /^(?<stamp>\d{4}-\d\d-\d\dT[\d:.]+Z )?(?<kind>Warning|Error)?/i;

export class Console {
  /** Whether a status line is possible. */
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

  /** Writes a line, which includes its line break. */
  line(line: string): void {
    if (!this.isLive) {
      this.stream.write(this.paints ? this.paint(line.trimEnd()) + '\n' : line);
      return;
    }
    const rows = wrapTo(line.trimEnd(), this.columns, ROW_INDENT);
    const text = this.paints ? this.paint(...rows) : rows.join('\n');
    this.stream.write(`${this.shown === '' ? '' : CLEAR_LINE}${text}\n${this.shown}`);
  }

  /** Replaces or removes the status line; has no effect if no status line is possible. */
  setStatus(status: StatusLine | null): void {
    if (!this.isLive) return;
    this.status = status;
    this.redraw();
  }

  /** Removes the status line, and echoed input such as `^C`. */
  clear(): void {
    this.setStatus(null);
    if (this.isLive) this.stream.write(CLEAR_LINE);
  }

  /** Removes the status line. */
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
