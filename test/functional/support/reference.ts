/** A reference node beside ours, when its binary is named by an environment variable (`LBRYCRDD`, `LBCD`). Regtest, loopback. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './node.js';

/** Path of a reference's binary; undefined (and a line that says so) when none is named. */
export function referenceBinary(variable: 'LBRYCRDD' | 'LBCD' = 'LBRYCRDD'): string | undefined {
  const binary = process.env[variable];
  if (!binary) console.log(`skipped: ${variable} names no reference binary`);
  return binary;
}

/** An answer of JSON-RPC as it came. */
export interface Envelope {
  readonly result: unknown;
  readonly error: { readonly code: number; readonly message: string } | null;
}

/** A call to a reference failed because its process had ended, and this program had not ended it. */
export class ReferenceEnded extends Error {}

/** Maximum time between a failed call to a process that ends and its end. */
const ENDING_MS = 10_000;

export type Call = (method: string, params: readonly unknown[]) => Promise<Envelope>;

export interface ReferenceNode {
  readonly p2pPort: number;
  readonly rpcPort: number;
  /** The folder of its data. */
  readonly folder: string;
  readonly call: Call;
  /** Calls at another path, as that of a wallet. */
  at(path: string): Call;
  rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>;
  stop(): Promise<void>;
}

const CREDENTIALS = 'u:p';

/** Calls at one address, whose errors are answers too. */
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
  /** Answers result or error. */
  readonly call: Call;
  rpc<T = unknown>(method: string, ...params: readonly unknown[]): Promise<T>;
  /** Ends it; without a signal as its operator would. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts a reference's binary; resolves when it answers `ready`. `home` keeps the user's own configuration away. */
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

/** How the process ended; null if it did not end in this time. */
async function endWithin(exited: Promise<string>, ms: number): Promise<string | null> {
  const timeout = new AbortController();
  const late = sleep(ms, null, { signal: timeout.signal }).catch(() => null);
  const how = await Promise.race([exited, late]);
  timeout.abort();
  return how;
}
