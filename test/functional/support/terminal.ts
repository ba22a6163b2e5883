/** Programs in a pseudo-terminal (`script` of util-linux), and what one shows of their output. */
import { spawn, spawnSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

export interface TerminalProcess {
  /** All that came to the terminal so far, sequences included. */
  output(): string;
  /** Types something, as `\x03` for Ctrl-C. */
  type(text: string): void;
  /** Resolves when `holds`; rejects when the program ends before. */
  until(holds: () => boolean): Promise<void>;
  kill(): void;
  /** Resolves with the exit code. */
  readonly exited: Promise<number | null>;
}

/** What a terminal showed. */
export interface Shown {
  /** What is there in the end, row by row; the last one is where the cursor is. */
  readonly rows: readonly string[];
  /** What was in a row until it was cleared. */
  readonly renewed: readonly string[];
  /** Whether there were colours. */
  readonly isColored: boolean;
  /** Sequences that neither colour nor clear, and what was written over what was there. */
  readonly odd: readonly string[];
}

/** Whether there is a `script` that takes a command; a line says so where there is none. */
export function hasTerminals(): boolean {
  const found = spawnSync('script', ['--version'], { encoding: 'utf8' });
  if (found.error === undefined && found.stdout.includes('util-linux')) return true;
  console.log('skipped: there is no script(1) of util-linux');
  return false;
}

/** Runs a command on a terminal of its own. Of the environment there are only paths and what `env` says. */
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

/** Reads what came to a terminal, as one that is wide enough shows it. */
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
