/** A reference node on regtest and the loopback interface, if an environment variable (`LBRYCRDD`, `LBCD`) names its binary. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './node.js';

/** Path of a reference's binary. If the variable is not set, prints a line and returns undefined. */
export function referenceBinary(variable: 'LBRYCRDD' | 'LBCD' = 'LBRYCRDD'): string | undefined {
  const binary = process.env[variable];
  if (!binary) console.log(`skipped: ${variable} names no reference binary`);
  return binary;
}

/** An answer of JSON-RPC without conversions. */
export interface Envelope {
  readonly result: unknown;
  readonly error: { readonly code: number; readonly message: string } | null;
}

/** A call to a reference failed because its process ended by itself. */
export class ReferenceEnded extends Error {}

/** Maximum time between a failed call and the end of the process. */
const ENDING_MS = 10_000;

export type Call = (method: string, params: readonly unknown[]) => Promise<Envelope>;

export interface ReferenceNode {
  readonly p2pPort: number;
  readonly rpcPort: number;
  /** Its data folder. */
  readonly folder: string;
  readonly call: Call;
  /** Calls a method at another path, such as that of a wallet. */
  at(path: string): Call;
  rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>;
  stop(): Promise<void>;
}

const CREDENTIALS = 'u:p';

/** Calls methods at one address. Errors are returned as answers. */
export function envelopeFrom(url: string, credentials: string): Call {
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`;
  return async (method, params) => {
    const body = JSON.stringify({ jsonrpc: '1.0', id: 1, method, params });
    const answer = await fetch(url, { method: 'POST', headers: { authorization }, body });
    return (await answer.json()) as Envelope;
  };
}

/** Starts lbrycrd. */
export function startReference(binary: string, args: readonly string[] = []): Promise<ReferenceNode> {
  return start(binary, ({ folder, p2pPort, rpcPort }) => [
    '-regtest',
    '-server',
    `-datadir=${folder}`,
    `-bind=127.0.0.1:${p2pPort}`,
    `-rpcport=${rpcPort}`,
    '-rpcuser=u',
    '-rpcpassword=p',
    '-disablewallet',
    '-checkblockindex=0',
    '-dnsseed=0',
    '-listenonion=0',
    ...args,
  ]);
}

/** Starts lbcd. */
export function startLbcd(binary: string, args: readonly string[] = []): Promise<ReferenceNode> {
  return start(binary, ({ folder, p2pPort, rpcPort }) => [
    '--regtest',
    `--datadir=${folder}`,
    `--logdir=${folder}`,
    `--listen=127.0.0.1:${p2pPort}`,
    `--rpclisten=127.0.0.1:${rpcPort}`,
    '--rpcuser=u',
    '--rpcpass=p',
    '--notls',
    '--nodnsseed',
    ...args,
  ]);
}

interface Places {
  folder: string;
  p2pPort: number;
  rpcPort: number;
}

async function start(binary: string, argsFor: (places: Places) => string[]): Promise<ReferenceNode> {
  const folder = mkdtempSync(join(tmpdir(), 'reference-'));
  const [p2pPort, rpcPort] = [await freePort(), await freePort()];
  const running = await runReference(binary, argsFor({ folder, p2pPort, rpcPort }), folder, rpcPort);
  return {
    p2pPort,
    rpcPort,
    call: running.call,
    at: (path) => envelopeFrom(`http://127.0.0.1:${rpcPort}${path}`, CREDENTIALS),
    rpc: (method, params = []) => running.rpc(method, ...params),
    folder,
    async stop() {
      await running.end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export interface RunningReference {
  /** Returns the result or the error. */
  readonly call: Call;
  rpc<T = unknown>(method: string, ...params: readonly unknown[]): Promise<T>;
  /** Ends it by the signal; without a signal, by its own method. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

/**
 * Starts a reference's binary. Resolves when it answers `ready`. `home` replaces the user's home, so that the user's
 * configuration is not read.
 */
export async function runReference(
  binary: string,
  args: readonly string[],
  home: string,
  rpcPort: number,
  ready = 'getblockcount',
): Promise<RunningReference> {
  const child = spawn(binary, args, { stdio: 'ignore', env: { ...process.env, HOME: home } });
  const exited = new Promise<string>((resolve) =>
    child.once('exit', (code, signal) => resolve(signal ?? `code ${code}`)),
  );
  const send = envelopeFrom(`http://127.0.0.1:${rpcPort}/`, CREDENTIALS);
  const call: Call = async (method, params) => {
    try {
      return await send(method, params);
    } catch (error) {
      const how = isStarted ? await endWithin(exited, ENDING_MS) : null;
      throw how === null ? error : new ReferenceEnded(`the reference ended with ${how} in ${method}`);
    }
  };
  let isStarted = false;
  const rpc = async <T>(method: string, ...params: readonly unknown[]): Promise<T> => {
    const { result, error } = await call(method, params);
    if (error) throw new Error(error.message);
    return result as T;
  };
  for (let attempt = 0; ; attempt++) {
    try {
      await rpc(ready);
      isStarted = true;
      break;
    } catch (error) {
      if (attempt > 300) throw error;
      await sleep(100);
    }
  }
  return {
    call,
    rpc,
    async end(signal = 'SIGTERM') {
      child.kill(signal);
      await exited;
    },
  };
}

/** Exit code or signal of the process; null if it did not end within this time. */
async function endWithin(exited: Promise<string>, ms: number): Promise<string | null> {
  const timeout = new AbortController();
  const late = sleep(ms, null, { signal: timeout.signal }).catch(() => null);
  const how = await Promise.race([exited, late]);
  timeout.abort();
  return how;
}
