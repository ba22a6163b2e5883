import { copyFileSync } from 'node:fs';
import { atOnce } from '../../../../src/util/slices.js';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hash160 } from '../../../../src/crypto/hash.js';
import { scriptForDestination } from '../../../../src/script/standard.js';
import { ecdsaBackend } from '../../../../src/crypto/ecdsa.js';
import type { Bytes } from '../../../../src/util/bytes.js';
import { plainMetadata } from '../../../../src/wallet/keys/keyRecords.js';
import { rescanBlocks, rescanFromTime } from '../../../../src/wallet/scan/rescan.js';
import { afterUnlock } from '../../../../src/wallet/scan/shortageEnder.js';
import { WalletBatch } from '../../../../src/wallet/store/records.js';
import type { Wallet } from '../../../../src/wallet/wallet.js';
import { BLOCK_SEC, newScripts, payment, ScanWorld, standOf, START_SEC } from './scanWorld.js';

let world: ScanWorld;
beforeEach(() => {
  world = new ScanWorld();
});
afterEach(() => world.close());

/** A new key with its scripts. */
function someKey(): { privateKey: Buffer; publicKey: Bytes; script: Buffer; program: Buffer } {
  const privateKey = randomBytes(32);
  const publicKey = ecdsaBackend().publicKeyOf(privateKey, true);
  const hash = hash160(publicKey);
  return {
    privateKey,
    publicKey,
    script: scriptForDestination({ type: 'pubkeyhash', hash }),
    program: scriptForDestination({ type: 'witness_v0_keyhash', hash }),
  };
}

async function takeIn(wallet: Wallet, { privateKey, publicKey }: ReturnType<typeof someKey>): Promise<void> {
  await wallet.change((batch) => wallet.keyring.addKey(batch, privateKey, publicKey, plainMetadata(1)));
}

async function rescan(wallet: Wallet, first = 0, last: number | null = null): Promise<unknown> {
  const turn = wallet.scans.reserve()!;
  try {
    return await rescanBlocks(wallet, turn, { first, last });
  } finally {
    turn.release();
  }
}

/** A thousandth of a coin each. */
const countOf = (wallet: Wallet): number => [...wallet.ledger.unspentOutputs()].length;

