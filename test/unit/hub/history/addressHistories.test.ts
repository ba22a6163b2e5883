import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { AddressHistories } from '../../../../src/hub/history/addressHistories.js';
import { StatusCache } from '../../../../src/hub/history/statusCache.js';
import { ClientQueue } from '../../../../src/scheduler/clientQueue.js';
import type { HistoryEntry, PageRequest } from '../../../../src/index/addressQueries.js';
import { sha256 } from '../../../../src/crypto/hash.js';
import type { RpcServices } from '../../../../src/interfaces/services.js';
import { fromLatin1, hashToHex, toLatin1 } from '../../../../src/util/bytes.js';
import { jsonChunks } from '../../../../src/util/json/jsonStream.js';

type Shown = { tx_hash: string; height: number; fee?: number };

/** A chain whose blocks have a given number of transactions, all with the same script, and a mempool. */
class World {
  readonly cache = new StatusCache();
  readonly histories: AddressHistories;
  /** Number of reads of rows. */
  reads = 0;
  /** Is called after each page that is read. */
  afterRead: () => void = () => undefined;
  private readonly blocks: Buffer[][] = [];
  private readonly waiting = new Map<string, number>();
  private all: HistoryEntry[] | null = null;
  private made = 0;
  private disconnects = 0;

  constructor() {
    const disconnects = (): number => this.disconnects;
    const tip = (): number => this.blocks.length + 1000 * this.disconnects;
    const chain = {
      get tip() {
        return tip();
      },
      index: {
        active: {
          get disconnects() {
            return disconnects();
          },
        },
      },
      exclusively: (task: () => Promise<unknown>) => task(),
    };
    const addresses = {
      totals: (keys: readonly string[]) =>
        Promise.resolve(keys.map((key) => ({ txCount: key === 'key' ? this.entries().length : 0 }))),
      history: (_keys: readonly string[], request: PageRequest) => Promise.resolve(this.page(request)),
      ofMempool: (key: string) => (key === 'key' ? this.waiting : new Map<string, number>()),
    };
    const mempool = {
      entry: (txid: Uint8Array) => (this.waiting.has(toLatin1(txid)) ? { parents: [], feeSat: 10n } : null),
    };
    this.histories = new AddressHistories(
      { chain: { chain }, addresses, mempool } as unknown as RpcServices,
      this.cache,
    );
  }

  private entries(): readonly HistoryEntry[] {
    return (this.all ??= this.blocks.flatMap((txids, height) =>
      txids.map((txid, position) => ({ txid, height, position, receivedSat: 0n, spentSat: 0n })),
    ));
  }

  /** The cursor of an entry is its number. */
  private page({ limit, after, startHeight = 0 }: PageRequest): {
    entries: HistoryEntry[];
    next: Buffer | null;
  } {
    this.reads++;
    const all = this.entries();
    const from = after
      ? Buffer.from(after).readUInt32BE() + 1
      : all.findIndex(({ height }) => height >= startHeight);
    const entries = from < 0 ? [] : all.slice(from, from + limit);
    const next = Buffer.alloc(4);
    next.writeUInt32BE(Math.max(0, from + limit - 1));
    const isLast = from < 0 || from + limit >= all.length;
    queueMicrotask(() => this.afterRead());
    return { entries, next: isLast ? null : next };
  }

  private txid(): Buffer {
    return sha256(Buffer.from(`${this.made++}`));
  }

  connect(count: number): void {
    this.all = null;
    this.blocks.push(Array.from({ length: count }, () => this.txid()));
  }

  disconnect(): void {
    this.all = null;
    this.blocks.pop();
    this.disconnects++;
    this.cache.noteDisconnected(this.blocks.length);
  }

  /** Mines a block with all mempool transactions. */
  mine(): void {
    this.all = null;
    this.blocks.push([...this.waiting.keys()].map(fromLatin1));
    this.waiting.clear();
  }

  /** Disconnects the last block. Its transactions become unconfirmed. */
  unmine(): void {
    const txids = this.blocks.at(-1)!;
    this.disconnect();
    for (const txid of txids) this.waiting.set(toLatin1(txid), 1);
  }

  wait(): void {
    this.waiting.set(toLatin1(this.txid()), 1);
  }

  /** The expected history. */
  truth(): Shown[] {
    return [
      ...this.entries().map(({ txid, height }) => ({ tx_hash: hashToHex(txid), height })),
      ...[...this.waiting.keys()].map((id) => ({ tx_hash: hashToHex(fromLatin1(id)), height: 0, fee: 10 })),
    ];
  }

