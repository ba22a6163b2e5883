/**
 * The log: Core's line format in `debug.log` and on the console, the debug categories, reopening on SIGHUP. The file is
 * written by pino's destination, synchronously, so that the last line before a crash is not lost.
 */
import { closeSync, existsSync, openSync, readSync, statSync, writeFileSync } from 'node:fs';
import { destination } from 'pino';
import { environmentError, failureReason } from '../../util/text/environmentError.js';
import { LogCategorySet, type LogCategory, type LogControl, type Logger } from '../../util/logging.js';
import { applyDebugOptions } from '../options/debugOptions.js';
import { OptionError } from '../options/optionArgs.js';
import { Console, type ColorChoice, type ConsoleStream, type StatusLine } from '../display/console.js';
import type { LoadedOptions } from '../options/options.js';
import { makeFolder } from '../../util/makeFolder.js';
import { refuseSpecialFile } from '../../util/specialFile.js';

/** Size in bytes to which a log that has grown too large is cut. Source: Core's `RECENT_DEBUG_HISTORY_SIZE`. */
export const RECENT_LOG_BYTES = 10_000_000;

/** Size limit in bytes of lines buffered while the file cannot be written. */
const UNWRITTEN_LOG_BYTES = 1 << 20;

export interface FileLogger {
  readonly logger: Logger & LogControl;
  /** Shows or removes the status line on the console; has no effect without a terminal. */
  show(status: StatusLine | null): void;
  /** Removes the status line, and echoed input. */
  clear(): void;
  /** Writes a progress line: to the file, and to a console without a status line. */
  logProgress(line: string): void;
  /** Writes buffered lines and closes the file; later lines go to the console only. */
  close(): Promise<void>;
}

export interface LineLoggerOptions {
  readonly timestamps: boolean;
  readonly micros: boolean;
  readonly categories: LogCategorySet;
  /** The time in milliseconds since 1970, with fractions. */
  readonly nowMs: () => number;
  /** Writes a line, which includes its line break. */
  readonly write: (line: string) => void;
}

/** Formats lines and decides which are written. Source: `LogTimestampStr`, `LogPrintf`, `LogPrint`. */
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

  /** `2026-01-01T00:00:00Z`, or with microseconds before the Z. */
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

/** Whether the log goes to the console. */
export function logsToConsole({ options }: LoadedOptions): boolean {
  return options.printtoconsole ?? !options.daemon;
}

/** Opens the log according to the options. Throws `OptionError` when the file cannot be written. */
export function createFileLogger(loaded: LoadedOptions, stream: ConsoleStream = process.stdout): FileLogger {
  const { options, paths } = loaded;
  const categories = new LogCategorySet();
  // Errors in these options are included in the warnings.
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
      // Writing to the old file continues.
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
        // Lines that could not be written until now are lost.
        file.once('error', () => resolve());
        file.end();
      });
    },
  };
}

/** Creates the network's own folder; other folders must exist. Source: `OpenDebugLog`. */
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
    // An unwritable log stops nothing: lines are buffered up to a limit, then dropped.
    file.on('error', (error) => {
      if (!failing) warn(`Warning: ${path} cannot be written, the node goes on: ${failureReason(error)}\n`);
      failing = true;
    });
    // Separates this run from the previous one.
    file.write('\n\n\n\n\n');
    return file;
  } catch (error) {
    // The reference's text; for a missing folder it is sufficient.
    const said = `Could not open debug log file ${path}`;
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new OptionError(said + placeOf('debuglogfile'));
    throw new OptionError(
      `${said}: ${(environmentError(error, path) as Error).message}${placeOf('debuglogfile')}`,
    );
  }
}

/** Cuts a log that exceeds its size by a tenth, keeping the end. Source: Core's `ShrinkDebugFile`. */
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
