/**
 * The part in the hub's thread of calls to the node's thread. It sends calls, receives values or chunks, and reports the
 * scripts to which clients subscribe. Calls of a client that leaves are cancelled.
 */
import type { JsonValue } from '../../util/json/json.js';
import { rawJson } from '../../util/json/jsonWrite.js';
import type { Batches } from '../../threads/batches.js';
import { crossingOf } from './crossingValues.js';
import { StreamedJson, type HubResult } from '../protocol/hubClient.js';
import type { ChunkOperations, NodeOperation, ValueOperations } from './nodeOperations.js';
import { ThreadAnswer, Caller } from '../../threads/caller.js';
import type { AnswerItem } from '../../threads/protocol.js';
import { NODE_ERRORS, packKeys, type HubCallContext, type ToNode } from './portMessages.js';
import type { Turn, ClientQueue } from '../../scheduler/clientQueue.js';

/** Error: the client has disconnected, so the response is not needed. */
export class ClientLeft extends Error {
  override readonly name = 'ClientLeft';
}

/** The client for which a call is made. Both threads identify the client by `number`. */
export interface Asking {
  readonly number: number;
  /** Whether the client has disconnected. If so, no calls are sent for it. */
  readonly hasLeft: boolean;
}

/** The part of a `Turn` (time slot of a client) that the called code needs. */
type Weighing = Pick<Turn, 'weight'>;

export class HubRpcClient {
  private readonly batches: Batches<ToNode>;
  private readonly caller: Caller<Asking, HubCallContext, number>;
  /** Numbers of the clients that have made calls. */
  private readonly known = new Set<number>();
  /** Scripts whose subscription state changed (true: subscribed) and was not sent to the node's thread yet. */
  private wishes = new Map<string, boolean>();

  constructor(batches: Batches<ToNode>, turns: ClientQueue) {
    this.batches = batches;
    this.caller = new Caller<Asking, HubCallContext, number>({
      post: (item, transfer) => batches.add(item, transfer),
      errors: NODE_ERRORS,
      cancelled: () => new ClientLeft(),
      answered: (client, usedMs) => turns.charge(client, usedMs),
    });
  }

  /** Calls an operation of the node's thread that returns one value. */
  async call<Name extends keyof ValueOperations>(
    client: Asking,
    turn: Weighing,
    operation: Name,
    ...args: Parameters<ValueOperations[Name]>
  ): Promise<ReturnType<ValueOperations[Name]>> {
    return (await this.ask(client, turn, operation, args).value()) as ReturnType<ValueOperations[Name]>;
  }

  /** Calls an operation of the node's thread that returns chunks. Each chunk is produced when the client can receive it. */
  chunks<Name extends keyof ChunkOperations>(
    client: Asking,
    turn: Turn,
    operation: Name,
    ...args: Parameters<ChunkOperations[Name]>
  ): AsyncGenerator<ReturnType<ChunkOperations[Name]>> {
    return this.ask(client, turn, operation, args).pieces() as never;
  }

  /** Runs a hub method in the node's thread and returns its result. */
  async run(
    client: Asking,
    turn: Turn,
    method: string,
    args: readonly (JsonValue | undefined)[],
  ): Promise<HubResult> {
    const outcome = await this.ask(client, turn, 'run', [method, args.map(crossingOf)]).outcome;
    if ('value' in outcome) return rawJson(outcome.value as string);
    return new StreamedJson(outcome.pieces as AsyncGenerator<string>);
  }

  /** Returns the statuses of the scripts, in the order of `keys`. */
  statuses(client: Asking, turn: Turn, keys: readonly string[]): Promise<readonly (string | null)[]> {
    return this.call(client, turn, 'statuses', packKeys(keys));
  }

  private ask(client: Asking, turn: Weighing, operation: NodeOperation, args: unknown[]): ThreadAnswer {
    if (client.hasLeft) {
      const answer = new ThreadAnswer(() => undefined);
      answer.end(new ClientLeft());
      return answer;
    }
    this.known.add(client.number);
    return this.caller.call(operation, args, [], client, client.number, turn.weight);
  }

  /** Cancels the pending calls of a client that has disconnected. */
  leave(client: Asking): void {
    if (this.known.delete(client.number)) this.batches.add(['left', client.number]);
  }

  /** Records that a script has got subscribers (`isWanted`), or has lost the last one. */
  wish(scriptKey: string, isWanted: boolean): void {
    this.wishes.set(scriptKey, isWanted);
    this.batches.schedule();
  }

  /**
   * Sends changed subscriptions before pending calls. A script is therefore watched before its status is computed, so that
   * no change is missed.
   */
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

  /** Processes a message from the node's thread that belongs to a call. */
  receive(item: AnswerItem<number>): void {
    this.caller.receive(item);
  }
}
