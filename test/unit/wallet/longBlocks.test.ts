/** Blocks with very many transactions of a wallet. They are processed in slices, and no answer contains a part of a block. */
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../../src/crypto/hash.js';
import { txid, type Transaction } from '../../../src/primitives/transaction.js';
import { onWallets } from '../../../src/rpc/call/onWallets.js';
import { jsonArray, type JsonArrayStream } from '../../../src/util/json/jsonWrite.js';
import { atOnce } from '../../../src/util/slices.js';
import { balance } from '../../../src/wallet/ledger/balances.js';
import { WalletBatch } from '../../../src/wallet/store/records.js';
import type { Wallet } from '../../../src/wallet/wallet.js';
import { countPauses, countTurns } from '../../support/slices.js';
import { FakeNode } from './support/fakeNode.js';
import { openTestWallet, type TestWallet } from './support/openWallet.js';

const COUNT = 300;
const VALUE = 1000n;

let node: FakeNode;
let open: TestWallet;
let scripts: Buffer[];

beforeEach(async () => {
  node = new FakeNode();
  node.mineEmpty(3);
  open = await openTestWallet(node, { keypoolSize: 30 });
  scripts = [];
  for (let n = 0; n < 10; n++) scripts.push(await open.script());
});
afterEach(() => open.close());

/** Payments to the wallet with different inputs. */
function payments(seed: string, count = COUNT): Transaction[] {
  return Array.from({ length: count }, (_, n) => ({
    version: 1,
    inputs: [
      {
        prevout: { hash: sha256(Buffer.from(`${seed} ${n}`)), index: n },
        scriptSig: Buffer.alloc(100),
        sequence: 0xffffffff,
        witness: n % 2 === 0 ? [] : [Buffer.of(1)],
      },
    ],
    outputs: [{ value: VALUE, script: scripts[n % scripts.length]! }],
    lockTime: 0,
  }));
}

