/**
 * One end of a port between two threads. Both sides call methods of the other side and send other items (messages) through
 * it. Each item is posted immediately.
 */
import type { Transferable } from 'node:worker_threads';
import type { PostingPort } from './batches.js';
import { Callee, answerCall } from './callee.js';
import { Caller } from './caller.js';
import type { CrossingErrors } from './crossingErrors.js';
import type { AnswerItem, Answered, CallItem } from './protocol.js';

/** An item (message) that one module defines. Its kind differs from those of `CallItem` and `AnswerItem`. */
export type OwnItem = readonly [kind: string, ...rest: unknown[]];

/** An item (message) that arrives through a link. */
export type LinkItem<Own extends OwnItem> = Own | CallItem | AnswerItem;

/**
 * `Ours`: the methods that the other side calls. `Received`: the additional items that the other side sends. `Sent`: the
 * additional items that this side sends.
 */
export interface ThreadLinkOptions<Ours, Sent extends OwnItem, Received extends OwnItem> {
  readonly port: PostingPort;
  readonly methods: Ours;
  readonly errors: CrossingErrors;
  readonly take: (item: Received) => void;
  /** Returns an item that is posted before each other item, in the same message; null for none. */
  readonly first?: () => Sent | null;
}

type Result<Methods, Name extends keyof Methods> = Methods[Name] extends (...args: never[]) => infer Value
  ? Promise<Answered<Value>>
  : never;
type Arguments<Methods, Name extends keyof Methods> = Methods[Name] extends (...args: infer Args) => unknown
  ? Args
  : never;

export class ThreadLink<Ours extends object, Theirs, Sent extends OwnItem, Received extends OwnItem> {
  private readonly options: ThreadLinkOptions<Ours, Sent, Received>;
  private readonly callee: Callee;
  private readonly caller: Caller;
  private failure: Error | null = null;

  constructor(options: ThreadLinkOptions<Ours, Sent, Received>) {
    this.options = options;
    this.callee = new Callee((item, transfer) => this.post(item, transfer));
    this.caller = new Caller({
      post: (item, transfer) => this.post(item, transfer),
      errors: options.errors,
    });
  }

  /**
   * Calls a method of the other side whose answer is one value. Rejects with the error of the method, or with the error that
   * was passed to `end`.
   */
  async call<Name extends keyof Theirs & string>(
    name: Name,
    ...args: Arguments<Theirs, Name>
  ): Promise<Awaited<Result<Theirs, Name>>> {
    if (this.failure !== null) throw this.failure;
    return (await this.caller.call(name, args as readonly unknown[], [], null).value()) as Awaited<
      Result<Theirs, Name>
    >;
  }

  /** Sends an additional item (one that is neither a call nor an answer). */
  send(item: Sent): void {
    this.post(item, []);
  }

  /** Handles a message that the other side posted. */
  receive(items: readonly LinkItem<Received>[]): void {
    if (this.failure === null) for (const item of items) this.take(item);
  }

  /** Ends the link: rejects the waiting calls and all later calls with this error. After that nothing is sent or received. */
  end(error: Error): void {
    this.failure ??= error;
    this.caller.endAll(this.failure);
  }

  private take(item: LinkItem<Received>): void {
    switch (item[0]) {
      case 'call':
        return this.answer(item as Extract<CallItem, readonly ['call', ...unknown[]]>);
      case 'more':
      case 'cancel':
        return this.callee.receive(item as Exclude<CallItem, readonly ['call', ...unknown[]]>);
      case 'value':
      case 'piece':
      case 'end':
      case 'error':
      case 'gone':
        return this.caller.receive(item as AnswerItem);
      default:
        return this.options.take(item as Received);
    }
  }

  private answer([, id, name, args]: Extract<CallItem, readonly ['call', ...unknown[]]>): void {
    const { methods, errors } = this.options;
    const work = (): unknown =>
      (methods as Record<string, (...all: readonly unknown[]) => unknown>)[name]!(...args);
    void answerCall(this.callee, this.callee.begin(id), work, (error) => errors.cross(error));
  }

  private post(item: Sent | CallItem | AnswerItem, transfer: readonly Transferable[]): void {
    if (this.failure !== null) return;
    const { port, first } = this.options;
    const before = first?.() ?? null;
    port.postMessage(before === null ? [item] : [before, item], transfer);
  }
}
