import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { verified, withChecksum } from '../../../src/mempool/checksumTail.js';
import { formatTransaction, txid } from '../../../src/primitives/transaction.js';
import { hashToHex } from '../../../src/util/bytes.js';
import { Writer } from '../../../src/util/writer.js';
import { coinsOf, PoolWorld, spendCoins } from './support.js';

describe('the mempool on disk', () => {
  let world: PoolWorld;
  afterEach(() => world.close());

  const dump = (): string => world.options.dumpPath;
  const returned = (): string => join(world.chain.folder, 'mempool-returned.dat');
  async function load(into: PoolWorld, signal = new AbortController().signal): Promise<void> {
    await (
      await into.mempool.load(signal)
    ).finished;
  }

  it('has the form of the reference', async () => {
    world = await PoolWorld.open(102);
    const parent = spendCoins([await world.coinbase(1)], 1000n);
    const child = spendCoins(coinsOf(parent), 5000n);
    await world.mustAccept(parent);
    world.chain.timeSec += 7;
    await world.mustAccept(child);
    const absent = Buffer.alloc(32, 8);
    world.mempool.prioritise(txid(child), -300n);
    world.mempool.prioritise(absent, 77n);
    await world.mempool.save();
    const time = BigInt(world.chain.timeSec);
    const expected = new Writer()
      .u64(1n)
      .u64(2n)
      .raw(formatTransaction(parent))
      .i64(time - 7n)
      .i64(0n)
      .raw(formatTransaction(child))
      .i64(time)
      .i64(-300n)
      .compactSize(1)
      .raw(absent)
      .i64(77n)
      .compactSize(0)
      .finish();
    expect(readFileSync(dump()).toString('hex')).toBe(withChecksum(expected).toString('hex'));
    expect(existsSync(`${dump()}.new`)).toBe(false);
  });

  it('saves transactions that no peer has requested, where the reference ignores it', async () => {
    world = await PoolWorld.open(104);
    const ids: Buffer[] = [];
    for (const height of [1, 2, 3]) {
      ids.push(await world.mustAccept(spendCoins([await world.coinbase(height)], 1000n)));
    }
    await world.mempool.save();
    // The ids come after the fee deltas of transactions outside the mempool. There are no such deltas here.
    const plain = verified(readFileSync(dump())).subarray(0, -1);
    for (const id of ids) world.mempool.keepAnnouncing(id);
    world.mempool.keepAnnouncing(Buffer.alloc(32, 8));
    world.mempool.noteRequested(ids[1]!.toString('latin1'));
    await world.mempool.save();
    const kept = new Writer().compactSize(2).raw(ids[0]!).raw(ids[2]!).finish();
    expect(readFileSync(dump()).equals(withChecksum(Buffer.concat([plain, kept])))).toBe(true);
    world = world.restarted();
    await load(world);
    const keys = [ids[0]!, ids[2]!].map((id) => id.toString('latin1'));
    expect(world.mempool.unbroadcastKeys()).toEqual(keys);
    await world.mineMempool();
    expect(world.mempool.unbroadcastCount).toBe(0);
  });

  it('restores times and deltas', async () => {
    world = await PoolWorld.open(102);
    const parent = spendCoins([await world.coinbase(1)], 30n);
    world.mempool.prioritise(txid(parent), 1000n);
    await world.mustAccept(parent);
    const child = spendCoins(coinsOf(parent), 1000n);
    await world.mustAccept(child);
    const later = spendCoins([await world.coinbase(2)], 30n);
    world.mempool.prioritise(txid(later), 500n);
    await world.mempool.save();
    const before = [parent, child].map((tx) => world.mempool.entry(txid(tx)));
    world.chain.timeSec += 1000;
    world = world.restarted();
    expect(world.mempool.isLoaded).toBe(false);
    await load(world);
    expect(world.mempool.isLoaded).toBe(true);
    expect([parent, child].map((tx) => world.mempool.entry(txid(tx)))).toEqual(before);
    expect(await world.refusal(later)).toBe('accepted');
    await world.mempool.check();
  });

  it('can contain any fee delta', async () => {
    world = await PoolWorld.open(103);
    const parent = spendCoins([await world.coinbase(1)], 1000n);
    await world.mustAccept(parent);
    const child = spendCoins(coinsOf(parent), 1000n);
    await world.mustAccept(child);
    const elsewhere = Buffer.alloc(32, 7);
    const most = 2n ** 63n - 1n;
    for (let again = 0; again < 3; again++) {
      world.mempool.prioritise(txid(child), most);
      world.mempool.prioritise(elsewhere, -most - 1n);
    }
    expect(world.mempool.entry(txid(child))!.modifiedFeeSat).toBe(1000n + most);
    expect(world.mempool.entry(txid(parent))!.descendantFeesSat).toBe(2000n + most);
    await world.mempool.check();
    await world.mempool.save();
    world = world.restarted();
    await load(world);
    expect(world.mempool.entry(txid(child))!.modifiedFeeSat).toBe(1000n + most);
    world.mempool.prioritise(txid(child), -most);
    expect(world.mempool.entry(txid(child))!.modifiedFeeSat).toBe(1000n);
    await world.mempool.check();
  });

  it('is read in pieces, however large', async () => {
    world = await PoolWorld.open(140);
    const sent: string[] = [];
    for (let height = 1; height <= 40; height++) {
      const tx = spendCoins([await world.coinbase(height)], 1_000_000n, { padding: 60_000 });
      sent.push(hashToHex(await world.mustAccept(tx)));
    }
    await world.mempool.save();
    world = world.restarted();
    const { finished } = await world.mempool.load(new AbortController().signal);
    expect(world.mempool.isLoaded).toBe(false);
    await finished;
    expect(world.ids()).toEqual(sent.sort());
  });

  it('omits transactions that have expired, were mined or have a low fee', async () => {
    world = await PoolWorld.open(103, { expirySec: 1000 });
    const old = spendCoins([await world.coinbase(1)], 1000n);
    await world.mustAccept(old);
    world.chain.timeSec += 600;
    const mined = spendCoins([await world.coinbase(2)], 1000n);
    const kept = spendCoins([await world.coinbase(3)], 1000n);
    await world.mustAccept(mined);
    await world.mustAccept(kept);
    await world.mempool.save();
    await world.mineBlock([mined]);
    world.chain.timeSec += 500;
    world = world.restarted();
    await load(world);
    expect(world.ids()).toEqual([hashToHex(txid(kept))]);
  });

  it('of the reference is read as far as it goes', async () => {
    world = await PoolWorld.open(102);
    for (const height of [1, 2]) await world.mustAccept(spendCoins([await world.coinbase(height)], 1000n));
    await world.mempool.save();
    const whole = verified(readFileSync(dump()));
    writeFileSync(dump(), whole.subarray(0, -40));
    world = world.restarted();
    await load(world);
    expect(world.mempool.isLoaded).toBe(true);
    expect(world.mempool.size).toBe(1);
    writeFileSync(dump(), Buffer.concat([Buffer.of(2), whole.subarray(1)]));
    world = world.restarted();
    await load(world);
    expect(world.mempool.size).toBe(0);
  });

  it('is quarantined as a whole after a flipped bit', async () => {
    world = await PoolWorld.open(102);
    for (const height of [1, 2]) await world.mustAccept(spendCoins([await world.coinbase(height)], 1000n));
    await world.mempool.save();
    const whole = readFileSync(dump());
    const flipped = [3, 9, whole.length >> 1, whole.length - 1].map((at) => {
      const corrupt = Buffer.from(whole);
      corrupt[at]! ^= 0x10;
      return corrupt;
    });
    for (const corrupt of [...flipped, Buffer.alloc(whole.length), Buffer.alloc(16)]) {
      writeFileSync(dump(), corrupt);
      world = world.restarted();
      await load(world);
      expect(world.mempool.isLoaded).toBe(true);
      expect(world.mempool.size).toBe(0);
      expect(existsSync(dump())).toBe(false);
      expect(readFileSync(`${dump()}.damaged`).equals(corrupt)).toBe(true);
      rmSync(`${dump()}.damaged`);
    }
    mkdirSync(dump());
    world = world.restarted();
    await load(world);
    expect(world.mempool.isLoaded).toBe(true);
    await world.mempool.save();
    expect(statSync(dump()).isFile()).toBe(true);
  });

  it('is not treated as read after an aborted read', async () => {
    world = await PoolWorld.open(101);
    await world.mustAccept(spendCoins([await world.coinbase(1)], 1000n));
    await world.mempool.save();
    world = world.restarted();
    const stop = new AbortController();
    stop.abort();
    await load(world, stop.signal);
    expect(world.mempool.isLoaded).toBe(false);
  });

  it('keeps unrequested transactions of disconnected blocks, without a fee too', async () => {
    world = await PoolWorld.open(101);
    await load(world);
    const parent = spendCoins([await world.coinbase(1)], 0n);
    const child = spendCoins(coinsOf(parent), 0n);
    await world.mineBlock([parent, child]);
    await world.disconnectFrom(102);
    const ids = world.ids();
    expect(ids.length).toBe(2);
    // The process dies here.
    world = world.restarted();
    await load(world);
    expect(world.ids()).toEqual(ids);
    // A second reorganisation keeps the transactions of the first one in the file.
    const other = spendCoins([await world.coinbase(2)], 0n);
    await world.mineBlock([other]);
    await world.disconnectFrom(102);
    world = world.restarted();
    await load(world);
    expect(world.ids()).toEqual([...ids, hashToHex(txid(other))].sort());
    // A dump of the mempool replaces the file. It does not contain transactions without a fee.
    await world.mempool.save();
    expect(existsSync(returned())).toBe(false);
    world = world.restarted();
    await load(world);
    expect(world.mempool.size).toBe(0);
  });

  it('keeps them if blocks are disconnected before it was read', async () => {
    world = await PoolWorld.open(101);
    await load(world);
    const first = spendCoins([await world.coinbase(1)], 0n);
    const second = spendCoins([await world.coinbase(2)], 0n);
    await world.mineBlock([first]);
    await world.disconnectFrom(102);
    world.chain.timeSec++;
    await world.mineBlock([second]);
    world = world.restarted();
    await world.disconnectFrom(102);
    expect(world.ids()).toEqual([hashToHex(txid(second))]);
    await load(world);
    const both = [first, second].map((tx) => hashToHex(txid(tx))).sort();
    expect(world.ids()).toEqual(both);
    world = world.restarted();
    await load(world);
    expect(world.ids()).toEqual(both);
    // The file is removed when none of its transactions is left.
    await world.mineBlock([first, second]);
    world = world.restarted();
    await load(world);
    expect(world.mempool.size).toBe(0);
    expect(existsSync(returned())).toBe(false);
  });

  it('writes nothing by itself with -persistmempool=0', async () => {
    world = await PoolWorld.open(101, { persist: false });
    await world.mineBlock([spendCoins([await world.coinbase(1)], 1000n)]);
    await world.disconnectFrom(102);
    expect(world.mempool.size).toBe(1);
    expect(existsSync(returned())).toBe(false);
    await load(world);
    expect(world.mempool.isLoaded).toBe(true);
  });
});
