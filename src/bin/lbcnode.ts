#!/usr/bin/env node
/**
 * The node's program: options, log, start, signals, stop. Errors before the start go to stderr as `Error: …`, exit 1.
 */
import { spawn } from 'node:child_process';
import { createFileLogger } from '../node/logger.js';
import { startNode, type NodeHandle } from '../node/node.js';
import { OptionError } from '../node/optionArgs.js';
import { loadOptions, parseCommandLine, type LoadedOptions } from '../node/options.js';
import { helpText, versionText } from '../node/optionsHelp.js';

/** Set in the environment of the detached process that `-daemon` starts. */
const DAEMON_MARK = 'LBCNODE_DAEMON_CHILD';
/** Kills the process at a named point of a flush, for crash tests: `LBCNODE_CRASH_AT=<point>[:<count>]`. */
const CRASH_AT = 'LBCNODE_CRASH_AT';

function fail(message: string): never {
  process.stderr.write(message.startsWith('Error') ? `${message}\n` : `Error: ${message}\n`);
  process.exit(1);
}

function load(): LoadedOptions {
  try {
    const command = parseCommandLine(process.argv.slice(2));
    if (command.action === 'help') {
      process.stdout.write(helpText(command.debug));
      process.exit(0);
    }
    if (command.action === 'version') {
      process.stdout.write(versionText());
      process.exit(0);
    }
    return loadOptions(command.args);
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

async function openLog(loaded: LoadedOptions): Promise<Awaited<ReturnType<typeof createFileLogger>>> {
  try {
    return await createFileLogger(loaded);
  } catch (error) {
    if (error instanceof OptionError) fail(error.message);
    throw error;
  }
}

async function main(): Promise<void> {
  const loaded = load();
  if (loaded.options.daemon && process.env[DAEMON_MARK] !== '1') daemonize();
  if (!loaded.options.sysperms) process.umask(0o077);
  const log = await openLog(loaded);
  const { logger } = log;
  let node: NodeHandle | null = null;
  let stopping = false;
  let exitCode = 0;
  const starting = new AbortController();

  const stop = async (): Promise<void> => {
    if (stopping) return;
    stopping = true;
    starting.abort();
    if (!node) return;
    logger.info('Shutdown: In progress...');
    await node.stop();
    logger.info('Shutdown: done');
    await log.close();
    process.exit(exitCode);
  };
  const onFatal = (error: unknown): void => {
    const text = error instanceof Error ? error.message : String(error);
    logger.error(`A fatal internal error occurred, see debug.log for details: ${text}`);
    if (error instanceof Error && error.stack) logger.info(error.stack);
    process.stderr.write(`Error: ${text}\n`);
    exitCode = 1;
    void stop();
  };
  process.on('SIGTERM', () => void stop());
  process.on('SIGINT', () => void stop());
  process.on('uncaughtException', onFatal);
  process.on('unhandledRejection', onFatal);

  const onPoint = crashPoint();
  try {
    node = await startNode(loaded, {
      logger,
      requestStop: () => setImmediate(() => void stop()),
      onFatal,
      signal: starting.signal,
      ...(onPoint ? { onPoint } : {}),
    });
  } catch (error) {
    const known =
      error instanceof Error &&
      ['StartError', 'FolderError', 'ServerStartError', 'ValidationError'].includes(error.name);
    const text = error instanceof Error ? error.message : String(error);
    if (!known && error instanceof Error && error.stack) logger.info(error.stack);
    logger.error(text);
    await log.close();
    fail(text);
  }
  logger.info('Done loading');
  if (loaded.options.printtoconsole === false) process.stdout.write('Done loading\n');
  if (stopping || loaded.options.stopafterblockimport) {
    stopping = false;
    await stop();
  }
}

await main();
