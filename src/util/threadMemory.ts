/**
 * Memory of the threads of a process. Each worker thread calls `reportMemory` at its start and responds to requests over a
 * broadcast channel, because before Node.js 22.16 the main thread cannot read the heap size of another thread.
 */
import { getHeapStatistics } from 'node:v8';
import { BroadcastChannel, isMainThread, threadId, type Worker } from 'node:worker_threads';

/** Memory of a cache in bytes. `maxBytes`: the limit of the cache; null for memory that only grows with the chain. */
export interface CacheUsage {
  readonly name: string;
  readonly bytes: number;
  readonly maxBytes: number | null;
}

/** Memory of a thread in bytes: its V8 heap and the caches. */
export interface ThreadUsage {
  readonly name: string;
  /** Size of the objects on the heap, including garbage that was not collected yet. */
  readonly heapUsed: number;
  /** Memory that V8 has allocated for the heap. */
  readonly heapTotal: number;
  /** Memory outside the heap, such as buffers. */
  readonly external: number;
  readonly caches: readonly CacheUsage[];
}

/** Report of a worker thread. `to`: number of the request; null for a report at the start of the thread. */
interface Report {
  readonly to: number | null;
  readonly thread: number;
  readonly usage: ThreadUsage;
}

/** Name of the broadcast channel, which all threads of the process share. */
const CHANNEL = 'lbcnode: memory of threads';
/** Maximum time to wait for reports. For a thread that is busy longer, its previous report is used. Arbitrary. */
const ANSWER_MS = 300;

/** Memory usage of the calling thread. */
function ownUsage(name: string, caches: readonly CacheUsage[] = []): ThreadUsage {
  const { used_heap_size, total_physical_size, external_memory } = getHeapStatistics();
  return {
    name,
    heapUsed: used_heap_size,
    heapTotal: total_physical_size,
    external: external_memory,
    caches,
  };
}

/** Makes the calling worker thread respond to requests for its memory usage. Without effect in the main thread. */
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

/**
 * Collects the memory reports of worker threads. Must be created by the thread that starts them, before it starts the first
 * one.
 */
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

  /** Requests a report from all threads. If a thread does not respond in time, its previous report is used. */
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
    // The last report of a thread may arrive after the thread has ended.
    if (this.ended.has(thread)) return;
    this.reports.set(thread, usage);
    if (to === this.question) this.answeredBy(thread);
  }

  private answeredBy(thread: number): void {
    this.waiting.delete(thread);
    if (this.waiting.size === 0) this.answered();
  }
}
