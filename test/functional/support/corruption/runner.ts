/**
 * A node on a folder that may be corrupt. It is started, queried and stopped as by an operator, and its standard error is
 * recorded.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { freePort, program } from '../node.js';

/** Options of the fixture beside those of every node here. */
export const INDEX_ARGS = ['-claimsearch', '-blockfilterindex'];

/** Options with which the chain of the fixture was made. Every start on a copy uses the same. */
export const SCENE_ARGS = ['-txindex', '-addressindex', '-maxblockfilesize=65536', '-dbcache=4'];

/** Time after which a start or a stop counts as hanging. */
const HANG_MS = 240_000;
const USER = 'corrupted';

/** Command before the program. Modes do not restrict root, unless the process drops its capabilities. */
const WITHOUT_OVERRIDE: readonly string[] =
  process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-dac_override,-dac_read_search'] : [];
/** Whether the mode of a file can deny access to the nodes here. */
export const DENIES = ((): boolean => {
  if (process.platform === 'win32') return false;
  const [program, ...args] = WITHOUT_OVERRIDE;
  return program === undefined || spawnSync(program, [...args, 'true']).status === 0;
})();

export interface Ending {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface RpcAnswer {
  result: unknown;
  error: { code: number; message: string } | null;
}

/** The node ended before it answered. */
export class NodeEnded extends Error {
  override readonly name = 'NodeEnded';
}

export class CorruptedNode {
  readonly dataDir: string;
  readonly ended: Promise<Ending>;
  private readonly child: ChildProcess;
  private readonly port: number;
  private output = '';
  private errors = '';
  private hasEnded = false;

  private constructor(dataDir: string, port: number, args: readonly string[], env: Record<string, string>) {
    this.dataDir = dataDir;
    this.port = port;
    const [command, ...before] = [...(DENIES ? WITHOUT_OVERRIDE : []), process.execPath];
    this.child = spawn(
      command!,
      [
        ...before,
        program('lbcnode'),
        '-regtest',
        `-datadir=${dataDir}`,
        `-rpcport=${port}`,
        `-rpcuser=${USER}`,
        `-rpcpassword=${USER}`,
        '-listen=0',
        '-dnsseed=0',
        '-connect=0',
        '-printtoconsole=0',
        ...SCENE_ARGS,
        ...args,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } },
    );
    this.child.stdout!.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    this.child.stderr!.on('data', (chunk: Buffer) => (this.errors += chunk.toString()));
    this.ended = new Promise((resolve) =>
      this.child.once('close', (code, signal) => {
        this.hasEnded = true;
        resolve({ code, signal });
      }),
    );
  }

  /** Resolves when the node answers or has ended; see `isRunning`. */
  static async start(
    dataDir: string,
    args: readonly string[] = [],
    env: Record<string, string> = {},
  ): Promise<CorruptedNode> {
    for (let attempt = 1; ; attempt++) {
      const node = new CorruptedNode(dataDir, await freePort(), args, env);
      await node.untilLoaded();
      if (node.isRunning || attempt === 3 || !/EADDRINUSE|Unable to bind/.test(node.stderr)) return node;
    }
  }

  private async untilLoaded(): Promise<void> {
    const deadline = Date.now() + HANG_MS;
    while (!this.hasEnded && !this.isLoaded) {
      if (Date.now() > deadline) {
        this.errors += 'HARNESS: the node hangs at start\n';
        this.child.kill('SIGKILL');
        await this.ended;
      } else await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /** Whether the node answers and has imported the given files. */
  private get isLoaded(): boolean {
    const { output } = this;
    const begun = output.includes('Importing blocks; RPC calls are answered meanwhile');
    return output.includes('Done loading') && begun === output.includes('All blocks are imported');
  }

  get isRunning(): boolean {
    return !this.hasEnded;
  }

  /** Messages to the operator on standard error. */
  get stderr(): string {
    return this.errors;
  }

  /** The output on standard output. */
  get stdout(): string {
    return this.output;
  }

  /** The log of all runs on this folder. */
  log(): string {
    try {
      return readFileSync(join(this.dataDir, 'regtest', 'debug.log'), 'utf8');
    } catch {
      return '';
    }
  }

  /** Sends several queries in one batch. Rejects with `NodeEnded` if the node ends before it answers. */
  async ask(calls: readonly Call[]): Promise<RpcAnswer[]> {
    const body = JSON.stringify(
      calls.map(([method, params], id) => ({ jsonrpc: '1.0', id, method, params })),
    );
    try {
      return JSON.parse(await this.post(body)) as RpcAnswer[];
    } catch {
      // No answer, or the answer that the node is shutting down.
      await Promise.race([this.ended, new Promise((resolve) => setTimeout(resolve, HANG_MS).unref())]);
      if (!this.hasEnded) throw new Error('the node lives but does not answer');
      throw new NodeEnded('the node ended');
    }
  }

  async call(method: string, params: readonly unknown[] = []): Promise<RpcAnswer> {
    return (await this.ask([[method, params]]))[0]!;
  }

  private post(body: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const call = request(
        {
          host: '127.0.0.1',
          port: this.port,
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
            authorization: `Basic ${Buffer.from(`${USER}:${USER}`).toString('base64')}`,
          },
        },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () => resolve(Buffer.concat(chunks).toString()));
          response.on('error', reject);
        },
      );
      call.on('error', reject);
      call.end(body);
    });
  }

  async stop(): Promise<Ending> {
    if (!this.hasEnded) this.child.kill('SIGTERM');
    const timer = setTimeout(() => {
      this.errors += 'HARNESS: the node hangs while stopping\n';
      this.child.kill('SIGKILL');
    }, HANG_MS);
    const ending = await this.ended;
    clearTimeout(timer);
    return ending;
  }

  async kill(): Promise<Ending> {
    this.child.kill('SIGKILL');
    return this.ended;
  }
}

export type Call = readonly [method: string, params: readonly unknown[]];
