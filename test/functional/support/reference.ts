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

export interface ReferenceNode {
  readonly p2pPort: number;
  rpc<T = unknown>(method: string, params?: readonly unknown[]): Promise<T>;
  stop(): Promise<void>;
}

const CREDENTIALS = Buffer.from('u:p').toString('base64');

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
  const child = spawn(binary, argsFor({ folder, p2pPort, rpcPort }), {
    stdio: 'ignore',
    // Nothing of the user's own configuration.
    env: { ...process.env, HOME: folder },
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const rpc = async <T>(method: string, params: readonly unknown[] = []): Promise<T> => {
    const answer = await fetch(`http://127.0.0.1:${rpcPort}/`, {
      method: 'POST',
      headers: { authorization: `Basic ${CREDENTIALS}` },
      body: JSON.stringify({ id: 1, method, params }),
    });
    const { result, error } = (await answer.json()) as { result: T; error: { message: string } | null };
    if (error) throw new Error(error.message);
    return result;
  };
  for (let attempt = 0; ; attempt++) {
    try {
      await rpc('getblockcount');
      break;
    } catch (error) {
      if (attempt > 200) throw error;
      await sleep(100);
    }
  }
  return {
    p2pPort,
    rpc,
    async stop() {
      child.kill('SIGTERM');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
