/**
 * Memory of the threads of a process. Each worker thread calls `reportMemory` at its start and answers questions over a
 * broadcast channel, because the main thread cannot read the heap of another thread before Node.js 22.16.
 */
import { getHeapStatistics } from 'node:v8';
import { BroadcastChannel, isMainThread, threadId, type Worker } from 'node:worker_threads';

/** Bytes that a cache holds, and the bound that it keeps to; null for what grows with the chain alone. */
export interface CacheUsage {
  readonly name: string;
  readonly bytes: number;
  readonly maxBytes: number | null;
}

/** The V8 heap of a thread in bytes. */
export interface ThreadUsage {
  readonly name: string;
  /** Objects, dead ones included until the next collection. */
  readonly heapUsed: number;
  /** Memory that V8 holds for them. */
  readonly heapTotal: number;
  /** Buffers and the like outside the heap. */
  readonly external: number;
  readonly caches: readonly CacheUsage[];
}

/** From a worker: `to` is the number of the question, null for a thread that has just started. */
interface Report {
  readonly to: number | null;
  readonly thread: number;
  readonly usage: ThreadUsage;
}

/** Threads of the same process share the channel. */
const CHANNEL = 'lbcnode: memory of threads';
/** A thread that is busy for longer is shown as it was when it last answered. Arbitrary. */
const ANSWER_MS = 300;

/** The heap of the calling thread. */
export function ownUsage(name: string, caches: readonly CacheUsage[] = []): ThreadUsage {
  const { used_heap_size, total_physical_size, external_memory } = getHeapStatistics();
  return {
    name,
    heapUsed: used_heap_size,
    heapTotal: total_physical_size,
    external: external_memory,
    caches,
  };
}

/** Makes the calling worker thread answer questions. Does nothing in the main thread. */
export function reportMemory(name: string, caches: () => readonly CacheUsage[] = () => []): void {
  if (isMainThread) return;
  const channel = new BroadcastChannel(CHANNEL);
  const tell = (to: number | null): void => {
    channel.postMessage({ to, thread: threadId, usage: ownUsage(name, caches()) } satisfies Report);
  };
  channel.onmessage = ({ data }: { data: number | Report }) => {
    if (typeof data === 'number') tell(data);
  };
  channel.unref();
  tell(null);
}

/** The worker threads that report, as the thread that starts them sees them. Make it before the first of them starts. */
export class ThreadMemory {
  private readonly channel = new BroadcastChannel(CHANNEL);
  /** The last report of each thread. */
  private readonly reports = new Map<number, ThreadUsage>();
  private readonly ended = new Set<number>();
  private waiting = new Set<number>();
  private question = 0;
  private answered: () => void = () => undefined;
  private readonly follow = (worker: Worker): void => {
    const { threadId: thread } = worker;
    worker.once('exit', () => {
      this.ended.add(thread);
      this.reports.delete(thread);
      this.answeredBy(thread);
    });
  };

  constructor() {
    this.channel.onmessage = ({ data }: { data: number | Report }) => {
      if (typeof data !== 'number') this.take(data);
    };
    this.channel.unref();
    process.on('worker', this.follow);
  }

  close(): void {
    process.off('worker', this.follow);
    this.channel.close();
    this.answered();
  }

  /** Asks all threads. One that does not answer in time is shown as it was. */
  async usage(): Promise<readonly ThreadUsage[]> {
    if (this.reports.size > 0) {
      this.answered();
      this.waiting = new Set(this.reports.keys());
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ANSWER_MS);
        this.answered = () => {
          clearTimeout(timer);
          resolve();
        };
        this.channel.postMessage(++this.question);
      });
    }
    return [...this.reports.values()];
  }

  private take({ to, thread, usage }: Report): void {
    // Its last words may arrive behind its end.
    if (this.ended.has(thread)) return;
    this.reports.set(thread, usage);
    if (to === this.question) this.answeredBy(thread);
  }

  private answeredBy(thread: number): void {
    this.waiting.delete(thread);
    if (this.waiting.size === 0) this.answered();
  }
}
