/** Runs programs in a pseudo-terminal (`script` of util-linux) and computes the displayed text from their output. */
import { spawn, spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

export interface TerminalProcess {
  /** The output so far, with escape sequences. */
  output(): string;
  /** Sends input, such as `\x03` for Ctrl-C. */
  type(text: string): void;
  /** Resolves when `holds` returns true. Rejects if the program ends before. */
  until(holds: () => boolean): Promise<void>;
  kill(): void;
  /** Resolves with the exit code. */
  readonly exited: Promise<number | null>;
}

/** The displayed text of a terminal. */
export interface Shown {
  /** The final rows; the last one is the row of the cursor. */
  readonly rows: readonly string[];
  /** Texts of rows that were cleared later. */
  readonly renewed: readonly string[];
  /** Whether there were colors. */
  readonly isColored: boolean;
  /** Unexpected output: sequences that neither set a color nor clear, and text that overwrites other text. */
  readonly odd: readonly string[];
}

/** Whether there is a program `script` that accepts a command. Prints a line if there is none. */
export function hasTerminals(): boolean {
  const found = spawnSync('script', ['--version'], { encoding: 'utf8' });
  if (found.error === undefined && found.stdout.includes('util-linux')) return true;
  console.log('skipped: there is no script(1) of util-linux');
  return false;
}

/** Runs a command in a terminal of its own. Its environment contains only paths and `env`. */
export function startInTerminal(
  words: readonly string[],
  columns: number,
  env: Record<string, string> = {},
): TerminalProcess {
  const command = `stty cols ${columns} rows 24 && exec ${words.map((word) => `'${word}'`).join(' ')}`;
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH, HOME, SHELL: '/bin/sh', TERM: 'xterm', ...env },
  });
  let output = '';
  let hasEnded = false;
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  void exited.then(() => (hasEnded = true));
  return {
    output: () => output,
    type: (text) => void child.stdin.write(text),
    async until(holds) {
      while (!holds()) {
        if (hasEnded) throw new Error(`the program ended before that:\n${output}`);
        await sleep(5);
      }
    },
    kill: () => void child.kill('SIGKILL'),
    exited,
  };
}

/** Computes what a sufficiently wide terminal shows of the output. */
export function shownOn(output: string): Shown {
  const rows = [''];
  const renewed: string[] = [];
  const odd: string[] = [];
  let isColored = false;
  let isAtStart = true;
  for (const [part] of output.matchAll(/\x1b\[[\d;?]*[A-Za-z]|\x1b.|\r\n|[\r\n]|[^\x1b\r\n]+/g)) {
    const row = rows.at(-1)!;
    if (part === '\r\n') rows.push('');
    else if (part === '\x1b[K' && isAtStart) {
      if (row !== '') renewed.push(row);
      rows[rows.length - 1] = '';
    } else if (/^\x1b\[\d+m$/.test(part)) isColored = true;
    else if (part !== '\r') {
      if (part.startsWith('\x1b') || part === '\n' || (isAtStart && row !== '')) odd.push(part);
      rows[rows.length - 1] += part;
    }
    isAtStart = part === '\r' || part === '\r\n' || (isAtStart && part.startsWith('\x1b'));
  }
  return { rows, renewed, isColored, odd };
}
