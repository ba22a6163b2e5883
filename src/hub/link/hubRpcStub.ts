/**
 * What the hub's thread asks the node's through: calls, answers in pieces that are taken one by one, and the scripts that
 * clients subscribe to. Calls of a client that leaves are cancelled.
 */
import { assert } from '../../util/assert.js';
import type { JsonValue } from '../../util/json/json.js';
import { rawJson } from '../../util/json/jsonWrite.js';
import type { Batches } from './batches.js';
import { crossingOf } from './crossingValues.js';
import { HubError } from '../protocol/hubError.js';
import { StreamedJson, type HubResult } from '../protocol/hubClient.js';
import type { ChunkOperations, NodeOperation, ValueOperations } from './nodeOperations.js';
import { CHUNKS_AHEAD, packKeys, type CrossingError, type ToHub, type ToNode } from './portMessages.js';
import type { Turn, ClientQueue } from '../../scheduler/clientQueue.js';

/** The node's thread failed at a call, and has logged the failure. */
export class NodeFailure extends Error {
  override readonly name = 'NodeFailure';
}

/** No one waits for an answer any more. */
export class ClientLeft extends Error {
  override readonly name = 'ClientLeft';
}

/** The client of a call; both threads know it by this number. */
export interface Asking {
  readonly number: number;
  /** Whether it is gone; then nothing is asked for it any more. */
  readonly hasLeft: boolean;
}

/** The part of a turn that the callee uses. */
type Weighing = Pick<Turn, 'weight'>;

type Outcome = { readonly value: unknown } | { readonly chunks: AsyncGenerator<unknown> };

export class HubRpcStub {
  private readonly batches: Batches<ToNode>;
  private readonly turns: ClientQueue;
  private readonly calls = new Map<number, NodeAnswer>();
  /** Clients that asked for anything. */
  private readonly known = new Set<number>();
  /** Whether scripts are wanted from here on, as far as that is not told yet. */
  private wishes = new Map<string, boolean>();
  private nextId = 0;

  constructor(batches: Batches<ToNode>, turns: ClientQueue) {
    this.batches = batches;
    this.turns = turns;
  }

  /** Ends with one value. */
  async call<Name extends keyof ValueOperations>(
    client: Asking,
    turn: Weighing,
    operation: Name,
    ...args: Parameters<ValueOperations[Name]>
  ): Promise<ReturnType<ValueOperations[Name]>> {
    const outcome = await this.ask(client, turn, operation, args).outcome;
    assert('value' in outcome, `${operation} has one answer`);
    return outcome.value as ReturnType<ValueOperations[Name]>;
  }

  /** Chunks; each is made when there is space for it. */
  chunks<Name extends keyof ChunkOperations>(
    client: Asking,
    turn: Turn,
    operation: Name,
    ...args: Parameters<ChunkOperations[Name]>
  ): AsyncGenerator<ReturnType<ChunkOperations[Name]>> {
    return this.ask(client, turn, operation, args).chunks() as never;
  }

  /** What a method of the node's thread answers. */
  async run(
    client: Asking,
    turn: Turn,
    method: string,
    args: readonly (JsonValue | undefined)[],
  ): Promise<HubResult> {
    const outcome = await this.ask(client, turn, 'run', [method, args.map(crossingOf)]).outcome;
    if ('value' in outcome) return rawJson(outcome.value as string);
    return new StreamedJson(outcome.chunks as AsyncGenerator<string>);
  }

  /** The status of each script. */
  statuses(client: Asking, turn: Turn, keys: readonly string[]): Promise<readonly (string | null)[]> {
    return this.call(client, turn, 'statuses', packKeys(keys));
  }

