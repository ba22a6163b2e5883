/**
 * Serves the calls of the hub's thread in the node's thread. A fair queue gives each client its share of the time. Long
 * results are sent in chunks, at the speed at which the client reads. Calls of a client that has disconnected are cancelled.
 */
import { jsonChunks } from '../../util/json/jsonStream.js';
import { smallJson } from '../../util/json/jsonWrite.js';
import { packValues, unpackPlaces } from '../../search/follow/followerMessages.js';
import type { Bytes } from '../../util/bytes.js';
import { Callee, type RunningCall } from '../../threads/callee.js';
import { Pieces, type AnswerItem, type CallItem } from '../../threads/protocol.js';
import type { Batches } from '../../threads/batches.js';
import { searched } from '../claims/claimAnswers.js';
import { valueOf } from './crossingValues.js';
import { HubError, internalError } from '../protocol/hubError.js';
import { ChainHold } from '../../chain/chainHold.js';
import type { HubServices } from './hubServices.js';
import { StreamedJson } from '../protocol/hubClient.js';
import type { NodeCall, NodeMethod } from '../methods/method.js';
import { headersFrom } from '../methods/nodeHeaders.js';
import type {
  ChunkOperations,
  HeadersStart,
  JsonOperations,
  NodeOperation,
  ValueOperations,
} from './nodeOperations.js';
import { NODE_ERRORS, unpackKeys, type HubCallContext, type ToHub } from './portMessages.js';
import { ClientQueue, type Turn } from '../../scheduler/clientQueue.js';

/** Number of characters up to which small pieces of JSON are collected into one chunk. */
const CHUNK_CHARS = 16_384;

interface Client {
  readonly calls: Set<RunningCall>;
}

type Handlers = {
  readonly [Name in keyof ValueOperations]: (
    call: NodeCall,
    client: object,
    ...args: Parameters<ValueOperations[Name]>
  ) => ReturnType<ValueOperations[Name]> | Promise<ReturnType<ValueOperations[Name]>>;
} & {
  readonly [Name in keyof ChunkOperations]: (
    call: NodeCall,
    client: object,
    ...args: Parameters<ChunkOperations[Name]>
  ) => Pieces;
} & {
  readonly [Name in keyof JsonOperations]: (
    call: NodeCall,
    client: object,
    ...args: Parameters<JsonOperations[Name]>
  ) => Promise<string | Pieces>;
};

export interface HubRpcServerDeps {
  readonly hub: HubServices;
  readonly methods: ReadonlyMap<string, NodeMethod>;
  readonly batches: Batches<ToHub>;
  /** Called when a call failed for a reason other than the client's request. */
  readonly failed: (error: unknown, operation: string) => void;
}

export class HubRpcServer {
  private readonly deps: HubRpcServerDeps;
  private readonly turns = new ClientQueue();
  private readonly clients = new Map<number, Client>();
  private readonly callee: Callee<number>;
  private readonly handlers: Handlers;
  private readonly hold: ChainHold;

  constructor(deps: HubRpcServerDeps) {
    this.deps = deps;
    this.hold = new ChainHold((task) => deps.hub.node.chain.chain.exclusively(task));
    this.handlers = handlersOf(deps, this.hold);
    this.callee = new Callee((item, transfer) => deps.batches.add(item, transfer));
  }

  /** Must be called when a message of the hub's thread arrives. The time before the call is not counted as clients' time. */
  lap(): void {
    this.turns.lap();
  }

  receive(item: CallItem<HubCallContext>): void {
    if (item[0] !== 'call') return this.callee.receive(item);
    const [, id, operation, args, clientNumber, weight] = item;
    let client = this.clients.get(clientNumber);
    if (client === undefined) this.clients.set(clientNumber, (client = { calls: new Set() }));
    const call = this.callee.begin(id);
    client.calls.add(call);
    void this.answer(call, client, weight, operation as NodeOperation, args);
  }

  left(clientNumber: number): void {
    const client = this.clients.get(clientNumber);
    this.clients.delete(clientNumber);
    for (const call of client?.calls ?? []) call.cancel();
  }

  /** Ends a `hold`, so that changes of the chain may continue. */
  unhold(): void {
    this.hold.end();
  }

