/**
 * Keeps V8's new space small while the process has little to do. V8 doubles the new space (up to 32 MiB a thread in Node 20 and
 * 22, more in Node 24) whenever enough objects survive, also during the start and under a light load, and keeps it for as
 * long as the load lasts. A larger new space saves processor time only under a heavy load. Source: V8 src/heap/new-spaces.cc `SemiSpaceNewSpace::Grow`.
 */
import { setFlagsFromString } from 'node:v8';

/** V8's default. */
const GROWTH_FACTOR = 2;
/** Time in ms after which the new space may grow although the start has not finished. */
const START_MS = 3_000;
/** Time in ms between two checks of the load. Arbitrary. */
const CHECK_MS = 1_000;
/** Number of checks in a row from which a load is more than a burst. Arbitrary. */
const BUSY_CHECKS = 2;
/** Share of a processor that a busy process takes. Arbitrary. */
const BUSY_SHARE = 0.6;

/** Access to V8 and to the load of the process. Tests replace it. */
export interface GrowthPort {
  /** Share of one processor that all threads took since the last call. */
  readonly busyShare: () => number;
  readonly setGrowthFactor: (factor: number) => void;
}

function processPort(): GrowthPort {
  let [usage, atMs] = [process.cpuUsage(), performance.now()];
  return {
    busyShare: () => {
      const [before, beforeMs] = [usage, atMs];
      [usage, atMs] = [process.cpuUsage(), performance.now()];
      const usedMs = (usage.user + usage.system - before.user - before.system) / 1000;
      return usedMs / Math.max(1, atMs - beforeMs);
    },
    setGrowthFactor: (factor) => setFlagsFromString(`--semi-space-growth-factor=${factor}`),
  };
}

/**
 * Lets the new space of all threads grow only while the process is busy. In Node 20 and 22, V8 restores its default when a new
 * thread gets its heap, so each check sets the flag. The checks do not keep the process alive.
 */
export function growWhileBusy({ busyShare, setGrowthFactor }: GrowthPort = processPort()): NodeJS.Timeout {
  let busyChecks = 0;
  return setInterval(() => {
    busyChecks = busyShare() > BUSY_SHARE ? busyChecks + 1 : 0;
    setGrowthFactor(busyChecks >= BUSY_CHECKS ? GROWTH_FACTOR : 1);
  }, CHECK_MS).unref();
}

/**
 * Keeps the new space of all threads at its present size during the start, for at most three seconds. Returns a function that
 * ends the start. Then the new space grows while the process is busy. Threads that start call `keepNewSpace`.
 */
export function limitNewSpace(): () => void {
  keepNewSpace();
  let isStarting = true;
  const endStart = (): void => {
    if (isStarting) growWhileBusy();
    isStarting = false;
    clearTimeout(timer);
  };
  const timer = setTimeout(endStart, START_MS).unref();
  return endStart;
}

/** Keeps the new space of all threads at its present size until the next check of `growWhileBusy`. */
export const keepNewSpace = (): void => setFlagsFromString('--semi-space-growth-factor=1');
