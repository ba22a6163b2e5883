/**
 * The SQLite backend: one thread that writes, a few that read, all on one file. Searches beyond those that run wait in a
 * bounded queue; waiting counts as time. A search ends itself when its time is up (`sqliteReader.ts`), so that no thread is
 * ever stopped in the middle of a statement.
 */
import { Worker } from 'node:worker_threads';
import { projectFile } from '../util/project.js';
import type { CensorLists } from './censor.js';
import type { IndexWriter } from './indexChange.js';
import { packArguments } from './packedSources.js';
import { SEARCH_TIMEOUT_MS, type BackendPage, type SearchBackend } from './searchBackend.js';
import { SearchError } from './searchError.js';
import type { SearchQuery } from './searchQuery.js';
import { SearchSlots } from './searchSlots.js';
import type { SqliteIndexOptions } from './sqliteIndexWriter.js';
import { loadSqlite } from '../sqlite/sqliteProvider.js';
import { errorOf, type WorkerAnswer, type WorkerRole } from './workerProtocol.js';

export interface SqliteBackendOptions extends SqliteIndexOptions {
  readonly lists: CensorLists;
  /** Threads that search. */
  readonly readers: number;
  readonly timeoutMs?: number;
}

export const WRITER_METHODS = [
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

/** A thread with the calls that it has not answered. */
export class WorkerPort {
  private readonly worker: Worker;
  private readonly calls = new Map<
    number,
    { resolve: (value: unknown) => void; reject: (error: Error) => void }
  >();
  private nextId = 0;
  private failure: Error | null = null;
  readonly exited: Promise<void>;

  /** `program` is the file of `dist/search` that answers calls in its role. */
  constructor(program: string, role: object) {
    this.worker = new Worker(projectFile('dist', 'search', program), { workerData: role });
    this.worker.unref();
    this.worker.on('message', (answer: WorkerAnswer) => {
      const call = this.calls.get(answer.id)!;
      this.calls.delete(answer.id);
      if ('error' in answer) call.reject(errorOf(answer.error));
      else call.resolve(answer.result);
    });
    this.worker.on('error', (error) => this.fail(error));
    this.exited = new Promise((resolve) => {
      this.worker.on('exit', () => {
        this.fail(new SearchError('unavailable', 'The search index is closed'));
        resolve();
      });
    });
  }

  call(method: string, args: readonly unknown[]): Promise<unknown> {
    if (this.failure !== null) return Promise.reject(this.failure);
    return new Promise((resolve, reject) => {
      const id = this.nextId++;
      this.calls.set(id, { resolve, reject });
      const packed = packArguments(args);
      this.worker.postMessage({ id, method, args: packed.args }, packed.transfer);
    });
  }

  private fail(error: Error): void {
    this.failure ??= error;
    for (const { reject } of this.calls.values()) reject(error);
    this.calls.clear();
  }
}

const workerPort = (role: WorkerRole): WorkerPort => new WorkerPort('searchWorker.js', role);

export class SqliteBackend implements SearchBackend {
  readonly description: string;
  readonly writer: IndexWriter;
  private readonly writing: WorkerPort;
  private readonly readers: readonly WorkerPort[];
  private readonly slots: SearchSlots<WorkerPort>;
  private readonly closing = new Int32Array(new SharedArrayBuffer(4));
  private isClosed = false;

  private constructor(description: string, options: SqliteBackendOptions) {
    this.description = description;
    const { path, chain, prefixes, lists } = options;
    this.writing = workerPort({ role: 'writer', index: { path, chain, prefixes, closing: this.closing } });
    this.readers = Array.from({ length: options.readers }, () => workerPort({ role: 'reader', path, lists }));
    this.slots = new SearchSlots(
      this.readers,
      { timeoutMs: options.timeoutMs ?? SEARCH_TIMEOUT_MS },
      (reader, query, leftMs) => reader.call('search', [query, leftMs]) as Promise<BackendPage>,
    );
    const calls = WRITER_METHODS.map((name) => [name, (...args: unknown[]) => this.write(name, args)]);
    this.writer = Object.fromEntries(calls) as IndexWriter;
  }

  /** Throws `EnvironmentError` where there is no SQLite. */
  static async open(options: SqliteBackendOptions): Promise<SqliteBackend> {
    const { name, version } = await loadSqlite();
    return new SqliteBackend(`SQLite ${version} (${name})`, options);
  }

  get load(): { readonly running: number; readonly waiting: number } {
    return this.slots.load;
  }

  search(query: SearchQuery, by: object): Promise<BackendPage> {
    return this.slots.search(query, by);
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    this.isClosed = true;
    this.slots.close();
    Atomics.store(this.closing, 0, 1);
    // The writer comes last: whoever closes the file last copies SQLite's log into it, which is the writer's alone to do.
    for (const ports of [this.readers, [this.writing]]) {
      await Promise.all(ports.map((port) => port.call('close', []).catch(() => undefined)));
      await Promise.all(ports.map((port) => port.exited));
    }
  }

  private async write(name: string, args: readonly unknown[]): Promise<unknown> {
    // The file is about to be deleted: nobody may hold it.
    if (name === 'startBuild') await Promise.all(this.readers.map((reader) => reader.call('release', [])));
    return this.writing.call(name, args);
  }
}
