/**
 * The log: Core's line format in `debug.log` and on the console, debug categories, and reopening on SIGHUP. Lines are
 * written synchronously by pino's destination, so that the last line before a crash is not lost.
 */
import { closeSync, existsSync, openSync, readSync, statSync, writeFileSync } from 'node:fs';
import { destination } from 'pino';
import { environmentError, failureReason } from '../../util/text/environmentError.js';
import { LogCategorySet, type LogCategory, type LogControl, type Logger } from '../../util/logging.js';
import { applyDebugOptions } from '../options/debugOptions.js';
import { OptionError } from '../options/optionArgs.js';
import { Console, type ColorChoice, type ConsoleStream, type StatusLine } from '../display/console.js';
import type { LoadedOptions } from '../options/options.js';
import { makeFolder } from '../../util/files/makeFolder.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';

/** Size in bytes to which a log that exceeds its limit is cut. Source: Core's `RECENT_DEBUG_HISTORY_SIZE`. */
export const RECENT_LOG_BYTES = 10_000_000;

/** Maximum size in bytes of lines in memory while the file cannot be written. */
const UNWRITTEN_LOG_BYTES = 1 << 20;

export interface FileLogger {
  readonly logger: Logger & LogControl;
  /** Sets the status line on the console; null removes it. Has no effect without a terminal. */
  show(status: StatusLine | null): void;
  /** Removes the status line, and characters that the user typed, from the terminal. */
  clear(): void;
  /** Writes a progress line to the file. The console shows it only if it has no status line. */
  logProgress(line: string): void;
  /** Writes the buffered lines and closes the file. Later lines are written to the console only. */
  close(): Promise<void>;
}

export interface LineLoggerOptions {
  readonly timestamps: boolean;
  readonly micros: boolean;
  readonly categories: LogCategorySet;
  /** Unix time in milliseconds, with fractions. */
  readonly nowMs: () => number;
  /** Writes a line to the log. The text must include its line break. */
  readonly write: (line: string) => void;
}

/** Formats log lines and filters them by category. Source: `LogTimestampStr`, `LogPrintf`, `LogPrint`. */
export class LineLogger implements Logger, LogControl {
  private readonly options: LineLoggerOptions;
  private secondsStamped = -1;
  private secondStamp = '';

  constructor(options: LineLoggerOptions) {
    this.options = options;
  }

  info(message: string): void {
    const stamp = this.options.timestamps ? `${this.stamp()} ` : '';
    this.options.write(`${stamp}${message}\n`);
  }

  warn(message: string): void {
    this.info(/^warning/i.test(message) ? message : `Warning: ${message}`);
  }

  error(message: string): void {
    this.info(/^error/i.test(message) ? message : `Error: ${message}`);
  }

  debug(category: LogCategory, message: string | (() => string)): void {
    if (this.willLog(category)) this.info(typeof message === 'string' ? message : message());
  }

  willLog(category: LogCategory): boolean {
    return this.options.categories.has(category);
  }

  setCategory(name: string, enabled: boolean): boolean {
    return this.options.categories.setCategory(name, enabled);
  }

  categories(): readonly (readonly [LogCategory, boolean])[] {
    return this.options.categories.categories();
  }

  /** Returns the timestamp `2026-01-01T00:00:00Z`, with microseconds before the Z if `-logtimemicros` is set. */
  private stamp(): string {
    const nowMs = this.options.nowMs();
    const seconds = Math.floor(nowMs / 1000);
    if (seconds !== this.secondsStamped) {
      this.secondsStamped = seconds;
      this.secondStamp = new Date(seconds * 1000).toISOString().slice(0, 19);
    }
    if (!this.options.micros) return `${this.secondStamp}Z`;
    const micros = Math.floor((nowMs - seconds * 1000) * 1000);
    return `${this.secondStamp}.${String(micros).padStart(6, '0')}Z`;
  }
}

/** Whether log lines are also written to the console. */
export function logsToConsole({ options }: LoadedOptions): boolean {
  return options.printtoconsole ?? !options.daemon;
}