/** The answers that a caller would get. */
function reported({ ledger, balanceOptions, followedHeight }: Wallet): Record<string, unknown> {
  const { trusted, pending } = balance(ledger, balanceOptions);
  const states = [...ledger.all()].map(({ key, state, height }) => `${key} ${state} ${height}`).sort();
  return { size: ledger.size, trusted, pending, followedHeight, states };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const TRUSTED = BigInt(COUNT) * VALUE;

describe('a block with very many transactions of a wallet', () => {
  it('is processed over many iterations of the event loop, and so is its disconnection', async () => {
    const { wallet } = open;
    const taken = await countTurns(async () => {
      node.mine(undefined, payments('a'));
      expect(reported(wallet).size).toBe(0);
      await wallet.events.caughtUp();
    });
    expect(reported(wallet)).toMatchObject({ size: COUNT, trusted: TRUSTED });
    expect(taken.turns).toBeGreaterThan(COUNT);
    const back = await countTurns(async () => {
      node.disconnect();
      await wallet.events.caughtUp();
    });
    expect(reported(wallet)).toMatchObject({ size: COUNT, trusted: 0n });
    expect(back.turns).toBeGreaterThan(COUNT);
    // Short blocks are processed at once.
    node.mine(undefined, payments('b', 1));
    expect(reported(wallet)).toMatchObject({ size: COUNT + 1, trusted: VALUE });
  });

  it('is complete for readers in between, also for listeners notified in pieces', async () => {
    const { wallet } = open;
    const wallets = {
      caughtUp: () => wallet.events.caughtUp(),
      enter: () => {
        wallet.events.enter();
        return () => wallet.events.leave();
      },
      finish: () => wallet.events.finish(),
      get isBetween() {
        return wallet.events.isInGroup;
      },
    };
    const seen: number[] = [];
    let halves = 0;
    await countTurns(async () => {
      for (let round = 0; round < 24; round++) {
        node.mine(undefined, payments(`a${round}`));
        // Stops after a varying number of iterations of the event loop.
        for (let n = 0; n < round * 25; n++) await turn();
        const before = wallet.ledger.size;
        if (before % COUNT !== 0) halves++;
        if (round % 3 === 0) {
          wallet.events.enter();
          seen.push(wallet.ledger.size % COUNT);
          node.mine(undefined, payments(`b${round}`));
          for (let n = 0; n < 20; n++) await turn();
          seen.push(wallet.ledger.size % COUNT);
          wallet.events.leave();
        } else if (round % 3 === 1) {
          seen.push(Number(await onWallets(wallets, () => wallet.ledger.size)) % COUNT);
          expect(wallet.ledger.size).toBeGreaterThanOrEqual(before);
        } else {
          await wallet.change(() => seen.push(wallet.ledger.size % COUNT));
          const pieces = function* (): Generator<number> {
            for (;;) yield wallet.ledger.size % COUNT;
          };
          const stream = (await onWallets(wallets, () => jsonArray(pieces()))) as JsonArrayStream;
          const items = (stream.items as Iterable<number>)[Symbol.iterator]();
          node.mine(undefined, payments(`c${round}`));
          for (let n = 0; n < 60; n++) {
            for (let wait = 0; wait < n; wait++) await turn();
            seen.push(items.next().value as number);
          }
        }
      }
      await wallet.events.caughtUp();
    });
    expect(halves).toBeGreaterThan(3);
    expect(seen.filter((part) => part !== 0)).toEqual([]);
    expect(wallet.ledger.size % COUNT).toBe(0);
  }, 60_000);

  it('may be disconnected and replaced before it is processed', async () => {
    const { wallet } = open;
    const [first, second, third] = [payments('a'), payments('b'), payments('c')];
    await countTurns(async () => {
      for (const waits of [0, 1, 50, 500, 900]) {
        for (const tx of first.slice(0, 20)) node.addToMempool(tx);
        node.mine(undefined, first);
        for (let n = 0; n < waits; n++) await turn();
        node.disconnect();
        node.mine(undefined, second);
        node.mine(undefined, third);
        for (let n = 0; n < waits; n++) await turn();
        node.disconnect();
        node.disconnect();
        node.mine(undefined, first.slice(0, 100));
        for (const tx of third.slice(0, 70)) node.addToMempool(tx);
        await wallet.events.caughtUp();
        expect(reported(wallet)).toMatchObject({ size: wallet.ledger.size, trusted: 100n * VALUE });
        for (const tx of third.slice(0, 70)) node.dropFromMempool(txid(tx));
        node.disconnect();
        await wallet.events.caughtUp();
        expect(reported(wallet).trusted).toBe(0n);
      }
    });
    node.mine(undefined, first);
    await wallet.events.caughtUp();
    const before = reported(wallet);
    open = await open.reopen();
    expect(reported(open.wallet)).toEqual(before);
  }, 60_000);

  it('is processed again if the node was killed in the middle of it', async () => {
    const { wallet, path } = open;
    const folder = mkdtempSync(join(tmpdir(), 'wallet-'));
    await countTurns(async () => {
      node.mine(undefined, payments('a'));
      for (let n = 0; wallet.ledger.size < COUNT / 2; n++) await turn();
      expect(wallet.ledger.size).toBeLessThan(COUNT);
      copyFileSync(path, join(folder, 'wallet.lbc'));
      await wallet.events.caughtUp();
    });
    const copy = await openTestWallet(node, {}, { folder });
    expect(reported(copy.wallet)).toEqual(reported(wallet));
    await copy.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('does not delay the wallet without limit: a wallet far behind processes waiting blocks at once', async () => {
    const { wallet } = open;
    const big = payments('a', 64).map((tx) => ({
      ...tx,
      inputs: tx.inputs.map((input) => ({ ...input, scriptSig: Buffer.alloc(50_000) })),
    }));
    for (let n = 0; n < 12; n++) {
      node.mine(undefined, n === 0 ? big : big.map((tx) => ({ ...tx, lockTime: n })));
      if (wallet.ledger.size > 0) break;
    }
    expect(wallet.ledger.size).toBeGreaterThan(5 * 64);
    expect(node.blocks.length).toBeLessThan(3 + 12);
    expect(wallet.events.isBehind).toBe(false);
  });
});

it('is summed in slices when a wallet is opened', async () => {
  node.mine(undefined, payments('a', 2000));
  await open.wallet.events.caughtUp();
  const before = reported(open.wallet);
  const { pauses } = countPauses(open.wallet.settle(new WalletBatch()));
  expect(pauses).toBeGreaterThan(4 * 7);
  expect(reported(open.wallet)).toEqual(before);
  atOnce(open.wallet.settle(new WalletBatch()));
  expect(reported(open.wallet)).toEqual(before);
});
