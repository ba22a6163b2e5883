/**
 * One end of a port where both sides call each other's methods and send items of their own beside the calls. Each item is
 * posted at once.
 */
import type { Transferable } from 'node:worker_threads';
import type { PostingPort } from './batches.js';
import { Callee, answerCall } from './callee.js';
import { Caller } from './caller.js';
import type { CrossingErrors } from './crossingErrors.js';
import type { AnswerItem, Answered, CallItem } from './protocol.js';

/** An item of a module's own. Its kind differs from those of `CallItem` and `AnswerItem`. */
export type OwnItem = readonly [kind: string, ...rest: unknown[]];

/** An item that comes over a link. */
export type LinkItem<Own extends OwnItem> = Own | CallItem | AnswerItem;

/** `Ours` are the methods that the other side calls, `Received` its own items, and `Sent` those of this side. */
export interface ThreadLinkOptions<Ours, Sent extends OwnItem, Received extends OwnItem> {
  readonly port: PostingPort;
  readonly methods: Ours;
  readonly errors: CrossingErrors;
  readonly take: (item: Received) => void;
  /** An item that is sent before each other one, in one message with it. */
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

  /** Calls a method of the other side whose answer is one value. Rejects with its error, or with the one of `end`. */
  async call<Name extends keyof Theirs & string>(
    name: Name,
    ...args: Arguments<Theirs, Name>
  ): Promise<Awaited<Result<Theirs, Name>>> {
    if (this.failure !== null) throw this.failure;
    return (await this.caller.call(name, args as readonly unknown[], [], null).value()) as Awaited<
      Result<Theirs, Name>
    >;
  }

  /** Sends an item of this side's own. */
  send(item: Sent): void {
    this.post(item, []);
  }

  /** Takes a message of the other side. */
  receive(items: readonly LinkItem<Received>[]): void {
    if (this.failure === null) for (const item of items) this.take(item);
  }

  /** Rejects the waiting calls and all later ones with this error. Nothing is sent or received afterwards. */
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
