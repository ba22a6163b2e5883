/** `lbcnet start`: the daemon in the foreground. Source: lbry-sdk lbry/extras/cli.py `run_daemon`. */
import { join } from 'node:path';
import { loadSqlite } from '../../sqlite/sqliteProvider.js';
import { failureReason } from '../../util/text/environmentError.js';
import { SILENT_LOGGER, type Logger } from '../../util/logging.js';
import type { ComponentName } from '../api/declaration.js';
import { limitKeptMemory, returnFreeMemory, returnIdleMemory } from '../base/idleMemory.js';
import type { EngineLoad } from '../base/engineLoad.js';
import type { StartCommand } from './commandLine.js';
import { startDaemon } from './daemon.js';
import { DaemonLog } from './daemonLog.js';
import { ensureFolder } from './folders.js';
import { NodeBeside } from './nodeBeside.js';
import { DaemonSettings } from './settings/daemonSettings.js';
import { WalletAndLedger } from './walletPart.js';

const LOG_NAME = 'lbcnet.log';
/**
 * Milliseconds after which the process exits although the stop has not finished. Arbitrary: far more than closing files
 * takes.
 */
const STOP_TIMEOUT_MS = 60_000;

/** Components without which the daemon ends, because the operator must fix the problem first. */
const ESSENTIAL: readonly ComponentName[] = ['database', 'wallet'];

const printError = (text: string): void => void process.stderr.write(`${text}\n`);

function logOf(command: StartCommand, settings: DaemonSettings): Logger {
  if (command.hasNoLog) return SILENT_LOGGER;
  const made = ensureFolder(settings.get('data_dir'), 'data_dir');
  const log = new DaemonLog({
    path: join(settings.get('data_dir'), LOG_NAME),
    toConsole: !command.isQuiet,
    isVerbose: command.isVerbose,
  });
  if (made !== null) log.info(made);
  return log;
}

/**
 * Runs the daemon. Resolves to the exit code after the daemon has stopped. Rejects with `EnvironmentError` if the daemon cannot
 * start.
 */
export async function runDaemon(command: StartCommand, engineLoad: EngineLoad): Promise<number> {
  limitKeptMemory();
  const warnings: string[] = [...command.warnings];
  let log: Logger | null = null;
  const warn = (text: string): void => (log === null ? void warnings.push(text) : log.warn(text));
  const settings = new DaemonSettings({ given: command.given, warn });
  log = logOf(command, settings);
  for (const text of warnings) log.warn(text);
  await loadSqlite(`lbcnet start${command.withNode ? ' --with-node' : ''}`);
  let isEnding = false;
  let end: (reason: string) => void = () => undefined;
  const ended = new Promise<string>((resolve) => {
    end = (reason) => {
      isEnding = true;
      resolve(reason);
    };
  });
  const onSignal = (signal: NodeJS.Signals): void => end(`Signal ${signal}.`);
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  let exitCode = 0;
  const fail = (reason: string): void => {
    // Ctrl-C also stops the node process, which may end before the daemon. In this case the exit code stays 0.
    if (!isEnding) exitCode = 1;
    end(reason);
  };
  let wallet: WalletAndLedger | null = null;
  let beside: NodeBeside | null = null;
  let stopCollections = (): void => undefined;
  try {
    if (command.withNode)
      beside = await NodeBeside.start(settings, log, {
        opened: () => {
          const ledger = wallet?.services?.ledger;
          if (ledger && !ledger.hub.isConnected) void ledger.reconnect();
        },
        ended: fail,
      });
    const more = {
      ...(beside && { servers: [beside.hub] }),
      ...(command.initialHeaders !== null && { initialHeaders: command.initialHeaders }),
    };
    const daemon = await startDaemon({
      settings,
      log,
      makeWalletPart: (deps) => (wallet = new WalletAndLedger({ ...deps, ...more })),
      isReflector: command.isReflector,
      ...(beside && { nodeStatus: () => beside!.status() }),
      onComponentFailure: (name, error) => {
        if (!ESSENTIAL.includes(name)) return;
        if (command.isQuiet || command.hasNoLog) printError(`Error: ${failureReason(error)}`);
        fail(`The daemon cannot continue without the component ${name}.`);
      },
      onAnswer: engineLoad.noteAnswer,
      onStop: () => end('The method stop was called.'),
    });
    stopCollections = returnIdleMemory();
    void daemon.started.then((areAllRunning) => {
      engineLoad.endStart();
      returnFreeMemory();
      if (isEnding) return;
      if (areAllRunning) log.info('All components run.');
      else log.warn('Not all components run; `status` shows the errors as component_failures.');
    });
    log.info(`Stopping. ${await ended}`);
    const overdue = setTimeout(() => {
      log.error('The stop exceeded its time limit. The remaining tasks are aborted.');
      process.exit(1);
    }, STOP_TIMEOUT_MS);
    await daemon.stop();
    // The timer is cleared only at this point, because it also keeps the process running; threads that are ending do not.
    clearTimeout(overdue);
    return exitCode;
  } finally {
    stopCollections();
    await beside?.stop();
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}
