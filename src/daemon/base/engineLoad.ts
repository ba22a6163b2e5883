/**
 * Adapts V8 to the load. While the process has little to do, its new space stays small, its code is optimized late, and code that
 * is not in use is unmapped.
 *
 * V8 doubles the new space (up to 32 MiB a thread in Node 20 and 22, more in Node 24) whenever enough objects survive, also
 * during the start and under a light load, and keeps it for as long as the load lasts. A larger new space saves processor time
 * only under a heavy load. Source: V8 src/heap/new-spaces.cc `SemiSpaceNewSpace::Grow`. Optimized code, its feedback and the
 * compiler's memory take some 10 MiB, and under a light load the compiler takes more time than it saves.
 */
import { GROWTH_FACTOR, MAX_START_MS, setGrowthFactor } from '../../util/memory/startNewSpace.js';
import { optimizing, type OptimizingTime } from '../../util/optimizing.js';
import { codeUnmapper } from './idleMemory.js';

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
/** Time in ms between two settings of the growth factor during the start. Arbitrary. */
const KEEP_MS = 50;

/** Access to V8 and to the load of the process. Tests replace it. */
export interface EnginePort {
  /** Share of one processor that all threads took since the last call. */
  readonly busyShare: () => number;
  readonly setGrowthFactor: (factor: number) => void;
  readonly setOptimizing: (time: OptimizingTime) => void;
  readonly unmapIdleCode: () => void;
}

function processPort(): EnginePort {
  let [usage, atMs] = [process.cpuUsage(), performance.now()];
  return {
    busyShare: () => {
      const [before, beforeMs] = [usage, atMs];
      [usage, atMs] = [process.cpuUsage(), performance.now()];
      const usedMs = (usage.user + usage.system - before.user - before.system) / 1000;
      return usedMs / Math.max(1, atMs - beforeMs);
    },
    setGrowthFactor,
    setOptimizing: (time) => optimizing.set(time),
    unmapIdleCode: codeUnmapper(),
  };
}

/** Keeps the new space of all threads at its present size until the next check of `EngineLoad`. Each thread calls it at its start. */
export const keepNewSpace = (): void => setGrowthFactor(1);

/**
 * Lets the new space of all threads grow, and V8 optimize code soon, only while the process is busy. Otherwise unmaps code. During
 * the start, for at most three seconds, the process does not count as busy.
 */
export class EngineLoad {
  readonly #port: EnginePort;
  #busyChecks = 0;
  #answered = 0;
  #isBusy = false;
  /** Ends the start. Does not keep the process alive. */
  readonly #start: NodeJS.Timeout;
  /** Runs during the start, and then between two checks. Does not keep the process alive. */
  #timer: NodeJS.Timeout;

  constructor(port: EnginePort = processPort()) {
    this.#port = port;
    this.#adapt(false);
    // In Node 20 and 22, V8 restores its default growth factor when a new thread gets its heap.
    this.#timer = setInterval(() => port.setGrowthFactor(1), KEEP_MS).unref();
    this.#start = setTimeout(this.endStart, MAX_START_MS).unref();
  }

  /** Called at the end of the start. */
  readonly endStart = (): void => {
    clearTimeout(this.#start);
    clearInterval(this.#timer);
    this.#timer = setInterval(() => this.#check(), CHECK_MS).unref();
  };

  /** Called with the number of characters of each answer of the API. After many large answers the process counts as busy at once. */
  readonly noteAnswer = (length: number): void => {
    if (length >= LARGE_ANSWER) this.#answered += length;
    if (this.#answered >= BUSY_ANSWERS && !this.#isBusy) this.#adapt(true);
  };

  close(): void {
    clearTimeout(this.#start);
    clearInterval(this.#timer);
  }

  #check(): void {
    this.#busyChecks = this.#port.busyShare() > BUSY_SHARE ? this.#busyChecks + 1 : 0;
    this.#adapt(this.#busyChecks >= BUSY_CHECKS || this.#answered >= BUSY_ANSWERS);
    this.#answered = 0;
    if (this.#busyChecks === 0 && !this.#isBusy) this.#port.unmapIdleCode();
  }

  #adapt(isBusy: boolean): void {
    this.#isBusy = isBusy;
    this.#port.setGrowthFactor(isBusy ? GROWTH_FACTOR : 1);
    this.#port.setOptimizing(isBusy ? 'soon' : 'late');
  }
}
