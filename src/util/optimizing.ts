/**
 * Controls how soon V8 optimizes code, in the whole process. The compiler's threads compete with other threads, and code that
 * runs once for a short time ends before its optimized form is used.
 */
import { setFlagsFromString } from 'node:v8';

/**
 * Bytes of bytecode that a function runs before V8 optimizes it. `soon` is V8's default, `late` is some nine times as much.
 * Measured: `docs/benchmarks.md`.
 */
const AFTER_BYTES = { late: 600_000, soon: 67_584 } as const;
/** First Node.js version whose V8 counts this budget in another way. From this version on the setting is not changed. */
const OTHER_COUNT_SINCE_NODE = 22;

export type OptimizingTime = keyof typeof AFTER_BYTES;

export class Optimizing {
  private readonly setFlags: (flags: string) => void;
  /** The time that applies outside `late`; null if the program leaves it to V8. */
  private time: OptimizingTime | null = null;
  private lateTasks = 0;

  constructor(nodeVersion = process.versions.node, setFlags = setFlagsFromString) {
    this.setFlags = parseInt(nodeVersion) < OTHER_COUNT_SINCE_NODE ? setFlags : () => undefined;
  }

  set(time: OptimizingTime): void {
    this.time = time;
    this.apply();
  }

  /** Code that first runs during the task is optimized late. Without effect if the program did not call `set`. */
  async late<T>(task: () => Promise<T>): Promise<T> {
    this.lateTasks++;
    this.apply();
    try {
      return await task();
    } finally {
      this.lateTasks--;
      this.apply();
    }
  }

  private apply(): void {
    if (this.time !== null)
      this.setFlags(`--interrupt-budget=${AFTER_BYTES[this.lateTasks > 0 ? 'late' : this.time]}`);
  }
}

/** V8 has one setting for the process. */
export const optimizing = new Optimizing();
