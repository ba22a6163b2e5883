/**
 * `-dbcrashratio`: kills the process at random during flushes, to test recovery from a crash. Source:
 * `CCoinsViewDB::BatchWrite`.
 */
import { randomInt } from 'node:crypto';
import type { Logger } from '../../util/logging.js';

/** Prefix of the named points of database writes. */
const FLUSH_POINTS = 'flush:';

export interface CrashDeps {
  log: Logger;
  /** Returns an integer from 0 up to but not including `bound`; default: the system's random numbers. */
  random?: (bound: number) => number;
  /** Kills the process without cleanup. */
  die?: () => void;
}

/** Handles named points; kills the process at one in `ratio` of the flush points. Undefined if disabled. */
export function simulatedCrashes(
  ratio: number,
  { log, random = randomInt, die = killSelf }: CrashDeps,
): ((point: string) => void) | undefined {
  if (ratio <= 0) return undefined;
  return (point) => {
    if (!point.startsWith(FLUSH_POINTS) || random(ratio) !== 0) return;
    log.info('Simulating a crash. Goodbye.');
    die();
  };
}

function killSelf(): void {
  process.kill(process.pid, 'SIGKILL');
}