describe('a rescan', () => {
  it('finds receipts and spends of a key, and reads all blocks or those of the index', async () => {
    const key = someKey();
    const first = payment([key.script, key.program]);
    for (let n = 0; n < 5; n++) world.mine();
    world.mine([first]);
    world.mine([payment([Buffer.of(0x51)], { tx: first, n: 0 })]);
    world.mine();
    for (const hasIndex of [false, true]) {
      const wallet = await world.make(`index ${hasIndex}`);
      world.hasIndex = hasIndex;
      world.reads = [];
      await takeIn(wallet, key);
      expect(await rescan(wallet)).toEqual({ isComplete: true, unreadable: -1 });
      expect([...new Set(world.reads)]).toEqual(hasIndex ? [6, 7] : [0, 1, 2, 3, 4, 5, 6, 7, 8]);
      expect(wallet.ledger.size).toBe(2);
      expect(countOf(wallet)).toBe(1);
      expect(wallet.scans.unfinishedFrom).toBe(null);
    }
    expect(world.log.some((line) => line.includes('Rescan started from block 0...'))).toBe(true);
  });

  it('starts two hours before a time, and includes the mempool', async () => {
    const key = someKey();
    for (let n = 0; n < 30; n++) world.mine(n === 2 ? [payment([key.script])] : []);
    world.mempool = [payment([key.program]), payment([Buffer.of(0x51)])];
    const wallet = await world.make('a');
    await takeIn(wallet, key);
    world.reads = [];
    const turn = wallet.scans.reserve()!;
    const timeSec = START_SEC + 20 * BLOCK_SEC;
    expect(await rescanFromTime(wallet, turn, timeSec)).toEqual({
      isComplete: true,
      scannedFromSec: timeSec,
    });
    turn.release();
    expect(Math.min(...world.reads)).toBe(20 - 12);
    expect(wallet.ledger.size).toBe(1);
    expect([...wallet.ledger.all()][0]).toMatchObject({ inMempool: true, state: 'unconfirmed' });
  });

  it('reports the time since which no block was missed if blocks are pruned', async () => {
    for (let n = 0; n < 20; n++) world.mine();
    const wallet = await world.make('a');
    world.prunedBelow = 10;
    const turn = wallet.scans.reserve()!;
    const { scannedFromSec } = await rescanFromTime(wallet, turn, START_SEC);
    expect(scannedFromSec).toBe(START_SEC + 9 * BLOCK_SEC + 7200 + 1);
    turn.release();
  });

  it('runs once at a time, can be aborted, and is owed if the wallet is closed meanwhile', async () => {
    const key = someKey();
    for (let n = 0; n < 20; n++) world.mine(n === 15 ? [payment([key.script])] : []);
    const wallet = await world.make('a');
    await takeIn(wallet, key);
    expect(wallet.scans.abort()).toBe(false);
    world.onRead = (height) => void (height === 9 && wallet.scans.abort());
    const running = rescan(wallet);
    expect(wallet.scans.reserve()).toBe(null);
    expect(wallet.scans.progress).toMatchObject({ durationSec: 0 });
    expect(await running).toEqual({ isComplete: false, unreadable: -1 });
    expect(wallet.ledger.size).toBe(0);
    expect(wallet.scans.unfinishedFrom).toBe(null);
    expect(wallet.scans.abort()).toBe(false);
    expect(world.log.some((line) => /Rescan aborted at block \d+\. Progress=0\.\d{6}/.test(line))).toBe(true);

    let closing: Promise<void> | null = null;
    world.onRead = (height) => void (height === 9 && (closing ??= world.shut(wallet)));
    expect(await rescan(wallet, 3)).toEqual({ isComplete: false, unreadable: -1 });
    await closing;
    world.onRead = () => undefined;
    // It continues by itself where it is opened again.
    const again = await world.load('a');
    await again.scans.idle();
    expect(again.ledger.size).toBe(1);
    expect(again.scans.unfinishedFrom).toBe(null);
  });

  it('ends before its wallet is closed, and changes nothing afterwards', async () => {
    for (let n = 0; n < 20; n++) world.mine();
    const wallet = await world.make('a');
    const scan = rescan(wallet);
    await world.shut(wallet);
    expect(await scan).toEqual({ isComplete: false, unreadable: -1 });
    expect(wallet.scans.reserve()).toBe(null);
    // Not the end of the node.
    await expect(takeIn(wallet, someKey())).rejects.toThrow('The wallet was unloaded during the call.');
  });

  it('leaves new blocks and reorganisations to the follower of the chain', async () => {
    const key = someKey();
    const old = payment([key.script]);
    const again = payment([key.script, key.program]);
    for (let n = 1; n <= 12; n++) world.mine(n === 11 ? [old] : n === 3 ? [payment([key.program])] : []);
    const wallet = await world.make('a');
    await takeIn(wallet, key);
    let isDone = false;
    world.onRead = (height) => {
      if (height !== 11 || isDone) return;
      isDone = true;
      world.unmine();
      world.unmine();
      world.mine([again]);
      world.mine([payment([key.program], { tx: again, n: 0 })]);
      world.mine();
    };
    expect(await rescan(wallet)).toEqual({ isComplete: true, unreadable: -1 });
    expect(wallet.ledger.size).toBe(3);
    expect(countOf(wallet)).toBe(3);
    for (const entry of wallet.ledger.all()) expect(entry.state).toBe('confirmed');
  });

  it('examines known transactions again after keys were added', async () => {
    const key = someKey();
    const wallet = await world.make('a');
    const [own] = newScripts(wallet, 1);
    world.mine([payment([own!, key.script])]);
    expect(countOf(wallet)).toBe(1);
    await takeIn(wallet, key);
    await rescan(wallet);
    expect(countOf(wallet)).toBe(2);
  });
});

