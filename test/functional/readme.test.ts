/**
 * The walk through README.md as it is written: the node by its first command, the rest in one shell. What a command is to
 * print stands behind it as a comment. Home and ports are the test's own, by the file that the programs read there.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort, HANG_MS } from './support/node.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');

/** The fenced blocks of a section. */
function blocksOf(section: string): string[] {
  const text = readme.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? '';
  return [...text.matchAll(/^```\n([\s\S]*?)^```$/gm)].map((found) => found[1]!);
}

/** A command, and what it is to print where that is said. */
interface Step {
  readonly command: string;
  readonly prints: string | null;
}

function stepOf(line: string): Step {
  const [, command, prints] = /^(.*?)(?:\s+# (.*))?$/.exec(line)!;
  return { command: command!, prints: prints ?? null };
}

const [install, ...others] = blocksOf('Run it');
/** Blocks that begin with the short name which the first of them makes. */
const walk = others
  .filter((block) => /^(cli\b|\w+=\$\(cli )/.test(block))
  .flatMap((block) => block.trimEnd().split('\n'))
  .map(stepOf);

describe('README.md', () => {
  let home: string;
  let node: ChildProcess;
  let output = '';
  let exited: Promise<number | null>;
  const env = (): NodeJS.ProcessEnv => ({
    ...process.env,
    HOME: home,
    LBCNODE_NATIVE_BUILD: '0',
    npm_config_update_notifier: 'false',
  });

  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'readme-'));
    mkdirSync(join(home, '.lbcnode'));
    const conf = `[regtest]\nrpcport=${await freePort()}\nport=${await freePort()}\nlisten=0\n`;
    writeFileSync(join(home, '.lbcnode', 'lbcnode.conf'), conf);
    const start = install!.trim().replace(/^npm ci && /, '');
    node = spawn('bash', ['-c', `exec ${start}`], { cwd: root, env: env(), detached: true });
    exited = new Promise((resolve) => node.once('close', resolve));
    const collect = (chunk: Buffer): void => void (output += chunk.toString());
    node.stdout!.on('data', collect);
    node.stderr!.on('data', collect);
    const deadline = Date.now() + HANG_MS;
    while (!output.includes('Stop it: ')) {
      if (node.exitCode !== null || Date.now() > deadline)
        throw new Error(`the node did not start:\n${output}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  });

  afterAll(async () => {
    if (node.exitCode === null) process.kill(-node.pid!, 'SIGTERM');
    await exited;
    rmSync(home, { recursive: true });
  });

  it('says how to install and start in one command', () => {
    expect(install).toBe('npm ci && npm start -- --regtest\n');
  });

  it('leads from a wallet over a claim, a support, a takeover and an update to an abandon', async () => {
    for (const word of ['createwallet', 'claimname', 'supportclaim', 'updateclaim', 'abandonclaim'])
      expect(walk.filter(({ command }) => command.includes(word)).length, word).toBeGreaterThan(0);
    expect(walk.filter(({ prints }) => prints !== null).length).toBeGreaterThanOrEqual(4);
    const script = walk
      .map(({ command }, i) => `{ ${command}\n} > '${home}/${i}' 2>&1 || { echo ${i}; exit 1; }`)
      .join('\n');
    const shell = spawn('bash', ['-c', script], { cwd: root, env: env() });
    let failed = '';
    shell.stdout.on('data', (chunk: Buffer) => (failed += chunk.toString()));
    await new Promise((resolve) => shell.once('close', resolve));
    const printed = (i: number): string => readFileSync(join(home, `${i}`), 'utf8').trim();
    if (failed !== '') throw new Error(`${walk[Number(failed)]!.command}\n${printed(Number(failed))}`);
    walk.forEach(({ command, prints }, i) => {
      if (prints !== null) expect(printed(i), command).toBe(prints);
    });
    expect(await exited).toBe(0);
    expect(output).toContain('Shutdown: done');
  });
});
