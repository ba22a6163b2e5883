/**
 * The program `lbcnet`: executes the command line. Source: lbry-sdk lbry/extras/cli.py `main`, `run_daemon`.
 */
import { join } from 'node:path';
import { loadSqlite } from '../../sqlite/sqliteProvider.js';
import { EnvironmentError, failureReason } from '../../util/text/environmentError.js';
import { JsonObject } from '../../util/json/json.js';
import { SILENT_LOGGER, type Logger } from '../../util/logging.js';
import { programVersion } from '../../util/project.js';
import type { ComponentName } from '../api/declaration.js';
import type { HostPort } from '../api/settings.js';
import { systemClock } from '../base/clock.js';
import { requestOf, send, shownAnswer } from './callDaemon.js';
import { parseCommandLine, type CallCommand, type StartCommand } from './commandLine.js';
import { startDaemon } from './daemon.js';
import { DaemonLog } from './daemonLog.js';
import { DaemonSettings } from './settings/daemonSettings.js';
import { ensureFolder } from './folders.js';
import { COMPATIBLE_VERSION } from './machineInfo.js';
import { NodeBeside } from './nodeBeside.js';
import { parseServer } from './settings/settingKinds.js';
import { WalletAndLedger } from './walletPart.js';
import { isWatched, WatchedCall } from './watchedCall.js';

const LOG_NAME = 'lbcnet.log';
/** Time limit for a stop before the process exits anyway. Arbitrary: far more than closing files takes. */
const STOP_TIMEOUT_MS = 60_000;

/** Essential components: if one does not start, the daemon ends, because the operator must fix the problem first. */
const ESSENTIAL: readonly ComponentName[] = ['database', 'wallet'];

const print = (text: string): void => void process.stdout.write(`${text}\n`);
const printError = (text: string): void => void process.stderr.write(`${text}\n`);

/** Runs the program. Resolves to the exit code; for `start`, after the daemon has stopped. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  const command = parseCommandLine(argv);
  try {
    switch (command.kind) {
      case 'text':
        print(command.text);
        return 0;
      case 'version':
        print(`lbcnet ${programVersion()} (compatible with lbrynet ${COMPATIBLE_VERSION})`);
        return 0;
      case 'wrong':
        printError(command.text);
        return command.exitCode;
      case 'call': {
        if (command.notice !== null) print(command.notice);
        const settings = new DaemonSettings({ given: command.given, warn: () => undefined });
        const place = parseServer(settings.get('api'))!;
        return await runCall(command, place);
      }
      case 'start':
        return await runDaemon(command);
    }
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    printError(`Error: ${error.message}`);
    return 1;
  }
}

/** Runs a call. On a terminal, the progress of its transfer is shown on stderr, and after `get` the rest of the download. */
async function runCall({ method, params }: CallCommand, place: HostPort): Promise<number> {
  const call = send(requestOf(method, params), place);
  const { stderr, stdout } = process;
  const watched =
    stderr.isTTY && isWatched(method)
      ? new WatchedCall({
          send: (name, given) => send(requestOf(name, new JsonObject(Object.entries(given))), place),
          terminal: stderr,
          clock: systemClock,
        })
      : null;
  const answer = await (watched?.until(method, params, call) ?? call);
  const shown = shownAnswer(answer);
  if (shown.text !== '') print(shown.text);
  // A script that reads the response continues immediately.
  if (watched !== null && method === 'get' && stdout.isTTY) await watched.afterGet(answer);
  return shown.isError ? 1 : 0;
}

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

async function runDaemon(command: StartCommand): Promise<number> {
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
    // Ctrl-C also reaches the node process, which may end first.
    if (!isEnding) exitCode = 1;
    end(reason);
  };
  let wallet: WalletAndLedger | null = null;
  let beside: NodeBeside | null = null;
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
        fail(`Without the component ${name} there is little to do.`);
      },
      onStop: () => end('The method stop was called.'),
    });
    void daemon.started.then((areAllRunning) => {
      if (isEnding) return;
      if (areAllRunning) log.info('All components run.');
      else log.warn('Not all components run; `status` shows which under component_failures.');
    });
    log.info(`Stopping. ${await ended}`);
    const overdue = setTimeout(() => {
      log.error('Stopping takes too long; what is left is ended.');
      process.exit(1);
    }, STOP_TIMEOUT_MS);
    await daemon.stop();
    // The timer also kept the process alive, which ending threads do not.
    clearTimeout(overdue);
    return exitCode;
  } finally {
    await beside?.stop();
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  }
}