  status(): string | null {
    const text = this.truth()
      .map(({ tx_hash, height }) => `${tx_hash}:${height}:`)
      .join('');
    return text === '' ? null : createHash('sha256').update(text).digest('hex');
  }

  async answer(): Promise<Shown[]> {
    let text = '';
    for await (const chunk of jsonChunks(
      await this.histories.history('key', await new ClientQueue().enter({})),
    ))
      text += chunk;
    return JSON.parse(text) as Shown[];
  }

  async reported(): Promise<string | null> {
    const [status, none] = await this.histories.statuses(['key', 'none'], await new ClientQueue().enter({}));
    expect(none).toBeNull();
    return status!;
  }
}

describe('AddressHistories', () => {
  it('returns statuses and histories of one state, through blocks, reorganisations and the mempool', async () => {
    const world = new World();
    expect(await world.reported()).toBeNull();
    expect(await world.answer()).toEqual([]);
    const steps: (() => void)[] = [
      () => world.wait(),
      () => world.connect(1),
      () => world.connect(0),
      () => world.connect(40),
      () => world.disconnect(),
      () => world.connect(39),
      () => world.connect(40),
      () => world.wait(),
      () => world.disconnect(),
      () => world.disconnect(),
      () => world.connect(2500),
      () => world.connect(1),
    ];
    for (const step of steps) {
      step();
      expect(await world.reported()).toBe(world.status());
      expect(await world.answer()).toEqual(world.truth());
    }
  });

  it('reads nothing for known histories, and only new parts of long ones', async () => {
    const world = new World();
    for (let n = 0; n < 10; n++) world.connect(1000);
    await world.reported();
    world.reads = 0;
    expect(await world.reported()).toBe(world.status());
    world.wait();
    expect(await world.reported()).toBe(world.status());
    expect(world.reads).toBe(0);
    world.connect(1);
    expect(await world.reported()).toBe(world.status());
    expect(world.reads).toBe(1);
  });

  it('returns 100,000 transactions a page at a time', async () => {
    const world = new World();
    for (let n = 0; n < 100; n++) world.connect(1000);
    world.wait();
    const history = (await world.histories.history('key', await new ClientQueue().enter({}))) as {
      items: AsyncIterable<unknown>;
    };
    let count = 0;
    world.reads = 0;
    for await (const _entry of history.items) {
      if (++count === 500) expect(world.reads).toBeLessThanOrEqual(1);
    }
    expect(count).toBe(100_001);
    expect(await world.reported()).toBe(world.status());
  });

  it('starts over after a reorganisation during its reads', async () => {
    const world = new World();
    for (let n = 0; n < 5; n++) world.connect(1000);
    let left = 3;
    world.afterRead = () => {
      if (left-- <= 0) return;
      if (left === 1) world.disconnect();
      else world.connect(7);
    };
    expect(await world.reported()).toBe(world.status());
    left = 2;
    expect(await world.answer()).toEqual(world.truth());
  });

  it('omits no transaction that is confirmed or disconnected during the read', async () => {
    const world = new World();
    for (const count of [1, 300, 2500]) {
      for (let n = 0; n < count; n++) world.wait();
      for (const move of [() => world.mine(), () => world.unmine()]) {
        const before = new Set(world.truth().map(({ tx_hash }) => tx_hash));
        const history = await world.histories.history('key', await new ClientQueue().enter({}));
        move();
        let text = '';
        // If blocks below the sent entries are disconnected, the answer ends with an error and never contains wrong entries.
        const read = async (): Promise<void> => {
          for await (const chunk of jsonChunks(history)) text += chunk;
        };
        const error: unknown = await read().catch((caught: unknown) => caught);
        if (error !== undefined) expect(String(error)).toContain('a reorganisation disconnected blocks');
        else expect(new Set((JSON.parse(text) as Shown[]).map(({ tx_hash }) => tx_hash))).toEqual(before);
      }
      world.mine();
    }
  });

  it('aborts a history that is being sent when a sent part is disconnected', async () => {
    const world = new World();
    for (let n = 0; n < 5; n++) world.connect(1000);
    const history = (await world.histories.history('key', await new ClientQueue().enter({}))) as {
      items: AsyncIterable<unknown>;
    };
    let count = 0;
    const read = async (): Promise<void> => {
      for await (const _entry of history.items)
        if (++count === 3500) for (let n = 0; n < 3; n++) world.disconnect();
    };
    await expect(read()).rejects.toThrow('a reorganisation disconnected blocks');
    expect(count).toBeLessThan(5000);
  });
});
