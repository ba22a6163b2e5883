/**
 * Chain node with a hub as a child process of the daemon (`--with-node`). It starts before the daemon and stops after it.
 * The node detects the end of the daemon by the closed channel to its parent process. The hub opens when the node is at the
 * tip; until then the hub's status port reports the progress.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { EnvironmentError, onFile } from '../../util/text/environmentError.js';
import type { JsonOut } from '../../util/json/jsonWrite.js';
import type { Logger } from '../../util/logging.js';
import { projectFile } from '../../util/project.js';
import type { HostPortSetting, Settings } from '../api/settings.js';
import { pingHubs } from '../ledger/hub/hubPing.js';
import { makeFolder } from '../../util/files/makeFolder.js';

const HUB_HOST = '127.0.0.1';
/** Milliseconds between queries of the hub's status: `waiting` before the hub accepts clients, `open` afterwards. Arbitrary. */
const LOOK_MS = { waiting: 500, open: 10_000 } as const;
const PING_MS = 2_000;
/** Milliseconds between log lines about the progress. Arbitrary. */
const PROGRESS_MS = 60_000;
/** Time in ms that the node has for stopping before it is killed. Arbitrary: more than a flush of its caches takes. */
const STOP_TIMEOUT_MS = 120_000;

/** Command-line options that start the node on the chain of the setting `blockchain_name`. */
const CHAIN_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  lbrycrd_main: [],
  lbrycrd_testnet: ['-testnet'],
  lbrycrd_regtest: ['-regtest'],
};

export interface NodeBesideUser {
  /** Called when the hub of the node accepts connections. */
  opened(): void;
  /** Called if the node process ended although no stop was requested. */
  ended(reason: string): void;
}

/** Finds a TCP port that is free on the loopback interface. */
function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, HUB_HOST, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

export class NodeBeside {
  readonly hub: HostPortSetting;
  readonly #child: ChildProcess;
  readonly #exited: Promise<void>;
  readonly #log: Logger;
  readonly #user: NodeBesideUser;
  #isStopping = false;
  #isOpen = false;
  /** Last block height that the hub reported; null before the first report. */
  #height: number | null = null;
  #loggedMs = performance.now();
  #timer: NodeJS.Timeout | null = null;

  private constructor(child: ChildProcess, hub: HostPortSetting, log: Logger, user: NodeBesideUser) {
    this.hub = hub;
    this.#child = child;
    this.#log = log;
    this.#user = user;
    this.#exited = new Promise<void>((resolve) => {
      const ended = (why: string): void => {
        if (!this.#isStopping)
          user.ended(`The node started with --with-node has exited (${why}); its log contains the reason.`);
        this.#isStopping = true;
        resolve();
      };
      child.once('exit', (code, signal) => ended(String(code ?? signal)));
      child.once('error', ({ message }) => ended(message));
    });
    void this.#look();
  }

  /** Starts the node. Resolves when its process runs; its hub may open much later. Throws `EnvironmentError`. */
  static async start(settings: Settings, log: Logger, user: NodeBesideUser): Promise<NodeBeside> {
    const program = projectFile('dist', 'bin', 'lbcnode.js');
    if (!existsSync(program))
      throw new EnvironmentError(`The node's program is missing at ${program}. Build it with npm run build.`);
    const chain = CHAIN_OPTIONS[settings.get('blockchain_name')] ?? [];
    const folder = join(settings.get('data_dir'), 'lbcnode');
    onFile(folder, () => makeFolder(folder));
    const port = await freePort();
    log.info(`Starting a node in ${folder}; debug.log there is its log.`);
    const args = [
      `-datadir=${folder}`,
      '-hub',
      `-hubbind=${HUB_HOST}`,
      `-hubport=${port}`,
      `-hubudpport=${port}`,
      '-printtoconsole=0',
    ];
    const child = fork(program, [...chain, ...args], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
    return new NodeBeside(child, [HUB_HOST, port], log, user);
  }

  async #look(): Promise<void> {
    const [host, port] = this.hub;
    const [pong] = await pingHubs([{ host, port }], PING_MS);
    if (this.#isStopping) return;
    if (pong) {
      this.#height = pong.height;
      if (pong.isAvailable && !this.#isOpen) {
        this.#isOpen = true;
        this.#log.info(`The node's hub accepts clients, at block ${pong.height}.`);
        this.#user.opened();
      } else if (!this.#isOpen && performance.now() - this.#loggedMs > PROGRESS_MS) {
        this.#loggedMs = performance.now();
        this.#log.info(
          `The node is at block ${pong.height}; its hub will accept clients at the tip of the chain.`,
        );
      }
    }
    this.#timer = setTimeout(() => void this.#look(), this.#isOpen ? LOOK_MS.open : LOOK_MS.waiting);
  }

  /** Returns the member of `status` that describes the node. */
  status(): JsonOut {
    return { hub: this.hub.join(':'), is_ready: this.#isOpen, blocks: this.#height };
  }

  /** Stops the node. Resolves when its process has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#timer) clearTimeout(this.#timer);
    this.#child.kill('SIGTERM');
    const kill = setTimeout(() => this.#child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await this.#exited;
    clearTimeout(kill);
  }
}
