/**
 * Implements `-dbcrashratio`: kills the process at random points of flushes, in order to test the recovery from a crash.
 * Source: `CCoinsViewDB::BatchWrite`.
 */
import { randomInt } from 'node:crypto';
import type { Logger } from '../../util/logging.js';

/** Name prefix of the points in the code at which a flush may be interrupted. */
const FLUSH_POINTS = 'flush:';

export interface CrashDeps {
  log: Logger;
  /** Returns an integer from 0 up to but not including `bound`; default: the system's random numbers. */
  random?: (bound: number) => number;
  /** Ends the process immediately, without cleanup. Tests pass another function. */
  die?: () => void;
}

/**
 * Returns a handler for named points of the code. At each flush point it kills the process with probability 1/`ratio`.
 * Undefined if crashes are disabled.
 */
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
