/** `-dbcrashratio`: lets the process die in the middle of flushes, to test what a crash leaves. Source: `CCoinsViewDB::BatchWrite`. */
import { randomInt } from 'node:crypto';
import type { Logger } from '../../util/logging.js';

/** The named points of writing to the database begin so. */
const FLUSH_POINTS = 'flush:';

export interface CrashDeps {
  log: Logger;
  /** A whole number from 0 up to below `bound`; by default the system's randomness. */
  random?: (bound: number) => number;
  /** Kills the process without cleanup. */
  die?: () => void;
}

/** Takes the names of points that are passed; dies at one of `ratio` of those of a flush. Undefined when it never does. */
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
