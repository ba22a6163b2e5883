import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scriptForDestination } from '../../../../src/script/standard.js';
import type { Transaction } from '../../../../src/primitives/transaction.js';
import { rescanBlocks } from '../../../../src/wallet/scan/rescan.js';
import { WalletBatch } from '../../../../src/wallet/store/records.js';
import type { Wallet } from '../../../../src/wallet/wallet.js';
import { Random } from '../../../differential/support.js';
import { newScripts, payment, ScanWorld, standOf } from './scanWorld.js';

let world: ScanWorld;
beforeEach(() => {
  world = new ScanWorld();
});
afterEach(() => world.close());

/** Rescans all blocks. Answers the announced transactions in order. */
async function rescan(wallet: Wallet, isQuick: boolean): Promise<string[]> {
  world.isQuick = isQuick;
  world.reads = [];
  const reported: string[] = [];
  const end = wallet.listen(
    (entry, isNew) => void reported.push(`${Buffer.from(entry.key).toString('hex')} ${isNew}`),
  );
  const turn = wallet.scans.reserve()!;
  await rescanBlocks(wallet, turn, { first: 0, last: null });
  turn.release();
  end();
  return reported;
}

/** Two wallets with the same keys that know nothing of the chain. */
async function twoWallets(prepare: (wallet: Wallet) => void): Promise<[Wallet, Wallet]> {
  const first = await world.make('a');
  prepare(first);
  await world.shut(first);
  copyFileSync(join(world.folder, 'a'), join(world.folder, 'b'));
  return [await world.load('a'), await world.load('b')];
}

const stranger = (random: Random): Buffer =>
  scriptForDestination({ type: 'pubkeyhash', hash: random.bytes(20) });

describe('a scan that skips blocks in bulk', () => {
  it('finds and announces the same as a scan block by block', async () => {
    const random = new Random(29);
    const own: Transaction[] = [];
    let scripts: Buffer[] = [];
    const [quick, slow] = await twoWallets((wallet) => {
      scripts = newScripts(wallet, 4);
      const pool = [1, 2, 3].flatMap(() => newScripts(wallet, 1));
      scripts.push(...pool);
    });
    for (const wallet of [quick, slow]) await world.shut(wallet);
    for (let n = 0; n < 300; n++) {
      const txs: Transaction[] = [];
      for (let more = random.below(3); more > 0; more--) {
        const isOwn = random.chance(4);
        const spent =
          own.length > 0 && random.chance(3) ? own.splice(random.below(own.length), 1)[0] : undefined;
        const tx = payment(
          isOwn ? [stranger(random), random.pick(scripts)] : [stranger(random)],
          spent && { tx: spent, n: 1 },
        );
        if (isOwn) own.push(tx);
        txs.push(tx);
      }
      world.mine(txs);
    }
    const [a, b] = [await world.load('a', { follows: false }), await world.load('b', { follows: false })];
    for (const wallet of [a, b]) wallet.followedHeight = world.blocks.length - 1;
    const reported = await rescan(a, true);
    const blocksRead = world.reads.length;
    expect(await rescan(b, false)).toEqual(reported);
    expect(blocksRead).toBeLessThan(world.reads.length);
    expect(a.ledger.size).toBeGreaterThan(50);
    expect(standOf(a)).toEqual(standOf(b));
    // Known transactions are announced again without reading a block.
    const again = await rescan(a, true);
    expect(world.reads).toEqual([]);
    expect(again).toEqual(await rescan(b, false));
    expect(again.length).toBe(a.ledger.size);
  });

  it('adds keys to the pool for paid ones, as a scan block by block does', async () => {
    const [quick, slow] = await twoWallets(() => undefined);
    const paid = newScripts(quick, 12);
    await world.shut(quick);
    await world.shut(slow);
    copyFileSync(join(world.folder, 'b'), join(world.folder, 'a'));
    for (const [n, script] of paid.entries()) {
      for (let others = n % 3; others > 0; others--) world.mine([payment([Buffer.of(0x51)])]);
      world.mine([payment([script])]);
    }
    const counts: number[] = [];
    for (const [name, isQuick] of [
      ['a', true],
      ['b', false],
    ] as const) {
      const wallet = await world.load(name, { follows: false });
      wallet.followedHeight = world.blocks.length - 1;
      await rescan(wallet, isQuick);
      counts.push(wallet.ledger.size, wallet.keyring.keyCount);
    }
    expect(counts.slice(0, 2)).toEqual(counts.slice(2));
    expect(counts[0]).toBe(paid.length);
  });

  it('examines a transaction that is now in another block', async () => {
    let script: Buffer = Buffer.alloc(0);
    const [wallet] = await twoWallets((made) => {
      [script] = newScripts(made, 1) as [Buffer];
    });
    const tx = payment([script]);
    world.mine([tx]);
    await rescan(wallet, true);
    world.unmine();
    world.mine();
    world.mine([tx]);
    await rescan(wallet, true);
    expect([...wallet.ledger.all()].map(({ state, height }) => [state, height])).toEqual([
      ['confirmed', world.blocks.length - 1],
    ]);
  });

  /** A wallet with an image that knows a payment to `script` in a block, and that block again at another height. */
  async function imagedWallet(): Promise<{ wallet: Wallet; tx: Transaction }> {
    let script: Buffer = Buffer.alloc(0);
    const [made] = await twoWallets((first) => {
      [script] = newScripts(first, 1) as [Buffer];
    });
    await world.shut(made);
    const tx = payment([script]);
    for (let n = 0; n < 5; n++) world.mine();
    world.mine([tx]);
    await world.shut(await world.load('a'));
    return { wallet: await world.load('a'), tx };
  }

  /** A rescan without listeners. */
  async function rescanSilently(wallet: Wallet): Promise<void> {
    world.isQuick = true;
    world.reads = [];
    const turn = wallet.scans.reserve()!;
    await rescanBlocks(wallet, turn, { first: 0, last: null });
    turn.release();
  }

  it('skips transactions that an image has as settled, unless a listener is to be notified', async () => {
    const { wallet, tx } = await imagedWallet();
    const kinds = wallet.ledger.settledPayments?.kinds;
    expect(kinds).toEqual(Uint8Array.of(1));
    await rescanSilently(wallet);
    expect(world.reads).toEqual([]);
    expect((await rescan(wallet, true)).length).toBe(1);
    // If a transaction in memory spends the same output, the rescan must examine both.
    const rival = { ...payment([Buffer.of(0x51)]), inputs: tx.inputs };
    const batch = new WalletBatch();
    wallet.ledger.add(batch, rival, null, {});
    await wallet.write(batch);
    expect(kinds).toEqual(Uint8Array.of(0));
    await rescanSilently(wallet);
    expect(world.reads.length).toBeGreaterThan(0);
  });

  it('finds a settled transaction in another block again', async () => {
    const { wallet, tx } = await imagedWallet();
    world.unmine();
    world.mine();
    world.mine([tx]);
    wallet.followedHeight = world.blocks.length - 1;
    await rescanSilently(wallet);
    expect([...wallet.ledger.all()].map(({ state, height }) => [state, height])).toEqual([
      ['confirmed', world.blocks.length - 1],
    ]);
  });
});
