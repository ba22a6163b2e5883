/**
 * A chain node with a hub as a child of the daemon (`--with-node`): started before it, stopped after it. It is told over
 * its channel when the daemon is gone, however that ended.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createConnection, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EnvironmentError } from '../../util/environmentError.js';
import type { Logger } from '../../util/logging.js';
import { projectFile } from '../../util/project.js';
import type { HostPort, Settings } from '../api/settings.js';
import { makeFolder } from '../../util/makeFolder.js';

const HUB_HOST = '127.0.0.1';
/** Between looks whether the hub listens. */
const LOOK_MS = 200;
/** What is left of a node that does not stop is killed. Arbitrary: above what a flush of its caches takes. */
const STOP_TIMEOUT_MS = 120_000;

/** The node's options for chains. */
const CHAIN_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  lbrycrd_main: [],
  lbrycrd_testnet: ['-testnet'],
  lbrycrd_regtest: ['-regtest'],
};

export interface NodeBeside {
  readonly hub: HostPort;
  stop(): Promise<void>;
}

/** A port that the system has free at the moment. */
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

function canConnect([host, port]: HostPort): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Resolves when the hub listens. `onExit` is told when the node ends by itself. */
export async function startNodeBeside(
  settings: Settings,
  log: Logger,
  onExit: (reason: string) => void,
): Promise<NodeBeside> {
  const program = projectFile('dist', 'bin', 'lbcnode.js');
  if (!existsSync(program))
    throw new EnvironmentError(`The node's program is missing at ${program}. Build it with npm run build.`);
  const chain = CHAIN_OPTIONS[settings.get('blockchain_name')] ?? [];
  const folder = join(settings.get('data_dir'), 'lbcnode');
  makeFolder(folder);
  const hub: HostPort = [HUB_HOST, await freePort()];
  log.info(`Starting a node in ${folder}.`);
  const child: ChildProcess = fork(
    program,
    [
      ...chain,
      `-datadir=${folder}`,
      '-hub',
      `-hubbind=${HUB_HOST}`,
      `-hubport=${hub[1]}`,
      '-printtoconsole=0',
    ],
    { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] },
  );
  let isStopping = false;
  const exited = new Promise<void>((resolve) => {
    child.once('exit', (code, signal) => {
      if (!isStopping)
        onExit(`The node ended by itself (${code ?? signal}); its log is ${folder}/debug.log.`);
      resolve();
    });
  });
  while (!(await canConnect(hub))) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new EnvironmentError(`The node did not start; its log is in ${folder}.`);
    await sleep(LOOK_MS);
  }
  return {
    hub,
    stop: async () => {
      isStopping = true;
      child.kill('SIGTERM');
      const kill = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await exited;
      clearTimeout(kill);
    },
  };
}
