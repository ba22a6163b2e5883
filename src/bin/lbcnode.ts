#!/usr/bin/env node
/**
 * The node's program: options, log, start, signals, shutdown. Errors before the start go to stderr as `Error: …`, exit 1.
 */
import { spawn } from 'node:child_process';
import { firstSteps, LAUNCHER } from '../node/display/firstSteps.js';
import { fitted } from '../node/display/fitted.js';
import { describeFailure } from '../node/log/failure.js';
import { inNextRound } from '../scheduler/rounds.js';
import { FolderLockError, lockFolder } from '../store/files/folderLock.js';
import { createFileLogger, logsToConsole, type FileLogger } from '../node/log/logger.js';
import { startNode, type NodeHandle } from '../node/node.js';
import { OptionError } from '../node/options/optionArgs.js';
import { loadOptions, parseCommandLine, type LoadedOptions } from '../node/options/options.js';
import { helpText, versionText } from '../node/options/optionsHelp.js';
import { refuseSwallowed } from '../node/options/npmOptions.js';
import { optimizing } from '../util/optimizing.js';

/** Environment variable that marks the detached process that `-daemon` starts. */
const DAEMON_MARK = 'LBCNODE_DAEMON_CHILD';
/** Kills the process at a named point of a flush, for crash tests: `LBCNODE_CRASH_AT=<point>[@<count>]`. */
const CRASH_AT = 'LBCNODE_CRASH_AT';

/**
 * Milliseconds after which an import is long. Arbitrary. While the node starts, and during short imports, code is optimized
 * late: the compiler's threads compete with those that verify signatures, and in a short import they took a quarter of all
 * processor time. A long import and calls are faster with optimized code: without it a call takes three times as long.
 * Measured: `docs/benchmarks.md`.
 */
const LONG_IMPORT_MS = 10_000;

/** Prints a message for the user. */
function say(message: string): void {
  process.stderr.write(`${fitted(message, process.stderr)}\n`);
}

function fail(message: string): never {
  say(message.startsWith('Error') ? message : `Error: ${message}`);
  process.exit(1);
}

/** A warning for the user, independent of the log. Source: `noui_ThreadSafeMessageBox`. */
function showWarning(message: string): void {
  say(/^warning/i.test(message) ? message : `Warning: ${message}`);
}

function load(): LoadedOptions {
  try {
    refuseSwallowed(process.env);
    const command = parseCommandLine(process.argv.slice(2));
    if (command.action === 'help') {
      process.stdout.write(helpText(command.debug));
      process.exit(0);
    }
    if (command.action === 'version') {
      process.stdout.write(versionText());
      process.exit(0);
    }
    return loadOptions(command.args, undefined, command.warnings);
  } catch (error) {
    if (error instanceof OptionError) fail(error.message);
    throw error;
  }
}

/** Starts the same command in the background. */
function daemonize(): never {
  const child = spawn(process.execPath, process.argv.slice(1), {
    detached: true,
    stdio: 'ignore',
    env: { ...process.env, [DAEMON_MARK]: '1' },
  });
  child.unref();
  process.stdout.write('lbcnode server starting\n');
  process.exit(0);
}

function crashPoint(): ((name: string) => void) | undefined {
  const wanted = process.env[CRASH_AT];
  if (!wanted) return undefined;
  const [point, count] = wanted.split('@');
  let left = Number(count ?? 1);
  return (name) => {
    if (name === point && --left === 0) process.kill(process.pid, 'SIGKILL');
  };
}

function openLog(loaded: LoadedOptions): FileLogger {
  try {
    return createFileLogger(loaded);
  } catch (error) {
    if (error instanceof OptionError) fail(error.message);
    throw error;
  }
}