  /** Cancels everything. */
  close(): void {
    this.hold.close();
    for (const number of [...this.clients.keys()]) this.left(number);
  }

  private async answer(
    call: RunningCall,
    client: Client,
    weight: number,
    operation: NodeOperation,
    args: readonly unknown[],
  ): Promise<void> {
    const { id } = call;
    const turn = await this.turns.enter(client, weight);
    const last = await this.outcome(call, client, turn, operation, args).catch((error: unknown): Last => {
      if (!(error instanceof HubError))
        this.deps.failed(error, operation === 'run' ? String(args[0]) : operation);
      return (usedMs) => ['error', id, usedMs, NODE_ERRORS.cross(error)];
    });
    turn.leave();
    client.calls.delete(call);
    this.callee.end(call, last(turn.workedMs));
  }

  /** Runs a call. Returns a function that creates the message with the result. */
  private async outcome(
    call: RunningCall,
    client: Client,
    turn: Turn,
    operation: NodeOperation,
    args: readonly unknown[],
  ): Promise<Last> {
    const { id } = call;
    if (call.isCancelled) return () => ['gone', id];
    const handler = this.handlers[operation] as (...all: unknown[]) => unknown;
    const value = await handler({ turn, hub: this.deps.hub }, client, ...args);
    if (!(value instanceof Pieces)) return (usedMs) => ['value', id, usedMs, value];
    const isWhole = await this.callee.stream(call, value.pieces, (wait) => turn.outside(wait));
    return isWhole ? (usedMs) => ['end', id, usedMs] : () => ['gone', id];
  }
}

type Last = (usedMs: number) => AnswerItem<number>;

/** Repeats a read until the rows did not change during it. */
async function atOneCommit<T>(
  store: { readonly commits: number },
  read: () => Promise<T>,
): Promise<{ readonly commits: number; readonly found: T }> {
  for (;;) {
    const { commits } = store;
    const found = await read();
    if (store.commits === commits) return { commits, found };
  }
}

function handlersOf({ hub, methods }: HubRpcServerDeps, hold: ChainHold): Handlers {
  const { store } = hub.node.chain.chain.deps;
  return {
    tip: () => null,
    statuses: ({ turn }, _client, keys) => hub.histories.statuses([...unpackKeys(keys)], turn),
    rows: async (_call, _client, keys) => {
      // In the array from the store missing rows are holes, which `map` would skip.
      const { commits, found } = await atOneCommit(store, () => store.getMany(keys));
      return { commits, values: packValues(Array.from(found, (value) => value ?? null)) };
    },
    rowRange: async (_call, _client, range) => {
      const { commits, found } = await atOneCommit(store, () => store.getRange(range));
      return {
        commits,
        keys: found.map(([key]) => key),
        values: packValues(found.map(([, value]) => value)),
      };
    },
    hold: async ({ turn }) => {
      await turn.outside(() => hold.begin());
      return null;
    },
    search: ({ turn }, client, constraints) => {
      const { search } = hub;
      if (search === null) throw internalError();
      return turn.outside(() => searched(search, constraints, client, turn.weight));
    },
    values: async (_call, _client, places) => packValues(await hub.claimValues(unpackPlaces(places))),
    times: (_call, _client, heights) => hub.timesOf(heights),
    headers: (call, _client, start, count, checkpoint): Pieces =>
      new Pieces(headersFrom(call, start, count, checkpoint) satisfies AsyncIterable<HeadersStart | Bytes>),
    async run(call, _client, name, crossing) {
      const args = [];
      for (const value of crossing) args.push(await valueOf(value, call.turn));
      const result = await methods.get(name)!.run(call, args);
      if (result instanceof StreamedJson) return new Pieces(gathered(result.pieces, call.turn));
      return smallJson(result) ?? new Pieces(gathered(jsonChunks(result), call.turn));
    },
  };
}

async function* gathered(pieces: AsyncIterable<string>, turn: Turn): AsyncGenerator<string> {
  let text = '';
  for await (const piece of pieces) {
    text += piece;
    if (text.length >= CHUNK_CHARS) {
      yield text;
      text = '';
    }
    const pause = turn.yieldIfDue();
    if (pause !== null) await pause;
  }
  if (text !== '') yield text;
}
