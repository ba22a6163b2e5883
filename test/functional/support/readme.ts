/** Runs the command blocks of documents: finds the blocks of a section and runs them in a shell. */
import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HANG_MS } from './node.js';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** The fenced blocks of a section of a document. */
export function blocksOf(section: string, document = 'README.md'): string[] {
  const text =
    readFileSync(join(ROOT, document), 'utf8')
      .split(/^## /m)
      .find((part) => part.startsWith(`${section}\n`)) ?? '';
  return [...text.matchAll(/^```\n([\s\S]*?)^```$/gm)].map((found) => found[1]!);
}

/** A command, and its expected output if the document has it. */
export interface Step {
  readonly command: string;
  readonly prints: string | null;
}

function stepOf(line: string): Step {
  const [, command, prints] = /^(.*?)(?:\s+# (.*))?$/.exec(line)!;
  return { command: command!, prints: prints ?? null };
}

/** The commands of blocks, one per line. */
export const stepsOf = (blocks: readonly string[]): Step[] =>
  blocks.flatMap((block) => block.trimEnd().split('\n')).map(stepOf);

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * Runs the steps in one shell. A step is repeated until it prints the expected output, because a block may take a moment to
 * reach the other program. Throws an error with the step that failed.
 */
export async function walk(steps: readonly Step[], home: string, env: NodeJS.ProcessEnv): Promise<void> {
  const script = steps.map(({ command, prints }, n) => {
    const file = quoted(join(home, `${n}`));
    if (prints === null) return `{ ${command}\n} > ${file} 2>&1 || { echo ${n}; exit 1; }`;
    return `until { ${command}\n} > ${file} 2>&1; [ "$(sed 's/^ *//' ${file})" = ${quoted(prints)} ]; do
      [ $SECONDS -lt ${HANG_MS / 1000} ] || { echo ${n}; exit 1; }; sleep 0.05; done`;
  });
  const shell = spawn('bash', ['-c', script.join('\n')], { cwd: ROOT, env });
  let failed = '';
  shell.stdout.on('data', (chunk: Buffer) => (failed += chunk.toString()));
  shell.stderr.on('data', (chunk: Buffer) => (failed += chunk.toString()));
  await new Promise((resolve) => shell.once('close', resolve));
  if (failed === '') return;
  const { command, prints } = steps[Number.parseInt(failed, 10)] ?? { command: failed, prints: null };
  const printed = readFileSync(join(home, `${Number.parseInt(failed, 10)}`), 'utf8');
  throw new Error(`${command}\n${printed}${prints === null ? '' : `instead of: ${prints}`}`);
}

/** A running program of the README, in a process group of its own. */
export class Started {
  readonly child: ChildProcess;
  readonly exited: Promise<number | null>;
  output = '';

  constructor(command: string, env: NodeJS.ProcessEnv) {
    this.child = spawn('bash', ['-c', `exec ${command}`], { cwd: ROOT, env, detached: true });
    this.exited = new Promise((resolve) => this.child.once('close', resolve));
    const collect = (chunk: Buffer): void => void (this.output += chunk.toString());
    this.child.stdout!.on('data', collect);
    this.child.stderr!.on('data', collect);
  }

  /** Waits until the program has printed the text. */
  async until(text: string): Promise<void> {
    const deadline = Date.now() + HANG_MS;
    while (!this.output.includes(text)) {
      if (this.child.exitCode !== null || Date.now() > deadline)
        throw new Error(`the program did not start:\n${this.output}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  async end(): Promise<void> {
    if (this.child.exitCode === null) process.kill(-this.child.pid!, 'SIGTERM');
    await this.exited;
  }
}
