/** A random life of long and short blocks, reorganisations, mempool and restarts: what a wallet says is what a recount says. */
import { expect, it } from 'vitest';
import { sha256 } from '../../../src/crypto/hash.js';
import { txid, type Transaction } from '../../../src/primitives/transaction.js';
import { toLatin1 } from '../../../src/util/bytes.js';
import { balance } from '../../../src/wallet/ledger/balances.js';
import { randomOf } from '../../support/claimLife.js';
import { countTurns } from '../../support/slices.js';
import { FakeNode } from './support/fakeNode.js';
import { openTestWallet } from './support/openWallet.js';

const STEPS = 80;
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it.each([1, 2])('life %i', async (seed) => {
  const random = randomOf(seed);
  const node = new FakeNode();
  node.mineEmpty(3);
  let open = await openTestWallet(node, { keypoolSize: 20 });
  const scripts: Buffer[] = [];
  for (let n = 0; n < 10; n++) scripts.push(await open.script());
  let made = 0;
  const payment = (): Transaction => ({
    version: 1,
    inputs: [
      {
        prevout: { hash: sha256(Buffer.from(`${seed} ${made}`)), index: made++ },
        scriptSig: Buffer.alloc(10),
        sequence: 0xffffffff,
        witness: random(2) === 0 ? [] : [Buffer.of(1)],
      },
    ],
    outputs: [{ value: BigInt(1000 + made), script: scripts[random(10)]! }],
    lockTime: 0,
  });
  const sumOf = (txs: Iterable<Transaction>): bigint =>
    [...txs].reduce((sum, { outputs }) => sum + outputs[0]!.value, 0n);
  /** Of each block above the first three. */
  const chain: Transaction[][] = [];
  const pool = new Map<string, Transaction>();
  const mine = (txs: readonly Transaction[]): void => {
    chain.push([...txs]);
    for (const tx of txs) pool.delete(toLatin1(txid(tx)));
    node.mine(undefined, txs);
  };
  const deeds: Record<string, () => Promise<void> | void> = {
    long: () => mine(Array.from({ length: 64 + random(80) }, payment)),
    short: () => mine([...Array.from({ length: random(5) }, payment), ...[...pool.values()].slice(0, 90)]),
    reorganise: () => {
      const gone: Transaction[] = [];
      for (let depth = random(4); depth >= 0 && chain.length > 0; depth--) {
        gone.unshift(...chain.pop()!);
        node.disconnect();
      }
      const again = gone.filter(() => random(3) > 0);
      mine(again.slice(0, again.length >> 1));
      mine(again.slice(again.length >> 1));
      for (const tx of gone.filter((one) => !again.includes(one))) {
        pool.set(toLatin1(txid(tx)), tx);
        node.addToMempool(tx);
      }
    },
    receive: () => {
      for (let count = random(70); count >= 0; count--) {
        const tx = payment();
        pool.set(toLatin1(txid(tx)), tx);
        node.addToMempool(tx);
      }
    },
    async reopen() {
      open = await open.reopen();
    },
    async wait() {
      for (let count = random(200); count >= 0; count--) await turn();
    },
    use() {
      open.wallet.events.enter();
      open.wallet.events.leave();
    },
  };
  const names = Object.keys(deeds);
  await countTurns(async () => {
    for (let step = 0; step < STEPS; step++) {
      const name = names[random(names.length)]!;
      await deeds[name]!();
      if (random(3) === 0) continue;
      await open.wallet.events.caughtUp();
      const { ledger, balanceOptions } = open.wallet;
      const { trusted, pending } = balance(ledger, balanceOptions);
      expect({ step, name, trusted, pending }).toEqual({
        step,
        name,
        trusted: sumOf(chain.flat()),
        pending: sumOf(pool.values()),
      });
    }
  });
  expect(node.failures).toEqual([]);
  await open.close();
}, 120_000);
