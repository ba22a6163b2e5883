/** The calling side of two threads: stores the calls that have no result yet. */
import type { Transferable } from 'node:worker_threads';
import { assert } from '../util/assert.js';
import type { CrossingErrors } from './crossingErrors.js';
import { PIECES_AHEAD, type AnswerItem, type CallItem } from './protocol.js';

export type Outcome = { readonly value: unknown } | { readonly pieces: AsyncGenerator<unknown> };

export interface CallerDeps<Owner, Context extends readonly unknown[], Note> {
  readonly post: (item: CallItem<Context>, transfer: readonly Transferable[]) => void;
  readonly errors: CrossingErrors;
  /** Creates the error with which a cancelled call rejects. */
  readonly cancelled?: () => Error;
  /** Called for each call that received a result or an error. */
  readonly answered?: (owner: Owner, note: Note) => void;
}

/**
 * Sends calls to another thread. `Owner` identifies the originator of a call, and stays on this side. `Context` is sent to
 * the other thread with each call.
 */
export class Caller<Owner = null, Context extends readonly unknown[] = readonly [], Note = undefined> {
  private readonly deps: CallerDeps<Owner, Context, Note>;
  private readonly calls = new Map<number, { readonly answer: ThreadAnswer; readonly owner: Owner }>();
  private nextId = 0;

  constructor(deps: CallerDeps<Owner, Context, Note>) {
    this.deps = deps;
  }

  /** Number of calls without a result. */
  get waitingCount(): number {
    return this.calls.size;
  }

  /** Sends a call. The buffers in `transfer` move to the other thread, so this thread cannot use them afterwards. */
  call(
    method: string,
    args: readonly unknown[],
    transfer: readonly Transferable[],
    owner: Owner,
    ...context: Context
  ): ThreadAnswer {
    const id = this.nextId++;
    const answer = new ThreadAnswer((more) =>
      this.deps.post(more === 0 ? ['cancel', id] : ['more', id, more], []),
    );
    this.deps.post(['call', id, method, args, ...context], transfer);
    this.calls.set(id, { answer, owner });
    return answer;
  }

  receive(item: AnswerItem<Note>): void {
    const [kind, id] = item;
    const call = this.calls.get(id);
    // After the end of a thread its calls are not stored.
    if (call === undefined) return;
    const { answer, owner } = call;
    if (kind === 'piece') return answer.take(item[2]);
    this.calls.delete(id);
    if (kind !== 'gone') this.deps.answered?.(owner, item[2]);
    if (kind === 'value') answer.settle(item[3]);
    else if (kind === 'end') answer.end(null);
    else if (kind === 'error') answer.end(this.deps.errors.restore(item[3]));
    else answer.end(this.deps.cancelled?.() ?? new Error('The call was cancelled'));
  }

  /** Ends all calls: they reject with `error`, or resolve to undefined if `error` is null. */
  endAll(error: Error | null): void {
    const calls = [...this.calls.values()];
    this.calls.clear();
    for (const { answer } of calls) {
      if (error === null) answer.settle(undefined);
      else answer.end(error);
    }
  }
}

/** Result of one call: a single value, or a stream of chunks. */
export class ThreadAnswer {
  /** Resolves with the value, or with the stream of chunks once the first chunk has arrived. */
  readonly outcome: Promise<Outcome>;
  /** Sends a request for `more` further chunks of the result; 0 cancels the call. */
  private readonly tell: (more: number) => void;
  private begin!: (outcome: Outcome) => void;
  private refuse!: (error: Error) => void;
  private readonly waiting: unknown[] = [];
  private hasBegun = false;
  private isOver = false;
  private failure: Error | null = null;
  private wake: () => void = () => undefined;

  constructor(tell: (more: number) => void) {
    this.tell = tell;
    this.outcome = new Promise((resolve, reject) => {
      this.begin = resolve;
      this.refuse = reject;
    });
    // Prevents an unhandled rejection, because the reader of the chunks gets the error.
    this.outcome.catch(() => undefined);
  }

  /** The value of a result that is not a stream. */
  async value(): Promise<unknown> {
    const outcome = await this.outcome;
    assert('value' in outcome, 'the answer is one value');
    return outcome.value;
  }

  settle(value: unknown): void {
    this.isOver = true;
    this.begin({ value });
    this.wake();
  }

  take(piece: unknown): void {
    this.waiting.push(piece);
    this.changed();
  }

  end(failure: Error | null): void {
    this.isOver = true;
    this.failure = failure;
    if (failure !== null) this.refuse(failure);
    this.changed();
  }

  private changed(): void {
    if (!this.hasBegun && this.failure === null) this.begin({ pieces: this.pieces() });
    this.hasBegun = true;
    this.wake();
  }

  /** Iterates over the chunks. If the caller leaves the iteration early, the call is cancelled. */
  async *pieces(): AsyncGenerator<unknown> {
    try {
      for (let taken = 0; ; taken++) {
        // The first chunk is sent without a request, so requests start with the second.
        if (taken > 0 && !this.isOver) this.tell(taken === 1 ? PIECES_AHEAD : 1);
        while (this.waiting.length === 0 && !this.isOver)
          await new Promise<void>((resolve) => (this.wake = resolve));
        if (this.waiting.length > 0) {
          yield this.waiting.shift();
          continue;
        }
        if (this.failure !== null) throw this.failure;
        return;
      }
    } finally {
      if (!this.isOver) this.tell(0);
    }
  }
}
