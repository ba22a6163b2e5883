import { afterEach, describe, expect, it, vi } from 'vitest';
import { formatVerdict } from '../../../src/consensus/reject.js';
import { txid, type Transaction } from '../../../src/primitives/transaction.js';
import { hashToHex, toHex } from '../../../src/util/bytes.js';
import { OPEN_SCRIPT } from '../../support/testChain.js';
import { coinsOf, PoolWorld, spendCoins, type Coin } from './support.js';

const REPLACEABLE = 0xfffffffd;
const id = (tx: Transaction): string => hashToHex(txid(tx));

describe('accepting transactions', () => {
  let world: PoolWorld;
  afterEach(() => world.close());

  async function verdict(tx: Transaction, maxFeeSat = 0n): Promise<string> {
    const { accepted, error, missingInputs } = await world.accept(tx, { maxFeeSat });
    return accepted ? 'accepted' : missingInputs ? 'missing inputs' : formatVerdict(error!);
  }

  /** A chain of transactions, each spending the one before. */
  async function chainOf(coin: Coin, length: number, sequence = 0xffffffff): Promise<Transaction[]> {
    const chain: Transaction[] = [];
    for (let n = 0, at = coin; n < length; n++) {
      const tx = spendCoins([at], 1000n, { sequence });
      await world.mustAccept(tx);
      chain.push(tx);
      at = coinsOf(tx)[0]!;
    }
    return chain;
  }

  it('accepts one once, and reports missing inputs', async () => {
    world = await PoolWorld.open(101);
    const tx = spendCoins([await world.coinbase(1)], 1000n);
    expect(await verdict(tx)).toBe('accepted');
    expect(await verdict(tx)).toBe('txn-already-in-mempool (code 18)');
    expect(await verdict(spendCoins([{ txid: txid(tx), n: 1, value: 5000n }], 0n))).toBe('missing inputs');
    expect(await verdict(spendCoins([{ txid: Buffer.alloc(32, 7), n: 0, value: 5000n }], 0n))).toBe(
      'missing inputs',
    );
    expect(world.mempool).toMatchObject({ size: 1, totalSizeBytes: 61, totalFeeSat: 1000n });
  });

  it('leaves no trace after testmempoolaccept', async () => {
    world = await PoolWorld.open(101);
    const tx = spendCoins([await world.coinbase(1)], 1000n);
    expect(await world.accept(tx, { testOnly: true })).toMatchObject({ accepted: true, error: null });
    expect(world.mempool.size).toBe(0);
    expect(world.mempool.changeCount).toBe(0);
  });

  it('refuses a fee above what the caller allows', async () => {
    world = await PoolWorld.open(101);
    const tx = spendCoins([await world.coinbase(1)], 1001n);
    expect(await verdict(tx, 1000n)).toBe('absurdly-high-fee, 1001 > 1000 (code 256)');
    expect(await verdict(tx, 1001n)).toBe('accepted');
  });

  it('includes the fee deltas of prioritisetransaction', async () => {
    world = await PoolWorld.open(101);
    const tx = spendCoins([await world.coinbase(1)], 60n);
    expect(await verdict(tx)).toBe('min relay fee not met, 60 < 61 (code 66)');
    world.mempool.prioritise(txid(tx), 1n);
    expect(await verdict(tx)).toBe('accepted');
    world.mempool.prioritise(txid(tx), 100n);
    expect(world.mempool.entry(txid(tx))).toMatchObject({ feeSat: 60n, modifiedFeeSat: 161n });
    expect(world.mempool.totalFeeSat).toBe(60n);
  });

  it('bounds chains of unconfirmed transactions', async () => {
    world = await PoolWorld.open(104, {
      limits: {
        ancestorCount: 4,
        ancestorSizeBytes: 2000,
        descendantCount: 3,
        descendantSizeBytes: 1500,
      },
    });
    const chain = await chainOf(await world.coinbase(1), 3);
    const [root] = chain as [Transaction];
    const [end] = coinsOf(chain[2]!) as [Coin];
    expect(await verdict(spendCoins([end], 1000n))).toBe(
      `too-long-mempool-chain, too many descendants for tx ${id(root)} [limit: 3] (code 64)`,
    );
    const wide = spendCoins([await world.coinbase(2)], 4000n, { outputs: 2, padding: 1000 });
    await world.mustAccept(wide);
    expect(await verdict(spendCoins([coinsOf(wide)[0]!], 1000n, { padding: 400 }))).toBe(
      `too-long-mempool-chain, exceeds descendant size limit for tx ${id(wide)} [limit: 1500] (code 64)`,
    );
    const other = spendCoins([await world.coinbase(3)], 4000n, { padding: 800 });
    await world.mustAccept(other);
    expect(await verdict(spendCoins([coinsOf(wide)[0]!, coinsOf(other)[0]!], 1000n, { padding: 1 }))).toBe(
      'too-long-mempool-chain, exceeds ancestor size limit [limit: 2000] (code 64)',
    );
    const four = [coinsOf(wide)[1]!, coinsOf(other)[0]!, end, await world.coinbase(4)];
    expect(await verdict(spendCoins(four, 1000n))).toMatch(/^too-long-mempool-chain, too many/);
  });

  it('bounds the number of unconfirmed parents', async () => {
    world = await PoolWorld.open(103, {
      limits: {
        ancestorCount: 3,
        ancestorSizeBytes: 9000,
        descendantCount: 9,
        descendantSizeBytes: 9000,
      },
    });
    const parents: Transaction[] = [];
    for (const height of [1, 2, 3]) {
      const tx = spendCoins([await world.coinbase(height)], 1000n);
      await world.mustAccept(tx);
      parents.push(tx);
    }
    const all = parents.map((tx) => coinsOf(tx)[0]!);
    expect(await verdict(spendCoins(all, 1000n))).toBe(
      'too-long-mempool-chain, too many unconfirmed parents [limit: 3] (code 64)',
    );
    const child = spendCoins(all.slice(0, 1), 1000n);
    await world.mustAccept(child);
    expect(await verdict(spendCoins([coinsOf(child)[0]!, all[1]!], 1000n))).toBe(
      'too-long-mempool-chain, too many unconfirmed ancestors [limit: 3] (code 64)',
    );
  });

  it('reports the spent scripts of a transaction, also of coins that are not cached', async () => {
    world = await PoolWorld.open(101);
    const spent: string[][] = [];
    const end = world.mempool.listen({
      added: (_entry, _bytes, scripts) => void spent.push(scripts.map((script) => toHex(script))),
    });
    const cached = vi.spyOn(world.chain.opened.reader, 'cachedCoin').mockReturnValue(null);
    const first = spendCoins([await world.coinbase(1)], 1000n);
    await world.mustAccept(first);
    await world.mustAccept(spendCoins([coinsOf(first)[0]!], 1000n));
    cached.mockRestore();
    end();
    expect(spent).toEqual([[toHex(OPEN_SCRIPT)], [toHex(first.outputs[0]!.script)]]);
  });

  it('reports added and removed transactions, with the reason', async () => {
    world = await PoolWorld.open(101);
    const events: string[] = [];
    const end = world.mempool.listen({
      added: ({ txid: hash }) => events.push(`+${hashToHex(hash)}`),
      removed: ({ txid: hash }, reason) => events.push(`-${hashToHex(hash)} ${reason}`),
    });
    const coin = await world.coinbase(1);
    const first = spendCoins([coin], 1000n, { sequence: REPLACEABLE });
    const second = spendCoins([coin], 3000n, { sequence: REPLACEABLE });
    await world.mustAccept(first);
    await world.mustAccept(second);
    await world.mineMempool();
    end();
    await world.disconnectFrom(102);
    expect(events).toEqual([
      `+${id(first)}`,
      `-${id(first)} replaced`,
      `+${id(second)}`,
      `-${id(second)} block`,
    ]);
  });
});

