import type { Transferable } from 'node:worker_threads';
import { setImmediate as round } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Batches } from '../../../../src/threads/batches.js';
import { badRequest, HubError, notThere } from '../../../../src/hub/protocol/hubError.js';
import type { HubServices } from '../../../../src/hub/link/hubServices.js';
import { StreamedJson } from '../../../../src/hub/protocol/hubClient.js';
import type { NodeMethod } from '../../../../src/hub/methods/method.js';
import { HubRpcServer } from '../../../../src/hub/link/hubRpcServer.js';
import { ClientLeft, HubRpcClient } from '../../../../src/hub/link/hubRpcClient.js';
import { NodeFailure, unpackKeys, type ToHub, type ToNode } from '../../../../src/hub/link/portMessages.js';
import { PIECES_AHEAD, type AnswerItem } from '../../../../src/threads/protocol.js';
import { ClientQueue, type Turn } from '../../../../src/scheduler/clientQueue.js';
import { JsonObject } from '../../../../src/util/json/json.js';
import { stringifyJson } from '../../../../src/util/json/jsonStream.js';
import { type JsonOut } from '../../../../src/util/json/jsonWrite.js';

const KEYS = ['a'.repeat(16), '\xff'.repeat(16)];

/** A chain without rows that changes nothing. */
const CHAIN = { chain: { deps: { store: { commits: 0 } }, exclusively: (task: () => unknown) => task() } };

/** Client and server in one thread. Messages are cloned, as between threads. */
class Pair {
  readonly port: HubRpcClient;
  readonly server: HubRpcServer;
  readonly client = { number: 7, hasLeft: false };
  readonly failures: unknown[] = [];
  /** Kinds of the messages that reached the node; those of kind `wanted` and `unwanted` with their keys. */
  readonly received: unknown[] = [];
  /** Keys of the requested statuses. */
  askedKeys: readonly string[] = [];
  private turnsOfHub = new ClientQueue();

  constructor(methods: readonly NodeMethod[] = []) {
    const toNode = {
      postMessage: (items: unknown, transfer: readonly Transferable[]) =>
        this.receive(structuredClone(items, { transfer: [...transfer] }) as readonly ToNode[]),
    };
    const toHub = {
      postMessage: (items: unknown, transfer: readonly Transferable[]) => {
        for (const item of structuredClone(items, { transfer: [...transfer] }) as readonly ToHub[])
          this.port.receive(item as AnswerItem<number>);
      },
    };
    const batches: Batches<ToNode> = new Batches<ToNode>(toNode, () => {
      this.port.tellWishes();
      return undefined;
    });
    this.port = new HubRpcClient(batches, this.turnsOfHub);
    const statuses = (keys: readonly string[]) => {
      this.askedKeys = keys;
      return Promise.resolve(keys.map(() => null));
    };
    this.server = new HubRpcServer({
      hub: { histories: { statuses }, search: null, node: { chain: CHAIN } } as unknown as HubServices,
      methods: new Map(methods.map((method) => [method.name, method])),
      batches: new Batches<ToHub>(toHub, () => undefined),
      failed: (error, method) => this.failures.push([method, (error as Error).message]),
    });
  }

  private receive(items: readonly ToNode[]): void {
    for (const item of items) {
      const [kind] = item;
      this.received.push(kind === 'wanted' || kind === 'unwanted' ? [kind, ...unpackKeys(item[1])] : kind);
      if (kind === 'call' || kind === 'more' || kind === 'cancel') this.server.receive(item);
      else if (kind === 'left') this.server.left(item[1]);
    }
  }

  turn(): Promise<Turn> {
    return this.turnsOfHub.enter(this.client);
  }
}

const method = (name: string, run: NodeMethod['run']): NodeMethod => ({ name, spread: true, run });

/** An endless answer whose items are ascending numbers, one per message. */
class Counting {
  made = 0;
  isReleased = false;

  async *pieces(): AsyncGenerator<string> {
    try {
      for (;;) yield await Promise.resolve(`${this.made++} `.padEnd(20_000));
    } finally {
      this.isReleased = true;
    }
  }
}

