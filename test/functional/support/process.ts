/** A node as a plain process, for starts that are interrupted or fail, and for authentication by cookie. */
import { spawn, spawnSync, type ChildProcess, type SpawnSyncReturns } from 'node:child_process';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { HANG_MS, program } from './node.js';

export interface NodeProcess {
  readonly child: ChildProcess;
  /** Its output so far on both streams. */
  output(): string;
  /** Resolves when the output contains the text. Rejects if the process ends before. */
  printed(text: string): Promise<void>;
  /** Resolves to the exit code, or to null if a signal ended it. */
  readonly exited: Promise<number | null>;
}

/** Starts a regtest node on a folder with only these options. */
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

/** Resolves when `holds` returns true. The time limit of the test ends the wait. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(10);
}

export const untilExists = (path: string): Promise<void> => until(() => existsSync(path));

/**
 * Runs a node without network and RPC that must end by itself, and waits for it. `env` is added to the environment. Throws if
 * the node must be killed.
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
