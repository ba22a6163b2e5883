/** A daemon, ours or lbrynet, as a process of its own on a hub of this machine. For benches. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Components that a bench of the wallet or of files does not need. */
export const SKIPPED = [
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

/** A start that takes longer counts as failed, because lbrynet does not report failures. */
const START_MS = 180_000;

export class Daemon {
  /** `more`: settings in addition to the usual ones. */
  constructor(command, folder, port, hubPort, more = {}) {
    this.port = port;
    const settings = {
      api: `127.0.0.1:${port}`,
      streaming_server: '127.0.0.1:0',
      network_interface: '127.0.0.1',
      blockchain_name: 'lbrycrd_regtest',
      lbryum_servers: [`127.0.0.1:${hubPort}`],
      components_to_skip: SKIPPED,
      use_upnp: false,
      ...more,
    };
    for (const name of ['data', 'wallet', 'files']) mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, 'conf.yml'), JSON.stringify(settings));
    const [program, ...first] = command;
    this.began = performance.now();
    this.child = spawn(
      program,
      [
        ...first,
        'start',
        `--config=${join(folder, 'conf.yml')}`,
        `--data-dir=${join(folder, 'data')}`,
        `--wallet-dir=${join(folder, 'wallet')}`,
        `--download-dir=${join(folder, 'files')}`,
        '--quiet',
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
    this.closed = once(this.child, 'close');
  }

  async call(method, params = {}) {
    const response = await fetch(`http://127.0.0.1:${this.port}/`, {
      method: 'POST',
      body: JSON.stringify({ method, params }),
    });
    const { result, error } = await response.json();
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  /** Seconds from the start until all components run. Throws if a component fails. */
  async up() {
    for (;;) {
      const status = await this.call('status').catch(() => null);
      if (status?.is_running) return (performance.now() - this.began) / 1000;
      if (this.child.exitCode !== null) throw new Error('the daemon ended');
      if (performance.now() - this.began > START_MS) {
        this.child.kill('SIGKILL');
        throw new Error(`a part of the daemon does not start: ${JSON.stringify(status?.startup_status)}`);
      }
      await sleep(20);
    }
  }

  async stop() {
    await this.call('stop').catch(() => null);
    await this.closed;
  }

  get memoryMb() {
    const text = readFileSync(`/proc/${this.child.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(text)[1]) / 1024;
  }
}
