import { describe, expect, it } from 'vitest';
import type { Chain } from '../../../../src/chain/chain.js';
import { ChainEvents } from '../../../../src/chain/chainEvents.js';
import { BlockConnector } from '../../../../src/net/sync/blockConnector.js';

const MIB = 1 << 20;

/** A chain on which the test determines when a run of block connections ends. */
class FakeChain {
  readonly events = new ChainEvents();
  /** Ends the run that is under way. */
  readonly ends: ((error?: Error) => void)[] = [];
  tip = 0;
  /** The best of what could be connected. The work of a block is its number. */
  best = 0;
  readonly failed = new Set<number>();
  readonly index = {
    candidates: { best: () => this.best },
    headers: { compareWork: (a: number, b: number) => a - b, isFailed: (id: number) => this.failed.has(id) },
  } as unknown as Chain['index'];

  connectBestChain(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.ends.push((error) => (error ? reject(error) : resolve()));
    });
  }

  connect(id: number): void {
    this.tip = id;
    this.events.emit('tipChanged', {
      id,
      height: id,
      hash: Buffer.alloc(32),
      forkId: id - 1,
      initialDownload: false,
    });
  }

  check(id: number): void {
    this.events.emit('blockChecked', { id, hash: Buffer.alloc(32), error: null });
  }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('BlockConnector', () => {
  it('has at most one run in progress and one waiting', async () => {
    const chain = new FakeChain();
    const connector = new BlockConnector(chain);
    const done: string[] = [];
    for (const name of ['a', 'b']) void connector.request().then(() => done.push(name));
    await turn();
    // Both requests arrived before the first run began, so it serves both.
    expect(chain.ends).toHaveLength(1);
    for (const name of ['c', 'd']) void connector.request().then(() => done.push(name));
    await turn();
    expect(chain.ends).toHaveLength(1);
    chain.ends[0]!();
    await turn();
    expect(done).toEqual(['a', 'b']);
    expect(chain.ends).toHaveLength(2);
    chain.ends[1]!();
    await turn();
    expect(done).toEqual(['a', 'b', 'c', 'd']);
    expect(chain.ends).toHaveLength(2);
  });

  it('never rejects', async () => {
    const chain = new FakeChain();
    const connector = new BlockConnector(chain);
    const first = connector.request();
    await turn();
    const second = connector.request();
    chain.ends[0]!(new Error('disk full'));
    await first;
    await turn();
    chain.ends[1]!(new Error('disk full'));
    await second;
  });

  it('has space when half of the excess is connected', async () => {
    const chain = new FakeChain();
    const connector = new BlockConnector(chain);
    void connector.request();
    await turn();
    for (let id = 0; id < 33; id++) {
      expect(connector.isCongested).toBe(false);
      connector.noteAccepted(id, MIB);
    }
    // A block counts only once.
    connector.noteAccepted(0, MIB);
    expect(connector.isCongested).toBe(true);
    let isFree = false;
    void connector.drained().then(() => (isFree = true));
    for (let id = 0; id < 16; id++) chain.check(id);
    await turn();
    expect(isFree).toBe(false);
    expect(connector.isCongested).toBe(false);
    chain.check(16);
    await turn();
    expect(isFree).toBe(true);
  });

  it('has space when nothing more can be connected', async () => {
    const chain = new FakeChain();
    const connector = new BlockConnector(chain);
    void connector.request();
    await turn();
    connector.noteAccepted(7, 40 * MIB);
    void connector.request();
    let isFree = false;
    void connector.drained().then(() => (isFree = true));
    chain.ends[0]!();
    await turn();
    // Another run is pending, which may connect the remaining blocks.
    expect(isFree).toBe(false);
    chain.ends[1]!();
    await turn();
    expect(isFree).toBe(true);
    expect(connector.isCongested).toBe(false);
    await connector.drained();
  });

  it('waits for blocks that can be connected now, not for later ones', async () => {
    const chain = new FakeChain();
    const connector = new BlockConnector(chain);
    expect(connector.pending()).toBeNull();
    chain.best = 3;
    void connector.request();
    await turn();
    let isReached = false;
    void connector.pending()!.then(() => (isReached = true));
    chain.best = 100;
    for (const id of [1, 2]) chain.connect(id);
    await turn();
    expect(isReached).toBe(false);
    chain.connect(3);
    await turn();
    expect(isReached).toBe(true);
    expect(connector.pending()).not.toBeNull();
    chain.best = 3;
    expect(connector.pending()).toBeNull();
  });

  it('does not wait for invalid blocks, or when nothing more can be connected', async () => {
    const chain = new FakeChain();
    const connector = new BlockConnector(chain);
    void connector.request();
    await turn();
    const reached: string[] = [];
    chain.best = 9;
    void connector.pending()!.then(() => reached.push('wrong'));
    chain.best = 8;
    void connector.pending()!.then(() => reached.push('given up'));
    chain.failed.add(9);
    chain.connect(1);
    await turn();
    expect(reached).toEqual(['wrong']);
    chain.ends[0]!();
    await turn();
    expect(reached).toEqual(['wrong', 'given up']);
    expect(connector.pending()).toBeNull();
  });
});
