/**
 * Keeps V8's new space small while the process has little to do. V8 doubles the new space (up to 32 MiB a thread in Node 20 and
 * 22, more in Node 24) whenever enough objects survive, also during the start and under a light load, and keeps it for as
 * long as the load lasts. A larger new space saves processor time only under a heavy load. Source: V8 src/heap/new-spaces.cc `SemiSpaceNewSpace::Grow`.
 */
import { GROWTH_FACTOR, MAX_START_MS, setGrowthFactor } from '../../util/memory/startNewSpace.js';

/** Time in ms between two checks of the load. Arbitrary. */
const CHECK_MS = 1_000;
/** Number of checks in a row from which a load is more than a burst. Arbitrary. */
const BUSY_CHECKS = 2;
/** Share of a processor that a busy process takes. Arbitrary. */
const BUSY_SHARE = 0.6;
/** Number of characters from which an answer is large. Building a large answer allocates many times its size. Arbitrary. */
const LARGE_ANSWER = 10_000;
/** Number of characters of large answers between two checks from which the API counts as busy. Arbitrary: a few searches. */
const BUSY_ANSWERS = 200_000;

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
    setGrowthFactor,
  };
}

/** Keeps the new space of all threads at its present size until the next check of `NewSpace`. Each thread calls it at its start. */
export const keepNewSpace = (): void => setGrowthFactor(1);

/**
 * Lets the new space of all threads grow only while the process is busy. During the start, for at most three seconds, it keeps
 * its size.
 */
export class NewSpace {
  readonly #port: GrowthPort;
  #busyChecks = 0;
  #answered = 0;
  #mayGrow = false;
  /** Runs during the start, and then between two checks. Does not keep the process alive. */
  #timer: NodeJS.Timeout;

  constructor(port: GrowthPort = processPort()) {
    this.#port = port;
    port.setGrowthFactor(1);
    this.#timer = setTimeout(this.endStart, MAX_START_MS).unref();
  }

  /** Called at the end of the start. */
  readonly endStart = (): void => {
    clearTimeout(this.#timer);
    this.#timer = setInterval(() => this.#check(), CHECK_MS).unref();
  };

  /** Called with the number of characters of each answer of the API. After many large answers the new space may grow at once. */
  readonly noteAnswer = (length: number): void => {
    if (length >= LARGE_ANSWER) this.#answered += length;
    if (this.#answered >= BUSY_ANSWERS && !this.#mayGrow) this.#allow(true);
  };

  close(): void {
    clearTimeout(this.#timer);
  }

  #check(): void {
    this.#busyChecks = this.#port.busyShare() > BUSY_SHARE ? this.#busyChecks + 1 : 0;
    // In Node 20 and 22, V8 restores its default when a new thread gets its heap, so each check sets the flag.
    this.#allow(this.#busyChecks >= BUSY_CHECKS || this.#answered >= BUSY_ANSWERS);
    this.#answered = 0;
  }

  #allow(mayGrow: boolean): void {
    this.#mayGrow = mayGrow;
    this.#port.setGrowthFactor(mayGrow ? GROWTH_FACTOR : 1);
  }
}