async function settled(): Promise<void> {
  for (let n = 0; n < 20; n++) await round();
}

describe('HubRpcClient', () => {
  it('announces its calls before it sends them, in one batch', async () => {
    const pair = new Pair();
    pair.port.wish(KEYS[0]!, true);
    pair.port.wish(KEYS[1]!, false);
    expect(await pair.port.statuses(pair.client, await pair.turn(), KEYS)).toEqual([null, null]);
    expect(pair.askedKeys).toEqual(KEYS);
    expect(pair.received).toEqual([['unwanted', KEYS[1]], ['wanted', KEYS[0]], 'call']);
  });

  it('passes arguments unchanged, and answers as JSON', async () => {
    const given: JsonOut[] = ['x', 5, null, true, [1, 'two'], new JsonObject([['k', [null]]])];
    const echo = method('echo', (_call, args) => [args.length, stringifyJson(args as JsonOut)]);
    const pair = new Pair([echo]);
    const answer = await pair.port.run(pair.client, await pair.turn(), 'echo', given as never);
    expect(JSON.parse(stringifyJson(answer as JsonOut))).toEqual([
      6,
      '["x",5,null,true,[1,"two"],{"k":[null]}]',
    ]);
  });

  it('creates chunks only on demand, and none without a reader', async () => {
    const counting = new Counting();
    const pair = new Pair([method('count', () => new StreamedJson(counting.pieces()))]);
    const result = (await pair.port.run(pair.client, await pair.turn(), 'count', [])) as StreamedJson;
    await settled();
    expect(counting.made).toBe(1);
    const taken: string[] = [];
    for await (const piece of result.pieces) {
      taken.push(piece.trim());
      await settled();
      expect(counting.made).toBe(taken.length === 1 ? 1 : taken.length + PIECES_AHEAD - 1);
      if (taken.length === 5) break;
    }
    expect(taken).toEqual(['0', '1', '2', '3', '4']);
    await settled();
    expect(counting.isReleased).toBe(true);
    const { made } = counting;
    await settled();
    expect(counting.made).toBe(made);
  });

  it('cancels the calls of a client that disconnected', async () => {
    const counting = new Counting();
    const pair = new Pair([method('count', () => new StreamedJson(counting.pieces()))]);
    const result = (await pair.port.run(pair.client, await pair.turn(), 'count', [])) as StreamedJson;
    pair.port.leave(pair.client);
    const reading = (async () => {
      for await (const piece of result.pieces) expect(piece).not.toBe('');
    })();
    await expect(reading).rejects.toBeInstanceOf(ClientLeft);
    expect(counting.isReleased).toBe(true);
    // The disconnect of a client without requests is not reported.
    pair.port.leave({ number: 8, hasLeft: false });
    await settled();
    expect(pair.received.filter((kind) => kind === 'left')).toHaveLength(1);
    pair.client.hasLeft = true;
    const late = pair.port.call(pair.client, await pair.turn(), 'tip');
    await expect(late).rejects.toBeInstanceOf(ClientLeft);
    await settled();
    expect(pair.received.filter((kind) => kind === 'call')).toHaveLength(1);
  });

  it('returns client errors to the client, and reports other errors to the node', async () => {
    const pair = new Pair([
      method('bad', () => {
        throw badRequest('no');
      }),
      method('none', () => {
        throw notThere('nothing');
      }),
      method('broken', () => {
        throw new Error('broken');
      }),
    ]);
    const failureOf = async (name: string): Promise<unknown> =>
      pair.port.run(pair.client, await pair.turn(), name, []).catch((error: unknown) => error);
    expect(await failureOf('bad')).toMatchObject({ code: 1, message: 'no', isHonest: false });
    expect(await failureOf('none')).toMatchObject({ code: 1, message: 'nothing', isHonest: true });
    expect(await failureOf('broken')).toBeInstanceOf(NodeFailure);
    expect(pair.failures).toEqual([['broken', 'broken']]);
    // A node without a claim search.
    const searching = pair.port.call(pair.client, await pair.turn(), 'search', {});
    await expect(searching).rejects.toBeInstanceOf(HubError);
    expect(pair.failures).toHaveLength(1);
  });
});
