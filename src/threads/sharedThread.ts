/**
 * A worker thread that several programs share, each with a port of its own, because each thread takes memory for a JavaScript
 * heap of its own. The thread runs `serveSharedThread`. It starts with the first program and ends after the last one.
 */
import { EventEmitter } from 'node:events';
import { pathToFileURL } from 'node:url';
import { MessageChannel, Worker, type MessagePort, type Transferable } from 'node:worker_threads';
import { projectFile } from '../util/project.js';
import type { StartMessage } from './serveSharedThread.js';
import type { ThreadEnd } from './callThread.js';

export class SharedThread {
  private readonly program: readonly string[];
  private thread: { readonly worker: Worker; readonly places: Set<ThreadPlace> } | null = null;

  /** `program`: path below `dist` of the program that calls `serveSharedThread`. */
  constructor(program: readonly string[]) {
    this.program = program;
  }

  /**
   * Starts a program, whose module exports `serve`. The result emits `exit` when the program has closed its port; the last
   * program when the thread has ended.
   */
  start(program: readonly string[], data: unknown, transfer: readonly Transferable[] = []): ThreadEnd {
    const { worker, places } = (this.thread ??= this.startWorker());
    const { port1, port2 } = new MessageChannel();
    const place = new ThreadPlace(port1, () => {
      places.delete(place);
      if (places.size > 0) return place.end(0);
      if (this.thread?.worker === worker) this.thread = null;
      worker.once('exit', (code) => place.end(code));
      worker.ref();
      worker.postMessage(null);
    });
    places.add(place);
    const message: StartMessage = {
      module: pathToFileURL(projectFile('dist', ...program)).href,
      data,
      port: port2,
    };
    worker.postMessage(message, [port2, ...transfer]);
    return place;
  }

  private startWorker(): { readonly worker: Worker; readonly places: Set<ThreadPlace> } {
    const worker = new Worker(projectFile('dist', ...this.program));
    const places = new Set<ThreadPlace>();
    worker.unref();
    worker.on('error', (error) => {
      for (const place of places) place.emit('error', error);
    });
    worker.on('exit', (code) => {
      if (this.thread?.worker === worker) this.thread = null;
      for (const place of [...places]) place.end(code);
    });
    return { worker, places };
  }
}

/** Connection to a program in the shared thread, in the starting thread. */
class ThreadPlace extends EventEmitter implements ThreadEnd {
  private readonly port: MessagePort;
  private hasEnded = false;

  constructor(port: MessagePort, onClosed: () => void) {
    super();
    this.port = port;
    port.on('message', (items) => this.emit('message', items));
    port.on('close', () => {
      if (!this.hasEnded) onClosed();
    });
    port.unref();
  }

  postMessage(message: unknown, transfer: readonly Transferable[]): void {
    this.port.postMessage(message, transfer);
  }

  ref(): void {
    this.port.ref();
  }

  unref(): void {
    this.port.unref();
  }

  terminate(): Promise<void> {
    this.port.close();
    return Promise.resolve();
  }

  end(code: number): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.port.close();
    this.emit('exit', code);
  }
}
