import { afterEach, describe, expect, it } from 'vitest';
import { txid, type Transaction } from '../../../src/primitives/transaction.js';
import { claimReader } from '../../../src/rpc/lookup/claimReader.js';
import {
  buildClaimPrefix,
  buildSupportPrefix,
  buildUpdatePrefix,
  claimIdOf,
} from '../../../src/script/claimScript.js';
import { concatBytes, hashToHex, toHex, type Bytes } from '../../../src/util/bytes.js';
import { OPEN_SCRIPT } from '../../support/testChain.js';
import { coinsOf, PoolWorld, spendCoins, type Coin } from './support.js';

const NAME = Buffer.from('name');
const EMPTY = Buffer.from('00', 'hex');

const claim = (coin: Coin, feeSat = 1000n): Transaction =>
  spendCoins([coin], feeSat, { script: concatBytes(buildClaimPrefix(NAME, EMPTY), OPEN_SCRIPT) });
const update = (coin: Coin, id: Bytes, feeSat = 1000n): Transaction =>
  spendCoins([coin], feeSat, { script: concatBytes(buildUpdatePrefix(NAME, id, EMPTY), OPEN_SCRIPT) });
const support = (coin: Coin, id: Bytes): Transaction =>
  spendCoins([coin], 1000n, { script: concatBytes(buildSupportPrefix(NAME, id), OPEN_SCRIPT) });
const idOf = (tx: Transaction): string => hashToHex(txid(tx));

describe('claims in the mempool during a reorganisation', () => {
  let world: PoolWorld;
  afterEach(() => world.close());

  const coinOf = (tx: Transaction): Coin => coinsOf(tx)[0]!;

  /** Outpoints (`txid:n`) of the claims and supports under the name after the tip, including pending claims. */
  async function filed(): Promise<{ claims: string[]; supports: string[] }> {
    const { store, claims, chain } = world.chain.opened;
    const reader = claimReader(store, claims, chain.index.active);
    const info = await reader.nameAt({ name: NAME, height: world.height });
    const text = ({ txid: id, n }: { txid: Bytes; n: number }): string => `${hashToHex(id)}:${n}`;
    return {
      claims: info.claims.map(text),
      supports: [...info.claims.flatMap(({ supports }) => supports), ...info.supportsWithoutClaim].map(text),
    };
  }

  it('an update returns after its claim, with the support', async () => {
    world = await PoolWorld.open(110);
    const first = claim(await world.coinbase(1));
    const id = claimIdOf(txid(first), 0);
    const second = update(coinOf(first), id);
    const help = support(await world.coinbase(2), id);
    await world.mineBlock([first]);
    await world.mineBlock([second, help]);
    expect((await filed()).claims).toEqual([`${idOf(second)}:0`]);
    const old = await world.disconnectFrom(111);
    expect(world.ids()).toEqual([first, second, help].map(idOf).sort());
    expect(world.mempool.entry(txid(second))).toMatchObject({ ancestorCount: 2, parents: [txid(first)] });
    await world.mempool.check();
    world.chain.timeSec += 3600;
    await world.mineMempool();
    expect(world.mempool.size).toBe(0);
    expect(await filed()).toEqual({ claims: [`${idOf(second)}:0`], supports: [`${idOf(help)}:0`] });
    await world.reconsider(old);
    await world.mempool.check();
    expect(await filed()).toEqual({ claims: [`${idOf(second)}:0`], supports: [`${idOf(help)}:0`] });
  });

  it('an update is removed with the claim that the new branch makes impossible; its support remains without effect', async () => {
    world = await PoolWorld.open(110);
    const coin = await world.coinbase(1);
    const first = claim(coin);
    const id = claimIdOf(txid(first), 0);
    await world.mineBlock([first]);
    const second = update(coinOf(first), id);
    const third = update(coinOf(second), id);
    const help = support(await world.coinbase(2), id);
    for (const tx of [second, third, help]) await world.mustAccept(tx);
    await world.disconnectFrom(111);
    expect(world.ids()).toEqual([first, second, third, help].map(idOf).sort());
    const rival = spendCoins([coin], 3000n);
    world.chain.timeSec += 3600;
    await world.mineBlock([rival]);
    expect(world.ids()).toEqual([idOf(help)]);
    await world.mempool.check();
    await world.mineMempool();
    expect(await filed()).toEqual({ claims: [], supports: [`${idOf(help)}:0`] });
  });

  it('an update returns alone if the new branch has its claim', async () => {
    world = await PoolWorld.open(110);
    const first = claim(await world.coinbase(1));
    const second = update(coinOf(first), claimIdOf(txid(first), 0));
    await world.mineBlock([first]);
    await world.mineBlock([second]);
    const old = await world.disconnectFrom(111);
    world.chain.timeSec += 3600;
    await world.mineBlock([first]);
    expect(world.ids()).toEqual([idOf(second)]);
    expect(world.mempool.entry(txid(second))).toMatchObject({ ancestorCount: 1, parents: [] });
    expect((await filed()).claims).toEqual([`${idOf(first)}:0`]);
    await world.reconsider(old);
    expect(world.mempool.size).toBe(0);
    expect((await filed()).claims).toEqual([`${idOf(second)}:0`]);
    await world.mempool.check();
  });

  it('an abandon returns and is removed with the claim it spends', async () => {
    world = await PoolWorld.open(110);
    const coin = await world.coinbase(1);
    const first = claim(coin);
    const abandon = spendCoins([coinOf(first)], 1000n);
    const heir = spendCoins(coinsOf(abandon), 1000n);
    await world.mineBlock([first, abandon]);
    await world.mustAccept(heir);
    await world.disconnectFrom(111);
    expect(world.ids()).toEqual([first, abandon, heir].map(idOf).sort());
    expect(world.mempool.entry(txid(first))).toMatchObject({ descendantCount: 3 });
    world.chain.timeSec += 3600;
    await world.mineBlock([spendCoins([coin], 2000n)]);
    expect(world.mempool.size).toBe(0);
    await world.mempool.check();
  });

  it('an update of an expired claim remains on both branches: in time it renews, too late it does not', async () => {
    world = await PoolWorld.open(110);
    const first = claim(await world.coinbase(1));
    const id = claimIdOf(txid(first), 0);
    await world.mineBlock([first]);
    const { rules } = world.chain.opened.claims;
    const expiry = 111 + rules.originalExpiration;
    await world.chain.mine(expiry - world.height);
    expect((await filed()).claims).toEqual([]);
    const late = update(coinOf(first), id);
    await world.mustAccept(late);
    const old = await world.disconnectFrom(expiry);
    expect((await filed()).claims).toEqual([`${idOf(first)}:0`]);
    expect(world.ids()).toEqual([idOf(late)]);
    await world.mempool.check();
    world.chain.timeSec += 3600;
    await world.mineMempool();
    expect((await filed()).claims, toHex(id)).toEqual([`${idOf(late)}:0`]);
    await world.disconnectFrom(expiry);
    expect(world.ids()).toEqual([idOf(late)]);
    await world.reconsider(old);
    expect((await filed()).claims).toEqual([]);
    expect(world.ids()).toEqual([idOf(late)]);
    await world.mineMempool();
    expect(world.mempool.size).toBe(0);
    expect((await filed()).claims).toEqual([]);
    await world.mempool.check();
  });
});
