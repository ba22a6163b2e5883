/** A node as a bare process, for starts that are interrupted, fail, or are asked with the cookie. */
import { spawn, spawnSync, type ChildProcess, type SpawnSyncReturns } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { HANG_MS, program } from './node.js';

export interface NodeProcess {
  readonly child: ChildProcess;
  /** What it printed so far, on both streams. */
  output(): string;
  /** Resolves when it has printed the text; rejects when it ends before. */
  printed(text: string): Promise<void>;
  /** Resolves with the exit code, or null when a signal ended it. */
  readonly exited: Promise<number | null>;
}

/** Starts a regtest node on a folder with these options and nothing else. */
export function startProcess(dataDir: string, args: readonly string[]): NodeProcess {
  const child = spawn(
    process.execPath,
    [program('lbcnode'), '-regtest', `-datadir=${dataDir}`, '-listen=0', '-printtoconsole', ...args],
    // Folders of other programs in the user's home would add lines to the log.
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: dataDir } },
  );
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  let ended = false;
  const exited = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  void exited.then(() => (ended = true));
  return {
    child,
    output: () => output,
    exited,
    async printed(text) {
      while (!output.includes(text)) {
        if (ended) throw new Error(`the node ended without saying "${text}":\n${output}`);
        await sleep(5);
      }
    },
  };
}

/** Resolves when `holds` does; the test's own time limit ends the wait. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(10);
}

export const untilExists = (path: string): Promise<void> => until(() => existsSync(path));

/**
 * Runs a node without a network and without RPC that must end by itself, and waits for it. The environment gets `env` in
 * addition. Throws when the node has to be ended.
 */
export function runToEnd(
  dataDir: string,
  args: readonly string[],
  env: Record<string, string> = {},
): SpawnSyncReturns<string> {
  const result = spawnSync(
    process.execPath,
    [program('lbcnode'), '-regtest', `-datadir=${dataDir}`, '-listen=0', '-server=0', ...args],
    { encoding: 'utf8', timeout: HANG_MS, env: { ...process.env, ...env } },
  );
  if (result.error)
    throw new Error(`the node did not end by itself:\n${result.stdout}`, { cause: result.error });
  return result;
}
