/**
 * The log: lines in lbrynet's format, on the console and in a rotated file of the data folder. Source: lbry-sdk
 * lbry/extras/cli.py `setup_logging`.
 */
import { appendFileSync, renameSync, rmSync, statSync } from 'node:fs';
import type { Logger } from '../../util/logging.js';
import { refuseSpecialFile } from '../../util/files/specialFile.js';

/** Size in bytes at which the log file is rotated, and number of old files that stay. Source: `RotatingFileHandler`. */
const MAX_FILE_BYTES = 2_097_152;
const KEPT_FILES = 5;

export interface DaemonLogOptions {
  /** Path of the log file; null to write no file. */
  readonly path: string | null;
  readonly toConsole: boolean;
  readonly isVerbose: boolean;
}

/** Time stamp of a log line, such as `2020-01-31 12:00:00,000`, in local time. */
function stamp(date: Date): string {
  const two = (number: number): string => String(number).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  const time = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return `${day} ${time},${String(date.getMilliseconds()).padStart(3, '0')}`;
}

const LEVEL_WIDTH = 8;

export class DaemonLog implements Logger {
  readonly #options: DaemonLogOptions;
  #bytes: number;

  constructor(options: DaemonLogOptions) {
    this.#options = options;
    this.#bytes = options.path === null ? 0 : (statSync(options.path, { throwIfNoEntry: false })?.size ?? 0);
  }

  info(message: string): void {
    this.#write('INFO', message);
  }

  warn(message: string): void {
    this.#write('WARNING', message);
  }

  error(message: string): void {
    this.#write('ERROR', message);
  }

  debug(category: Parameters<Logger['debug']>[0], message: string | (() => string)): void {
    if (this.#options.isVerbose)
      this.#write('DEBUG', `${category}: ${typeof message === 'string' ? message : message()}`);
  }

  willLog(): boolean {
    return this.#options.isVerbose;
  }

  #write(level: string, message: string): void {
    const line = `${stamp(new Date())} ${level.padEnd(LEVEL_WIDTH)} lbcnet: ${message}\n`;
    if (this.#options.toConsole) process.stderr.write(line);
    const { path } = this.#options;
    if (path === null) return;
    try {
      refuseSpecialFile(path);
      appendFileSync(path, line);
      this.#bytes += Buffer.byteLength(line);
      if (this.#bytes > MAX_FILE_BYTES) this.#rollOver(path);
    } catch (error) {
      // An error while writing the log must not end the daemon, so the error is printed on the console.
      if (this.#options.toConsole)
        process.stderr.write(`the log cannot be written: ${(error as Error).message}\n`);
    }
  }

  #rollOver(path: string): void {
    rmSync(`${path}.${KEPT_FILES}`, { force: true });
    for (let n = KEPT_FILES - 1; n >= 1; n--) {
      if (statSync(`${path}.${n}`, { throwIfNoEntry: false })) renameSync(`${path}.${n}`, `${path}.${n + 1}`);
    }
    renameSync(path, `${path}.1`);
    this.#bytes = 0;
  }
}