/** Opens the log file according to the options. Throws `OptionError` if the file cannot be written. */
export function createFileLogger(loaded: LoadedOptions, stream: ConsoleStream = process.stdout): FileLogger {
  const { options, paths } = loaded;
  const categories = new LogCategorySet();
  // Errors in `-debug` and `-debugexclude` are ignored here, because the startup warnings already include them.
  applyDebugOptions(categories, options.debug, options.debugexclude);
  const screen = logsToConsole(loaded) ? new Console(stream, options.color as ColorChoice) : null;
  const file =
    paths.logFile === null
      ? null
      : openLog(loaded, paths.logFile, (line) =>
          screen?.isLive === true ? screen.line(line) : process.stderr.write(line),
        );
  let fileOpen = file !== null;
  const format = {
    timestamps: options.logtimestamps,
    micros: options.logtimemicros,
    categories,
    nowMs: () => performance.timeOrigin + performance.now(),
  };
  const toFile = (line: string): void => {
    if (fileOpen) file?.write(line);
  };
  const logger = new LineLogger({
    ...format,
    write(line) {
      toFile(line);
      screen?.line(line);
    },
  });
  const onProgress = screen?.isLive === true ? new LineLogger({ ...format, write: toFile }) : logger;
  const reopen = (): void => {
    try {
      if (paths.logFile !== null) refuseSpecialFile(paths.logFile);
      file?.reopen();
    } catch (error) {
      // After a failed reopening, lines are still written to the old file.
      logger.warn(`The log could not be reopened: ${(error as Error).message}`);
    }
  };
  process.on('SIGHUP', reopen);
  return {
    logger,
    show: (status) => screen?.setStatus(status),
    clear: () => screen?.clear(),
    logProgress: (line) => onProgress.info(line),
    close() {
      screen?.close();
      process.off('SIGHUP', reopen);
      if (file === null || !fileOpen) return Promise.resolve();
      fileOpen = false;
      return new Promise((resolve) => {
        file.once('close', resolve);
        // If the file cannot be written, the lines in memory are lost.
        file.once('error', () => resolve());
        file.end();
      });
    },
  };
}

/** Opens the log file. Creates the folder of the network if it is missing; other folders must exist. Source: `OpenDebugLog`. */
function openLog(
  { options, paths, placeOf }: LoadedOptions,
  path: string,
  warn: (line: string) => void,
): ReturnType<typeof destination> {
  try {
    makeFolder(paths.networkDir);
    refuseSpecialFile(path);
    if (!options.debug.length) shrinkLog(path);
    const file = destination({ dest: path, append: true, sync: true, maxLength: UNWRITTEN_LOG_BYTES });
    let failing = false;
    // A write error does not stop the node. Lines are buffered up to a limit, then dropped.
    file.on('error', (error) => {
      if (!failing) warn(`Warning: ${path} cannot be written; the node continues: ${failureReason(error)}\n`);
      failing = true;
    });
    // Empty lines separate this run from the previous one.
    file.write('\n\n\n\n\n');
    return file;
  } catch (error) {
    // Error text of the reference. If the folder is missing, the text of the system error would add nothing.
    const said = `Could not open debug log file ${path}`;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new OptionError(said + placeOf('debuglogfile'));
    throw new OptionError(
      `${said}: ${(environmentError(error, path) as Error).message}${placeOf('debuglogfile')}`,
    );
  }
}

/**
 * Shortens a log that exceeds `RECENT_LOG_BYTES` by more than a tenth. The end of the log is kept. Source: Core's
 * `ShrinkDebugFile`.
 */
export function shrinkLog(path: string): void {
  if (!existsSync(path)) return;
  const { size } = statSync(path);
  if (size <= (RECENT_LOG_BYTES / 10) * 11) return;
  const tail = Buffer.alloc(RECENT_LOG_BYTES);
  const file = openSync(path, 'r');
  try {
    readSync(file, tail, 0, tail.length, size - tail.length);
  } finally {
    closeSync(file);
  }
  writeFileSync(path, tail);
}
