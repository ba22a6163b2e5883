/** The daemon of the Python lbry-sdk in a process and folder of its own, called over HTTP. LBRYNET names its program. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from './node.js';

/** Components that need other computers or do not use a hub. */
const SKIPPED = [
  'wallet_server_payments',
  'background_downloader',
  'peer_protocol_server',
  'exchange_rate_manager',
  'tracker_announcer_component',
  'libtorrent_component',
  'upnp',
  'dht',
  'hash_announcer',
];
const LOOK_MS = 100;

export interface SdkOptions {
  /** An existing folder, which remains when the daemon ends. */
  readonly folder?: string;
  /** Settings in addition to the usual ones. */
  readonly settings?: object;
}

/** An error answer of the daemon. */
export class SdkError extends Error {
  override readonly name = 'SdkError';
}

export class SdkDaemon {
  readonly folder: string;
  private readonly child: ChildProcess;
  private readonly exited: Promise<unknown>;
  readonly port: number;
  private readonly keepsFolder: boolean;
  private output = '';

  private constructor(program: string, folder: string, port: number, keepsFolder: boolean) {
    this.folder = folder;
    this.port = port;
    this.keepsFolder = keepsFolder;
    this.child = spawn(
      program,
      [
        'start',
        `--config=${join(folder, 'conf.yml')}`,
        `--data-dir=${join(folder, 'data')}`,
        `--wallet-dir=${join(folder, 'wallet')}`,
        `--download-dir=${join(folder, 'files')}`,
      ],
      { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' } },
    );
    const collect = (chunk: Buffer): void =>
      void (this.output = (this.output + chunk.toString()).slice(-20_000));
    this.child.stdout!.on('data', collect);
    this.child.stderr!.on('data', collect);
    this.exited = new Promise((resolve) => this.child.once('close', resolve));
  }

  /**
   * Starts a daemon with an empty wallet that uses the hubs at these loopback ports. Resolves when it is synced. `parts` are
   * those of the usually skipped components that it runs.
   */
  static async start(
    program: string,
    hubPorts: readonly number[],
    parts: readonly string[] = [],
    options: SdkOptions = {},
  ): Promise<SdkDaemon> {
    const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'lbcnode-lbrynet-'));
    for (const name of ['data', 'wallet', 'files']) mkdirSync(join(folder, name), { recursive: true });
    const port = await freePort();
    const settings = {
      api: `127.0.0.1:${port}`,
      streaming_server: `127.0.0.1:${await freePort()}`,
      network_interface: '127.0.0.1',
      blockchain_name: 'lbrycrd_regtest',
      lbryum_servers: hubPorts.map((hub) => `127.0.0.1:${hub}`),
      components_to_skip: SKIPPED.filter((name) => !parts.includes(name)),
      use_upnp: false,
      share_usage_data: false,
      ...options.settings,
    };
    // JSON is YAML.
    writeFileSync(join(folder, 'conf.yml'), JSON.stringify(settings));
    const daemon = new SdkDaemon(program, folder, port, options.folder !== undefined);
    await daemon.until('it is up', async () => {
      const { startup_status: parts } = await daemon.call<{ startup_status: Record<string, boolean> }>(
        'status',
      );
      return Object.values(parts).every(Boolean);
    });
    return daemon;
  }

  /** Rejects with `SdkError` if the daemon returns an error. */
  async call<T>(method: string, params: object = {}): Promise<T> {
    const response = await fetch(`http://127.0.0.1:${this.port}/`, {
      method: 'POST',
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const answer = (await response.json()) as { result: T; error?: { message: string } };
    if (answer.error) throw new SdkError(`${method}: ${answer.error.message}`);
    return answer.result;
  }

  /** Polls until the condition is true. An error counts as false, unless the daemon has ended. */
  async until(what: string, isSo: () => Promise<boolean>, timeoutMs = 240_000): Promise<void> {
    const end = Date.now() + timeoutMs;
    let last: unknown = null;
    while (Date.now() < end) {
      if (this.child.exitCode !== null) throw new Error(`the daemon ended: ${this.output}`);
      try {
        if (await isSo()) return;
        last = null;
      } catch (error) {
        last = error;
      }
      await sleep(LOOK_MS);
    }
    throw new Error(`waited in vain until ${what}: ${String(last)}\n${this.output.slice(-4000)}`, {
      cause: last,
    });
  }

  /** Writes a file with this text in the daemon's folder, for publishing. */
  file(name: string, text: string): string {
    const path = join(this.folder, name);
    writeFileSync(path, text);
    return path;
  }

  read(path: string): string {
    return readFileSync(path, 'utf8');
  }

  /** Kills it with SIGKILL. The folder remains. */
  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.exited;
  }

  async stop(): Promise<void> {
    const last = setTimeout(() => this.child.kill('SIGKILL'), 30_000);
    this.child.kill('SIGTERM');
    await this.exited;
    clearTimeout(last);
    if (!this.keepsFolder) rmSync(this.folder, { recursive: true, force: true });
  }
}
