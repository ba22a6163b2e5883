/**
 * The built lbcnet on regtest, in a process and folder of its own. Tests call it over HTTP as clients do, and its answers are
 * compared with their declarations.
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
  /** The class name of the error, by which clients distinguish errors. */
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
  /** The content of the wallet file `default_wallet`; default: the daemon creates a wallet. */
  readonly walletText?: string;
  /** Content of the settings file, which arguments override; default: no file. */
  readonly settings?: object;
  /** Further arguments of `start`. */
  readonly args?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** An existing folder, which remains when the daemon ends; default: a temporary one. */
  readonly folder?: string;
  /** Whether it runs in a process group of its own, as programs of a terminal do. */
  readonly hasOwnGroup?: boolean;
  /** Whether to wait until all components run; default: true. They do not run without a hub. */
  readonly waits?: boolean;
}

/** The content of a wallet file with one account of this seed on regtest. */
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
        // Any free port, so that daemons do not use the same one.
        ...(options.args?.some((arg) => arg.startsWith('--tcp-port=')) ? [] : ['--tcp-port=0']),
        // No packet leaves this machine, and the ports are free ones.
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

  /** The last lines of its log. */
  get log(): string {
    return this.output;
  }

  /** The result of a call. Rejects with `DaemonAnswerError`, and also if the answer does not match its declaration. */
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

  /** Stops it with SIGTERM and resolves to its exit code. Removes the folder if it is a temporary one. */
  async stop(): Promise<number | null> {
    this.child.kill('SIGTERM');
    const code = await this.exited;
    if (!this.keepsFolder) rmSync(this.folder, { recursive: true, force: true });
    return code;
  }

  /** Sends SIGINT to its process group, as Ctrl-C does. Resolves to its exit code. */
  async interrupt(): Promise<number | null> {
    process.kill(-this.child.pid!, 'SIGINT');
    return this.exited;
  }

  /** Resolves to the exit code when it has ended. */
  ended(): Promise<number | null> {
    return this.exited;
  }

  /** Kills it with SIGKILL, as the system does when memory runs out. */
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
