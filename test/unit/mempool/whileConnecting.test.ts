import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { txid } from '../../../src/primitives/transaction.js';
import { hashToHex } from '../../../src/util/bytes.js';
import { coinsOf, PoolWorld, spendCoins } from './support.js';

/** Stops the connection of blocks during their checks. */
class HeldChecks {
  private open: () => void = () => undefined;
  private readonly gate = new Promise<void>((resolve) => (this.open = resolve));
  private entered: () => void = () => undefined;
  /** Resolves when a block is stopped. */
  readonly reached = new Promise<void>((resolve) => (this.entered = resolve));

  /** If `root` is given, the claim root of each block counts as this one. */
  constructor({ chain }: PoolWorld, root?: Uint8Array) {
    const { claims } = chain.opened.chain.deps;
    const connect = claims.connect.bind(claims);
    // The addon would connect the block in one call, which cannot be stopped.
    claims.connectOrdinary = () => null;
    claims.connect = async (...args) => {
      this.entered();
      await this.gate;
      const connected = await connect(...args);
      return root ? { ...connected, root } : connected;
    };
  }

  letGo(): void {
    this.open();
  }
}

/**
 * Whether a promise settles within some iterations of the event loop. The coins of these tests are in the cache, so no disk is
 * read.
 */
async function settlesSoon(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.then(() => (settled = true));
  for (let n = 0; n < 50 && !settled; n++) await turn();
  return settled;
}

describe('the mempool while a block is being checked', () => {
  let world: PoolWorld;
  let held: HeldChecks;
  afterEach(() => {
    held.letGo();
    return world.close();
  });

  /**
   * Disconnects the blocks from `from` on, and stops the check of the first one when they are connected again. The mempool is
   * empty then.
   */
  async function checking(from: number, root?: Uint8Array): Promise<{ connected: Promise<void> }> {
    const id = await world.disconnectFrom(from);
    world = world.restarted();
    held = new HeldChecks(world, root);
    const connected = world.reconsider(id);
    await held.reached;
    return { connected };
  }

  it('accepts transactions that may follow the tip, and keeps them after the block', async () => {
    world = await PoolWorld.open(105);
    const { connected } = await checking(105);
    const parent = spendCoins([await world.coinbase(1)], 1000n);
    const child = spendCoins(coinsOf(parent), 1000n);
    await world.mustAccept(parent);
    await world.mustAccept(child);
    expect(world.height).toBe(104);
    expect(world.mempool.entry(txid(child))).toMatchObject({ entryHeight: 104, ancestorCount: 2 });
    held.letGo();
    await connected;
    expect(world.height).toBe(105);
    expect(world.ids()).toEqual([parent, child].map((tx) => hashToHex(txid(tx))).sort());
    await world.mempool.check();
  });

  it('removes spends of coins that the block spends, and refuses the transactions of the block', async () => {
    world = await PoolWorld.open(105);
    const coin = await world.coinbase(1);
    const confirmed = spendCoins([coin], 1000n);
    await world.mineBlock([confirmed]);
    const { connected } = await checking(106);
    const rival = spendCoins([coin], 5000n, { outputs: 2 });
    const heir = spendCoins(coinsOf(rival), 5000n);
    await world.mustAccept(rival);
    await world.mustAccept(heir);
    const own = world.refusal(confirmed);
    expect(await settlesSoon(own)).toBe(false);
    held.letGo();
    await connected;
    expect(world.ids()).toEqual([]);
    expect(await own).toBe('18: txn-already-known');
    await world.mempool.check();
  });

  it('decides about refusals after the block', async () => {
    world = await PoolWorld.open(105);
    const confirmed = spendCoins([await world.coinbase(1)], 1000n);
    await world.mineBlock([confirmed]);
    const { connected } = await checking(106);
    const next = world.refusal(spendCoins(coinsOf(confirmed), 1000n));
    const young = world.refusal(spendCoins([await world.coinbase(7)], 1000n));
    const tested = world.refusal(spendCoins([await world.coinbase(2)], 1000n), { testOnly: true });
    expect(await settlesSoon(Promise.race([next, young, tested]))).toBe(false);
    held.letGo();
    await connected;
    // Transactions with coins that mature with the block or are created in it.
    expect([await next, await young, await tested]).toEqual(['accepted', 'accepted', 'accepted']);
    expect(world.mempool.size).toBe(2);
    await world.mempool.check();
  });

  it('accepts nothing between the blocks of a reorganisation', async () => {
    world = await PoolWorld.open(105);
    await world.mineBlock([]);
    const stale = await world.disconnectFrom(106);
    await world.mineBlock([], Buffer.from('5151', 'hex'));
    await world.reconsider(stale);
    expect(world.height).toBe(106);
    const branch = world.chain.opened.chain.index.active.at(106);
    held = new HeldChecks(world);
    const moved = world.chain.opened.chain.preciousBlock(
      branch === stale ? world.chain.opened.chain.index.headers.count - 1 : stale,
    );
    await held.reached;
    expect(world.height).toBe(105);
    const accepted = world.refusal(spendCoins([await world.coinbase(1)], 1000n));
    expect(await settlesSoon(accepted)).toBe(false);
    held.letGo();
    await moved;
    expect(world.chain.opened.chain.index.active.at(106)).not.toBe(branch);
    expect(await accepted).toBe('accepted');
    await world.mempool.check();
  });

  it('keeps accepted transactions after the check of an invalid block', async () => {
    world = await PoolWorld.open(105);
    const { connected } = await checking(105, Buffer.alloc(32));
    const tx = spendCoins([await world.coinbase(1)], 1000n);
    await world.mustAccept(tx);
    held.letGo();
    await connected;
    expect(world.height).toBe(104);
    expect(world.ids()).toEqual([hashToHex(txid(tx))]);
    await world.mempool.check();
  });
});
