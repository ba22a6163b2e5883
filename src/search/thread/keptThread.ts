/**
 * A thread of the search index that is restarted when it ends unexpectedly, after growing pauses and a limited number of
 * times. During a pause, calls fail with the reason.
 */
import type { IndexWriter } from '../follow/indexChange.js';
import { SearchError, ThreadEndedError } from '../query/searchError.js';
import type { SearchThread } from './searchThread.js';

export interface KeptThreadOptions {
  /** Name of the thread, in the form that begins a sentence of a message. */
  readonly name: string;
  readonly start: () => Pick<SearchThread, 'call' | 'exited' | 'isUp'>;
  readonly warn?: (text: string) => void;
  /** Called with the reason each time the thread has ended unexpectedly. */
  readonly onEnd?: (why: string) => void;
  /** Pauses in ms before the restarts. If the thread ends once more after the last restart, it is not restarted. */
  readonly pausesMs?: readonly number[];
  /** A monotonic clock in ms. */
  readonly nowMs?: () => number;
}

/**
 * Default pauses in milliseconds before restarts. Arbitrary: short after a single failure, and long after repeated failures
 * so that the processor is not busy with restarts.
 */
const PAUSES_MS = [1000, 5000, 30_000, 120_000];
/** Time in ms that a thread must run before its earlier failures are forgotten. Arbitrary. */
const STEADY_MS = 600_000;

export class KeptThread {
  private readonly options: KeptThreadOptions;
  private readonly pausesMs: readonly number[];
  private readonly nowMs: () => number;
  private port: ReturnType<KeptThreadOptions['start']> | null = null;
  private failure: ThreadEndedError | null = null;
  private timer: NodeJS.Timeout | null = null;
  private startedMs = 0;
  private ends = 0;
  private startCount = 0;
  private isClosed = false;

  /** Starts the thread. */
  constructor(options: KeptThreadOptions) {
    this.options = options;
    this.pausesMs = options.pausesMs ?? PAUSES_MS;
    this.nowMs = options.nowMs ?? (() => performance.now());
    this.start();
  }

  /** Number of times that the thread was started. */
  get starts(): number {
    return this.startCount;
  }

  get isUp(): boolean {
    return this.port?.isUp === true;
  }

  call(method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.isClosed) return Promise.reject(new SearchError('unavailable', 'The search index is closed'));
    return this.port?.call(method, args) ?? Promise.reject(this.failure!);
  }

  /** Closes the thread. Resolves when it has ended. */
  async close(): Promise<void> {
    const { port } = this;
    this.isClosed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    if (port === null) return;
    await port.call('close', []).catch(() => undefined);
    await port.exited;
  }

  private start(): void {
    const port = this.options.start();
    this.port = port;
    this.failure = null;
    this.startedMs = this.nowMs();
    this.startCount++;
    void port.exited.then((why) => {
      if (!this.isClosed) this.ended(why);
    });
  }

  private ended(reason: string): void {
    const { name, warn, onEnd } = this.options;
    if (this.nowMs() - this.startedMs >= STEADY_MS) this.ends = 0;
    const pauseMs = this.pausesMs[this.ends++];
    const then =
      pauseMs === undefined ? 'It is not restarted any more: restart the node' : 'It will be restarted';
    const why = `${name} has exited: ${reason}. ${then}`;
    this.port = null;
    this.failure = new ThreadEndedError(why);
    warn?.(why);
    onEnd?.(why);
    if (pauseMs === undefined) return;
    this.timer = setTimeout(() => {
      try {
        this.start();
      } catch (error) {
        this.ended((error as Error).message);
      }
    }, pauseMs);
    this.timer.unref();
  }
}

/** Returns `thread` or, while it is not running, another running thread. */
export function standIn<Thread extends { readonly isUp: boolean }>(
  thread: Thread,
  all: readonly Thread[],
): Thread {
  return thread.isUp ? thread : (all.find(({ isUp }) => isUp) ?? thread);
}

const WRITER_METHODS = [
  'state',
  'notes',
  'note',
  'repostsOf',
  'applyBlocks',
  'rewind',
  'refresh',
  'startBuild',
  'addClaims',
  'endClaims',
  'addScores',
  'endBuild',
  'scrub',
  'close',
] as const satisfies readonly (keyof IndexWriter)[];

/**
 * Returns a writer that runs in a thread. If the thread ends, its unwritten data is lost, so the caller must read the state
 * again before it continues. `beforeBuild` is awaited before the index file is deleted.
 */
export function writerIn(thread: KeptThread, beforeBuild: () => Promise<void> = async () => {}): IndexWriter {
  let known = thread.starts;
  const call = async (name: string, args: readonly unknown[]): Promise<unknown> => {
    if (name === 'startBuild') await beforeBuild();
    if (name === 'state') known = thread.starts;
    else if (known !== thread.starts) {
      throw new SearchError('unavailable', 'The thread that writes the search index was restarted');
    }
    return thread.call(name, args);
  };
  const calls = WRITER_METHODS.map((name) => [name, (...args: unknown[]) => call(name, args)]);
  return Object.fromEntries(calls) as IndexWriter;
}
