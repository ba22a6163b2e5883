/**
 * The built lbcnet in a process and folder of its own on the regtest chain, asked over HTTP as programs ask it. Its answers
 * are compared with their declarations.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DECLARATIONS } from '../../../src/daemon/api/declarations/table.js';
import { checkJson } from '../../../src/schema/schemaCheck.js';
import { parseJson } from '../../../src/util/json/jsonParse.js';
import type { JsonObject } from '../../../src/util/json/json.js';
import { freePort, HANG_MS, program } from './node.js';

const declared = new Map(DECLARATIONS.map(({ name, result }) => [name, result]));

const LOOK_MS = 50;

/** An error answer of the daemon. */
export class DaemonAnswerError extends Error {
  override readonly name: string = 'DaemonAnswerError';
  readonly code: number;
  /** The class of the error, by which programs distinguish them. */
  readonly errorName: string | undefined;

  constructor(code: number, message: string, errorName: string | undefined) {
    super(message);
    this.code = code;
    this.errorName = errorName;
  }
}

export interface DaemonOptions {
  /** Ports of the hubs on the loopback interface. */
  readonly hubPorts: readonly number[];
  /** The wallet text of the wallet file `default_wallet`; a new wallet is made without. */
  readonly walletText?: string;
  /** Of the settings file, which yields to arguments; none is written without. */
  readonly settings?: object;
  /** Further arguments of `start`. */
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** A folder that is there already, and stays when the daemon is closed. */
  readonly folder?: string;
  /** In a process group of its own, as a terminal starts programs. */
  readonly hasOwnGroup?: boolean;
  /** Whether to wait until all components run, which they do not without a hub; true unless given. */
  readonly waits?: boolean;
}

/** The text of a wallet file with one account of this seed on regtest. */
export function walletOfSeed(seed: string, name = 'Main'): string {
  const account = { ledger: 'lbc_regtest', name, seed, encrypted: false };
  return JSON.stringify({ version: 1, name: 'My Wallet', preferences: {}, accounts: [account] });
}

export class TestDaemon {
  readonly folder: string;
  readonly port: number;
  private readonly child: ChildProcess;
  private readonly exited: Promise<number | null>;
  private readonly keepsFolder: boolean;
  private output = '';

  private constructor(options: DaemonOptions, folder: string, port: number, mediaPort: number) {
    this.folder = folder;
    this.port = port;
    this.keepsFolder = options.folder !== undefined;
    this.child = spawn(
      process.execPath,
      [
        program('lbcnet'),
        'start',
        `--config=${join(folder, 'conf.yml')}`,
        `--data-dir=${join(folder, 'data')}`,
        `--wallet-dir=${join(folder, 'wallet')}`,
        `--download-dir=${join(folder, 'files')}`,
        `--api=127.0.0.1:${port}`,
        `--streaming-server=127.0.0.1:${mediaPort}`,
        '--blockchain-name=lbrycrd_regtest',
        // Any free port, so that daemons do not meet.
        ...(options.args?.some((arg) => arg.startsWith('--tcp-port=')) ? [] : ['--tcp-port=0']),
        // Nothing is sent beyond this machine, and ports are free ones.
        '--network-interface=127.0.0.1',
        ...(options.args?.some((arg) => arg.startsWith('--udp-port=')) ? [] : ['--udp-port=0']),
        ...options.hubPorts.map((hubPort) => `--lbryum-servers=127.0.0.1:${hubPort}`),
        ...(options.args ?? []),
      ],
      {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { ...process.env, ...options.environment },
        detached: options.hasOwnGroup ?? false,
      },
    );
    this.child.stderr!.on(
      'data',
      (chunk: Buffer) => (this.output = (this.output + chunk.toString()).slice(-20_000)),
    );
    this.exited = new Promise((resolve) => this.child.once('close', resolve));
  }

  static async start(options: DaemonOptions): Promise<TestDaemon> {
    const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'lbcnode-lbcnet-'));
    mkdirSync(join(folder, 'wallet', 'wallets'), { recursive: true });
    if (options.walletText !== undefined)
      writeFileSync(join(folder, 'wallet', 'wallets', 'default_wallet'), options.walletText);
    // JSON is YAML.
    if (options.settings) writeFileSync(join(folder, 'conf.yml'), JSON.stringify(options.settings));
    const daemon = new TestDaemon(options, folder, await freePort(), await freePort());
    await daemon.whenUp(options.waits ?? true);
    return daemon;
  }

  get pid(): number {
    return this.child.pid!;
  }

  /** What it logged last. */
  get log(): string {
    return this.output;
  }

  /** The result of a call. Rejects with `DaemonAnswerError`, and where the answer is not as it is declared. */
  async call<Result = unknown>(method: string, params: object = {}): Promise<Result> {
    const text = await this.askText({ method, params });
    const answer = JSON.parse(text) as {
      result?: Result;
      error?: { code: number; message: string; data?: { name?: string } };
    };
    if (answer.error)
      throw new DaemonAnswerError(
        answer.error.code,
        `${method}: ${answer.error.message}`,
        answer.error.data?.name,
      );
    const schema = declared.get(method);
    const problems = schema ? checkJson(schema, (parseJson(text) as JsonObject).get('result')!) : [];
    if (problems.length > 0) throw new Error(`${method}: ${problems.slice(0, 5).join('; ')}`);
    return answer.result as Result;
  }

  /** The whole answer to a request. */
  async ask(request: object): Promise<unknown> {
    return JSON.parse(await this.askText(request));
  }

  private async askText(request: object): Promise<string> {
    const response = await fetch(`http://127.0.0.1:${this.port}/`, {
      method: 'POST',
      body: JSON.stringify(request),
    });
    return response.text();
  }

  /** Ends it as it ends itself, and resolves to its exit code. The folder goes unless it was given. */
  async stop(): Promise<number | null> {
    this.child.kill('SIGTERM');
    const code = await this.exited;
    if (!this.keepsFolder) rmSync(this.folder, { recursive: true, force: true });
    return code;
  }

  /** What Ctrl-C does: all of its group are told to end. Resolves to its exit code. */
  async interrupt(): Promise<number | null> {
    process.kill(-this.child.pid!, 'SIGINT');
    return this.exited;
  }

  /** Resolves to the exit code when it has ended. */
  ended(): Promise<number | null> {
    return this.exited;
  }

  /** Without a word, as the system does when memory runs out. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }

  private async whenUp(waitsForParts: boolean): Promise<void> {
    const until = Date.now() + HANG_MS;
    for (;;) {
      if (this.child.exitCode !== null) {
        if (!this.keepsFolder) rmSync(this.folder, { recursive: true, force: true });
        throw new Error(`lbcnet ended with ${this.child.exitCode}:\n${this.output}`);
      }
      const answer = (await this.ask({ method: 'status' }).catch(() => null)) as {
        result: { is_running: boolean };
      } | null;
      if (answer !== null && (answer.result.is_running || !waitsForParts)) return;
      if (Date.now() > until) {
        await this.kill();
        throw new Error(`lbcnet did not start:\n${this.output}`);
      }
      await sleep(LOOK_MS);
    }
  }
}

export const startDaemon = (options: DaemonOptions): Promise<TestDaemon> => TestDaemon.start(options);
