/** The calling side: what was called and is not answered. */
import type { Transferable } from 'node:worker_threads';
import { assert } from '../util/assert.js';
import type { CrossingErrors } from './crossingErrors.js';
import { PIECES_AHEAD, type AnswerItem, type CallItem } from './protocol.js';

export type Outcome = { readonly value: unknown } | { readonly pieces: AsyncGenerator<unknown> };

export interface CallerDeps<Owner, Context extends readonly unknown[], Note> {
  readonly post: (item: CallItem<Context>, transfer: readonly Transferable[]) => void;
  readonly errors: CrossingErrors;
  /** Error of a call that was cancelled. */
  readonly cancelled?: () => Error;
  /** Called for each call that was answered. */
  readonly answered?: (owner: Owner, note: Note) => void;
}

/** `Owner` is whom a call is for, on this side; `Context` goes to the callee. */
export class Caller<Owner = null, Context extends readonly unknown[] = readonly [], Note = undefined> {
  private readonly deps: CallerDeps<Owner, Context, Note>;
  private readonly calls = new Map<number, { readonly answer: Answer; readonly owner: Owner }>();
  private nextId = 0;

  constructor(deps: CallerDeps<Owner, Context, Note>) {
    this.deps = deps;
  }

  /** Calls without an answer. */
  get waitingCount(): number {
    return this.calls.size;
  }

  /** `transfer` is handed over, and gone here. */
  call(
    method: string,
    args: readonly unknown[],
    transfer: readonly Transferable[],
    owner: Owner,
    ...context: Context
  ): Answer {
    const id = this.nextId++;
    const answer = new Answer((more) => this.deps.post(more === 0 ? ['cancel', id] : ['more', id, more], []));
    this.deps.post(['call', id, method, args, ...context], transfer);
    this.calls.set(id, { answer, owner });
    return answer;
  }

  receive(item: AnswerItem<Note>): void {
    const [kind, id] = item;
    const call = this.calls.get(id);
    // The calls of a thread that ended are over already.
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

  /** Ends all calls: with this error, or without it with no value. */
  endAll(error: Error | null): void {
    const calls = [...this.calls.values()];
    this.calls.clear();
    for (const { answer } of calls) {
      if (error === null) answer.settle(undefined);
      else answer.end(error);
    }
  }
}

/** Result of one call: a value, or pieces until the end. */
export class Answer {
  /** The start of the result: the value, or the stream of chunks. */
  readonly outcome: Promise<Outcome>;
  /** Requests this many more chunks; 0 cancels the call. */
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
    // A failure is reported to the reader of the chunks instead.
    this.outcome.catch(() => undefined);
  }

  /** An answer that is one value. */
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

  /** Breaking off cancels the call. */
  async *pieces(): AsyncGenerator<unknown> {
    try {
      for (let taken = 0; ; taken++) {
        // The first chunk is sent without a request.
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