describe('a backup that is older than many addresses', () => {
  /** A wallet, a copy of its file, and blocks that pay its next addresses in another order. */
  async function chain(order: (count: number) => number[], perBlock = 7): Promise<Wallet> {
    const wallet = await world.make('a');
    await wallet.file.backup(join(world.folder, 'copy'));
    copyFileSync(join(world.folder, 'copy'), join(world.folder, 'second copy'));
    const scripts = newScripts(wallet, 60);
    const txs = order(60).map((n) => payment([scripts[n]!]));
    while (txs.length > 0) world.mine(txs.splice(0, perBlock));
    // The address index is only used if it is faster than reading all blocks. The empty blocks make it so.
    for (let n = 0; n < 60; n++) world.mine();
    return wallet;
  }
  const upwards = (count: number): number[] => Array.from({ length: count }, (_, n) => n);
  /** The addresses that the copy knows come last. */
  const downwards = (count: number): number[] => upwards(count).reverse();

  for (const [name, order] of [
    ['in order', upwards],
    ['in reverse', downwards],
    ['mixed', (count: number) => upwards(count).map((n) => (n * 37) % count)],
  ] as const) {
    it(`finds all of them when it is opened, ${name}`, async () => {
      const wallet = await chain(order);
      const copy = await world.load('copy');
      expect(standOf(copy)).toEqual(standOf(wallet));
      expect(copy.scans.unfinishedFrom).toBe(null);
    });

    it(`finds the same with the index as without, ${name}`, async () => {
      await chain(order);
      const found: unknown[] = [];
      for (const [file, hasIndex] of [
        ['copy', false],
        ['second copy', true],
      ] as const) {
        world.hasIndex = hasIndex;
        // Simulates that the chain was followed without accepting any transaction.
        const copy = await world.load(file, { follows: false });
        copy.followedHeight = world.blocks.length - 1;
        world.reads = [];
        await rescan(copy);
        expect(world.reads.includes(world.blocks.length - 1)).toBe(!hasIndex);
        found.push(standOf(copy));
        expect(countOf(copy)).toBe(60);
      }
      expect(found[0]).toEqual(found[1]);
    });
  }

  it('reads only matching blocks if the index has them, unless one could conflict with a waiting transaction', async () => {
    const wallet = await world.make('a');
    const [own] = newScripts(wallet, 1);
    const first = payment([own!]);
    world.mine([first]);
    await wallet.file.backup(join(world.folder, 'copy'));
    const again = await world.make('b');
    await again.file.backup(join(world.folder, 'without'));
    const paid = newScripts(wallet, 12).reverse();
    for (let n = 0; n < 300; n++) {
      if (n === 20) world.mine([payment([Buffer.of(0x51)], { tx: first, n: 0 })]);
      else world.mine(n % 25 === 7 ? [payment([paid[(n - 7) / 25]!])] : []);
    }
    world.hasIndex = true;
    world.reads = [];
    const copy = await world.load('copy');
    expect(standOf(copy)).toEqual(standOf(wallet));
    expect(new Set(world.reads).size).toBeLessThan(20);
    // The other has a transaction that waits on another user's coin.
    const batch = new WalletBatch();
    const other = await world.load('without', { follows: false });
    other.ledger.add(batch, payment([newScripts(other, 1)[0]!]), null);
    await other.write(batch);
    await world.shut(other);
    world.reads = [];
    await world.load('without');
    expect(new Set(world.reads).size).toBe(300);
  });

  it('finds them when it is unlocked, if it was locked', async () => {
    const wallet = await world.make('a');
    const masterKey = randomBytes(32);
    await wallet.change((batch) => wallet.keyring.encrypt(batch, masterKey));
    await wallet.file.backup(join(world.folder, 'copy'));
    const scripts = newScripts(wallet, 40);
    for (const script of [...scripts].reverse()) world.mine([payment([script])]);
    const copy = await world.load('copy');
    expect(countOf(copy)).toBe(5);
    expect(copy.scans.lockedFrom).toBe(1);
    await world.shut(copy);
    const again = await world.load('copy');
    expect(again.scans.lockedFrom).toBe(1);
    expect(atOnce(again.keyring.unlock(masterKey))).toBe(true);
    await afterUnlock(again);
    await again.scans.idle();
    expect(standOf(again)).toEqual(standOf(wallet));
    expect(again.scans.lockedFrom).toBe(null);
  });

  it('finds thousands of further addresses', async () => {
    world.keypoolSize = 200;
    const wallet = await world.make('a');
    await wallet.file.backup(join(world.folder, 'copy'));
    // The order is mixed within a hundred addresses, and between the outputs of each transaction.
    const scripts = newScripts(wallet, 2000);
    for (let at = 0; at < 2000; at += 100) {
      const part = scripts.slice(at, at + 100).map((script, n, all) => all[(n * 37) % all.length] ?? script);
      world.mine([payment(part.slice(0, 50)), payment(part.slice(50))]);
    }
    const copy = await world.load('copy');
    expect(countOf(copy)).toBe(2000);
    expect(standOf(copy)).toEqual(standOf(wallet));
    expect(copy.keypool.count('receive')).toBe(200);
  });
});

describe('a block that uses up the key pool', () => {
  it('creates few keys at once, the others in slices, and misses no output', async () => {
    world.keypoolSize = 100;
    const wallet = await world.make('a');
    const { path } = wallet.file;
    copyFileSync(path, join(world.folder, 'b'));
    copyFileSync(path, join(world.folder, 'c'));
    const scripts = newScripts(wallet, 400);
    const other = await world.load('b');
    const { keyCount } = other.keyring;
    const announced: string[] = [];
    other.listen(({ key }) => announced.push(key));
    // The first payment is to a key of the pool. Each of the others is to a key that the pool gets because of the previous
    // payment.
    const paid = [99, 190, 280, 370].map((at) => payment([scripts[at]!]));
    world.mine([...paid.slice(1).reverse(), paid[0]!]);
    // A block that arrives while keys are created does not count as missed by the wallet.
    world.mine([payment([scripts[371]!])]);
    expect(other.keyring.keyCount - keyCount).toBeLessThanOrEqual(64);
    expect(countOf(other)).toBeLessThan(5);
    const { scans } = other;
    while (scans.lockedFrom !== null || scans.unfinishedFrom !== null) {
      await new Promise(setImmediate);
      await scans.idle();
    }
    expect(standOf(other)).toEqual(standOf(wallet));
    expect(other.keypool.count('receive')).toBe(100);
    // Each transaction is reported once, however often its block was read.
    expect(announced).toHaveLength(5);
    expect(new Set(announced).size).toBe(5);
    // The same while a wallet catches up.
    const late = await world.load('c');
    await late.scans.idle();
    expect(standOf(late)).toEqual(standOf(wallet));
    expect(late.scans).toMatchObject({ lockedFrom: null, unfinishedFrom: null });
  });
});