  private ask(client: Asking, turn: Weighing, operation: NodeOperation, args: unknown[]): NodeAnswer {
    const id = this.nextId++;
    const answer = new NodeAnswer(client, (more) =>
      this.batches.add(more === 0 ? ['cancel', id] : ['more', id, more]),
    );
    if (client.hasLeft) {
      answer.end(new ClientLeft());
      return answer;
    }
    this.calls.set(id, answer);
    this.known.add(client.number);
    this.batches.add(['call', id, client.number, turn.weight, operation, args]);
    return answer;
  }

  /** Takes back what a client asked for that has left. */
  leave(client: Asking): void {
    if (this.known.delete(client.number)) this.batches.add(['left', client.number]);
  }

  /** Whether any client subscribes to a script from here on. */
  wish(scriptKey: string, isWanted: boolean): void {
    this.wishes.set(scriptKey, isWanted);
    this.batches.schedule();
  }

  /** Puts what is wanted in front of what is asked for, so that nothing is missed between the two. */
  tellWishes(): void {
    if (this.wishes.size === 0) return;
    const [wanted, unwanted]: [string[], string[]] = [[], []];
    for (const [key, isWanted] of this.wishes) (isWanted ? wanted : unwanted).push(key);
    this.wishes = new Map();
    for (const [kind, keys] of [
      ['wanted', wanted],
      ['unwanted', unwanted],
    ] as const) {
      if (keys.length === 0) continue;
      const packed = packKeys(keys);
      this.batches.addFirst([kind, packed], [packed.buffer]);
    }
  }

  /** Takes an item that answers a call. */
  receive(item: Extract<ToHub, readonly ['value' | 'chunk' | 'end' | 'error' | 'gone', ...unknown[]]>): void {
    const [kind, id] = item;
    const answer = this.calls.get(id);
    assert(answer, 'what is answered was asked');
    if (kind === 'chunk') return answer.take(item[2]);
    this.calls.delete(id);
    if (kind !== 'gone') this.turns.charge(answer.client, item[2]);
    if (kind === 'value') answer.settle(item[3]);
    else if (kind === 'end') answer.end(null);
    else answer.end(kind === 'gone' ? new ClientLeft() : errorOf(item[3]));
  }
}

function errorOf(error: CrossingError | null): Error {
  return error === null ? new NodeFailure() : new HubError(error.code, error.message, error.isHonest);
}

/** Result of one call: a value, or chunks until the end. */
class NodeAnswer {
  readonly client: Asking;
  /** How it begins: with the value, or with the first piece. */
  readonly outcome: Promise<Outcome>;
  /** Asks for this many more pieces; 0 for none any more. */
  private readonly tell: (more: number) => void;
  private begin!: (outcome: Outcome) => void;
  private refuse!: (error: Error) => void;
  private readonly waiting: unknown[] = [];
  private hasBegun = false;
  private isOver = false;
  private failure: Error | null = null;
  private wake: () => void = () => undefined;

  constructor(client: Asking, tell: (more: number) => void) {
    this.client = client;
    this.tell = tell;
    this.outcome = new Promise((resolve, reject) => {
      this.begin = resolve;
      this.refuse = reject;
    });
    // Who takes pieces is notified of a failure there.
    this.outcome.catch(() => undefined);
  }

  settle(value: unknown): void {
    this.isOver = true;
    this.begin({ value });
  }

  take(chunk: unknown): void {
    this.waiting.push(chunk);
    this.changed();
  }

  end(failure: Error | null): void {
    this.isOver = true;
    this.failure = failure;
    if (failure !== null) this.refuse(failure);
    this.changed();
  }

  private changed(): void {
    if (!this.hasBegun && this.failure === null) this.begin({ chunks: this.chunks() });
    this.hasBegun = true;
    this.wake();
  }

  /** Breaking off takes the call back. */
  async *chunks(): AsyncGenerator<unknown> {
    try {
      for (let taken = 0; ; taken++) {
        // The first comes unasked.
        if (taken > 0 && !this.isOver) this.tell(taken === 1 ? CHUNKS_AHEAD : 1);
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