async function lock(loaded: LoadedOptions): Promise<() => Promise<void>> {
  try {
    return await lockFolder(loaded.paths.networkDir);
  } catch (error) {
    if (error instanceof FolderLockError) fail(error.message);
    throw error;
  }
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A running program: its node, its log and its shutdown. */
class Program {
  private readonly log: FileLogger;
  private readonly unlock: () => Promise<void>;
  private readonly starting = new AbortController();
  private node: NodeHandle | null = null;
  private stopping = false;
  private exitCode = 0;
  private readonly reported = new Set<string>();
  private readonly folder: string;
  private readonly isSeen: boolean;

  /**
   * Keeps `unlock` until the end, because the lock exists only as long as `unlock` can be called. `isSeen` is true if the
   * user sees the log on the same terminal as stderr.
   */
  constructor(log: FileLogger, unlock: () => Promise<void>, folder: string, isSeen: boolean) {
    this.log = log;
    this.unlock = unlock;
    this.folder = folder;
    this.isSeen = isSeen;
  }

  async run(loaded: LoadedOptions): Promise<void> {
    const { logger } = this.log;
    // This timer keeps the process running, because without a server nothing else does.
    setInterval(() => undefined, LONGEST_TIMER_MS);
    const onPoint = crashPoint();
    try {
      this.node = await startNode(loaded, {
        logger,
        requestStop: () => inNextRound(() => void this.stop()),
        onFatal: (error) => this.fatal(error),
        signal: this.starting.signal,
        showWarning: this.isSeen ? () => undefined : showWarning,
        show: (status) => this.log.show(status),
        logProgress: (line) => this.log.logProgress(line),
        ...(onPoint ? { onPoint } : {}),
      });
    } catch (error) {
      this.report(error);
      this.exitCode = 1;
      return this.exit();
    }
    if (this.stopping) return this.shutDown(this.node);
    logger.info('Done loading');
    const [program, launcher] = [process.argv[1] ?? '', process.env[LAUNCHER]];
    for (const line of firstSteps(loaded, this.node.rpcPlaces, program, process.cwd(), launcher))
      logger.info(line);
    if (loaded.options.printtoconsole === false) process.stdout.write('Done loading\n');
    await this.node.imported;
    optimizing.set('soon');
    if (!loaded.options.stopafterblockimport || this.stopping) return;
    logger.info('Stopping after block import');
    await this.shutDown(this.node);
  }

  /** Stops the node, or cancels the start in progress. A second call has no effect. */
  async stop(): Promise<void> {
    if (this.stopping) return;
    this.stopping = true;
    this.starting.abort();
    if (this.node) await this.shutDown(this.node);
  }

  /** Handles a bug or a broken environment: stops the node with an error exit code. */
  fatal(error: unknown): void {
    this.exitCode = 1;
    this.report(error);
    void this.stop();
  }

  private async shutDown(node: NodeHandle): Promise<void> {
    const { logger } = this.log;
    this.stopping = true;
    this.starting.abort();
    this.log.clear();
    logger.info('Shutdown: In progress...');
    try {
      await node.stop();
      logger.info('Shutdown: done');
    } catch (error) {
      this.exitCode = 1;
      logger.error('Shutdown: not all data could be written to disk');
      this.report(error);
    }
    await this.exit();
  }

  /** Reports each message only once: an error may repeat in its consequences. */
  private report(error: unknown): void {
    const { text, isBug } = describeFailure(error, this.folder);
    if (this.reported.has(text)) return;
    const isFirst = this.reported.size === 0;
    this.reported.add(text);
    const { logger } = this.log;
    if (isBug) logger.error(`A fatal internal error occurred: ${text}`);
    else logger.error(text);
    const stack = error instanceof Error ? (error.stack ?? '') : '';
    if (isBug) logger.info(stack);
    else logger.debug('db', stack);
    // Only the first error is printed. Later errors are mostly its consequences, and the log contains them.
    if (!isFirst || this.isSeen) return;
    const shown = isBug ? `A fatal internal error occurred, see debug.log for details: ${text}` : text;
    say(shown.startsWith('Error') ? shown : `Error: ${shown}`);
  }

  private async exit(): Promise<never> {
    await this.log.close();
    await this.unlock().catch(() => undefined);
    process.exit(this.exitCode);
  }
}

/**
 * Node.js by default opens its debugger on SIGUSR1 and exits on SIGUSR2. The node ignores both signals.
 */
function ignoreUserSignals(): void {
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) process.on(signal, () => undefined);
}

async function main(): Promise<void> {
  ignoreUserSignals();
  const loaded = load();
  const isChild = process.env[DAEMON_MARK] === '1';
  const isParent = loaded.options.daemon && !isChild;
  // If the log is shown on this terminal, it prints the same warnings, so they are not printed twice.
  const isSeen = logsToConsole(loaded) && process.stdout.isTTY && process.stderr.isTTY;
  if (!isChild && !isSeen) loaded.warnings.forEach(showWarning);
  if (!loaded.options.sysperms) process.umask(0o077);
  // Locked before anything is written to the folder, including the log: another node may be using it.
  const unlock = await lock(loaded);
  if (isParent) {
    await unlock();
    daemonize();
  }
  const program = new Program(openLog(loaded), unlock, loaded.paths.networkDir, isSeen);
  process.on('SIGTERM', () => void program.stop());
  process.on('SIGINT', () => void program.stop());
  // A node started by another program over a channel (`lbcnet start --with-node`) ends with that program, however the
  // program ended.
  process.once('disconnect', () => void program.stop());
  process.on('uncaughtException', (error) => program.fatal(error));
  process.on('unhandledRejection', (error) => program.fatal(error));
  await program.run(loaded);
}

// The reader of the output, such as a supervisor or a pager, may have ended. The node then neither stops nor logs an
// error.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
optimizing.set('late');
setTimeout(() => optimizing.set('soon'), LONG_IMPORT_MS).unref();
await main().catch((error: unknown) => fail(describeFailure(error, 'the data folder').text));