describe('replacing transactions', () => {
  let world: PoolWorld;
  afterEach(() => world.close());

  async function verdict(tx: Transaction): Promise<string> {
    const { accepted, error } = await world.accept(tx);
    return accepted ? 'accepted' : formatVerdict(error!);
  }

  it('requires a signal, a higher rate, and more fees than all replaced ones', async () => {
    world = await PoolWorld.open(102);
    const coin = await world.coinbase(1);
    const final = spendCoins([await world.coinbase(2)], 1000n, { sequence: REPLACEABLE + 1 });
    await world.mustAccept(final);
    expect(await verdict(spendCoins([await world.coinbase(2)], 9000n))).toBe(
      'txn-mempool-conflict (code 18)',
    );

    const old = spendCoins([coin], 1000n, { sequence: REPLACEABLE });
    const heir = spendCoins(coinsOf(old), 5000n);
    await world.mustAccept(old);
    await world.mustAccept(heir);
    const try1 = spendCoins([coin], 1000n, { lockTime: 1 });
    expect(await verdict(try1)).toBe(
      `insufficient fee, rejecting replacement ${id(try1)}; new feerate 0.00016393 LBC/kB <= old feerate 0.00016393 LBC/kB (code 66)`,
    );
    const try2 = spendCoins([coin], 5999n);
    expect(await verdict(try2)).toBe(
      `insufficient fee, rejecting replacement ${id(try2)}, less fees than conflicting txs; 0.00005999 < 0.00006 (code 66)`,
    );
    const try3 = spendCoins([coin], 6060n);
    expect(await verdict(try3)).toBe(
      `insufficient fee, rejecting replacement ${id(try3)}, not enough additional fees to relay; 0.0000006 < 0.00000061 (code 66)`,
    );
    const good = spendCoins([coin], 6061n);
    expect(await world.accept(good)).toMatchObject({ accepted: true, replaced: expect.any(Array) });
    expect(world.ids()).toEqual([id(final), id(good)].sort());
    await world.mempool.check();
  });

  it('cannot spend the replaced ones, nor other unconfirmed outputs', async () => {
    world = await PoolWorld.open(103);
    const coin = await world.coinbase(1);
    const old = spendCoins([coin], 1000n, { sequence: REPLACEABLE });
    const other = spendCoins([await world.coinbase(2)], 1000n);
    await world.mustAccept(old);
    await world.mustAccept(other);
    const own = spendCoins([coin, ...coinsOf(old)], 50_000n);
    expect(await verdict(own)).toBe(
      `bad-txns-spends-conflicting-tx, ${id(own)} spends conflicting transaction ${id(old)} (code 16)`,
    );
    const adding = spendCoins([coin, ...coinsOf(other)], 50_000n);
    expect(await verdict(adding)).toBe(
      `replacement-adds-unconfirmed, replacement ${id(adding)} adds unconfirmed input, idx 1 (code 64)`,
    );
    expect(await verdict(spendCoins([coin, await world.coinbase(3)], 50_000n))).toBe('accepted');
  });

  it('replaces at most a hundred at once', async () => {
    const much = {
      ancestorCount: 200,
      ancestorSizeBytes: 1e6,
      descendantCount: 200,
      descendantSizeBytes: 1e6,
    };
    world = await PoolWorld.open(101, { limits: much });
    const coin = await world.coinbase(1);
    let last = spendCoins([coin], 1000n, { sequence: REPLACEABLE });
    await world.mustAccept(last);
    for (let n = 1; n < 101; n++) {
      last = spendCoins(coinsOf(last), 1000n);
      await world.mustAccept(last);
    }
    const replacement = spendCoins([coin], 500_000n);
    expect(await verdict(replacement)).toBe(
      `too many potential replacements, rejecting replacement ${id(replacement)}; too many potential replacements (101 > 100)\n (code 64)`,
    );
  });

  it('can be switched off', async () => {
    world = await PoolWorld.open(101, { allowsReplacement: false });
    const coin = await world.coinbase(1);
    await world.mustAccept(spendCoins([coin], 1000n, { sequence: 0 }));
    expect(await verdict(spendCoins([coin], 9000n, { sequence: 0 }))).toBe('txn-mempool-conflict (code 18)');
  });
});
