import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { REJECT_CODE } from '../../../../src/consensus/reject.js';
import { INV } from '../../../../src/net/inventory.js';
import { KnownTransactions } from '../../../../src/net/relay/knownTransactions.js';
import { OrphanPool } from '../../../../src/net/relay/orphanPool.js';
import type { RelayOptions } from '../../../../src/net/relay/relayOptions.js';
import { TxReceiver } from '../../../../src/net/relay/txReceiver.js';
import { TxRequests } from '../../../../src/net/relay/txRequests.js';
import { formatTransaction, txid, wtxid, type Transaction } from '../../../../src/primitives/transaction.js';
import { hashToHex, toHex, toLatin1, type Bytes } from '../../../../src/util/bytes.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { PartHost, type FakePeer } from '../../../support/fakePeer.js';
import { coinsOf, PoolWorld, spendCoins, type Coin } from '../../mempool/support.js';
import { BLOCKS_ONLY, RELAY, seededRandom } from './support.js';

const FEE = 10_000n;
const id = (tx: Transaction): string => hashToHex(txid(tx));
/** The witness script `1`, which leaves true, and the P2WSH script that pays to its hash. */
const WITNESS_SCRIPT = Buffer.of(0x51);
const WITNESS_PROGRAM = Buffer.from(
  '00204ae81572f06e1b88fd5ced7a1a000945432e83e1551e6f721ee9c00b8cc33260',
  'hex',
);

describe('transactions of peers', () => {
  let world: PoolWorld;
  let nextHeight = 1;
  let known: KnownTransactions;
  let orphans: OrphanPool;
  let requests: TxRequests;
  let receiver: TxReceiver;
  let host: PartHost;
  let announced: string[];
  let extras: { wtxid: string; bytes: string }[];
  const nowMs = 0;

  beforeAll(async () => {
    world = await PoolWorld.open(130);
  });
  afterAll(() => world.close());
  beforeEach(() => make());
  afterEach(() => receiver.close());

  function make(options: RelayOptions = RELAY, maxOrphans = 100): void {
    announced = [];
    extras = [];
    const { mempool, chain } = world;
    const { reader } = chain.opened;
    const nowSec = (): number => chain.timeSec;
    const [random, log] = [seededRandom(), SILENT_LOGGER];
    orphans = new OrphanPool({ maxCount: maxOrphans }, { events: reader.chain.events, random, nowSec, log });
    known = new KnownTransactions({ reader, mempool, orphans, random });
    const announcer = {
      announce: (hash: Bytes) => void announced.push(hashToHex(hash)),
      noteKnown: () => undefined,
    };
    const localServices = (): bigint => 0xdn;
    requests = new TxRequests(options, {
      chain: reader.chain,
      known,
      announcer,
      localServices,
      nowMs: () => nowMs,
      log,
    });
    receiver = new TxReceiver(options, {
      mempool,
      known,
      orphans,
      requests,
      announcer,
      extras: { add: (tx) => void extras.push({ wtxid: hashToHex(tx.wtxid), bytes: toHex(tx.bytes) }) },
      log,
    });
    host = new PartHost([requests, receiver]);
  }

  const coin = (): Promise<Coin> => world.coinbase(nextHeight++);

  function send(peer: FakePeer, tx: Transaction): Promise<void> {
    return host.deliver(peer, 'tx', { raw: formatTransaction(tx) });
  }

  /** Printed ids of the transactions that are now requested from the peer. */
  function asked(peer: FakePeer): string[] {
    host.tick(nowMs, peer);
    return peer.take('getdata').flatMap(({ items }) => items.map(({ hash }) => hashToHex(hash)));
  }

  async function announceTo(peer: FakePeer, tx: Transaction): Promise<string[]> {
    await host.deliver(peer, 'inv', { items: [{ type: INV.tx, hash: txid(tx) }] });
    return asked(peer);
  }

  const isInPool = (tx: Transaction): boolean => world.mempool.hasKey(toLatin1(txid(tx)));
  const isOrphan = (tx: Transaction): boolean => orphans.has(toLatin1(txid(tx)));

  it('enter the mempool and are forwarded', async () => {
    const peer = host.connect();
    const tx = spendCoins([await coin()], FEE);
    expect(await announceTo(peer, tx)).toEqual([id(tx)]);
    await send(peer, tx);
    expect(isInPool(tx)).toBe(true);
    expect(announced).toEqual([id(tx)]);
    expect(peer.useful).toEqual(['tx']);
    expect([peer.rejects, peer.score]).toEqual([[], 0]);
    expect(await announceTo(host.connect(), tx)).toEqual([]);
  });

  it('are processed once, and repetitions are not answered', async () => {
    const peers = [host.connect(), host.connect(), host.connect()];
    const tx = spendCoins([await coin()], FEE);
    await Promise.all(peers.map((peer) => send(peer, tx)));
    expect(announced).toEqual([id(tx)]);
    expect(peers.flatMap(({ useful }) => useful)).toEqual(['tx']);
    expect(peers.flatMap(({ rejects }) => rejects)).toEqual([]);
    expect(known.isRejected(txid(tx))).toBe(false);
  });

  it('that were accepted from another source meanwhile are not counted as refused', async () => {
    const peer = host.connect();
    const tx = spendCoins([await coin()], FEE);
    const other = world.accept(tx);
    await send(peer, tx);
    expect((await other).accepted).toBe(true);
    expect(known.isRejected(txid(tx))).toBe(false);
    expect(peer.score).toBe(0);
  });

  it('are answered with a reject message if they cannot be parsed', async () => {
    const peer = host.connect();
    const raw = formatTransaction(spendCoins([await coin()], FEE)).subarray(0, 50);
    await host.deliver(peer, 'tx', { raw });
    expect(peer.rejects).toMatchObject([
      { command: 'tx', code: REJECT_CODE.MALFORMED, reason: 'error parsing message' },
    ]);
    expect(peer.score).toBe(0);
  });

  it('that are large are parsed in slices, one at a time, while small ones continue', async () => {
    const peers = [host.connect(), host.connect(), host.connect()];
    const coins = [await coin(), await coin()];
    // Transactions with the same id for any witness, and with an unknown parent.
    const large = (items: number): Transaction => {
      const tx = spendCoins([{ ...coins[0]!, txid: Buffer.alloc(32, 9) }], FEE);
      tx.inputs[0]!.witness = Array<Buffer>(items).fill(Buffer.of(1));
      return tx;
    };

    const order: string[] = [];
    const done = (name: string) => () => void order.push(name);
    const small = spendCoins([coins[1]!], FEE);
    await Promise.all([
      send(peers[0]!, large(60_000)).then(done('first')),
      send(peers[1]!, large(50_000)).then(done('second')),
      send(peers[2]!, small).then(done('small')),
    ]);
    expect(order).toEqual(['small', 'first', 'second']);
    expect(isInPool(small)).toBe(true);
    expect(isOrphan(large(0))).toBe(true);
    // A truncated transaction gets the same answer as a small invalid one.
    const cut = formatTransaction(large(60_000)).subarray(0, -9);
    await host.deliver(peers[1]!, 'tx', { raw: cut });
    expect(peers[1]!.rejects).toMatchObject([
      { code: REJECT_CODE.MALFORMED, reason: 'error parsing message' },
    ]);
  });

  describe('that are refused', () => {
    it('cost the score of the verdict, and are answered with the reason', async () => {
      const peer = host.connect();
      const tx = spendCoins([await coin()], FEE);
      tx.outputs[0]!.value = 22_000_000_000n * 100_000_000n;
      await send(peer, tx);
      expect(peer.rejects).toEqual([
        { command: 'tx', code: REJECT_CODE.INVALID, reason: 'bad-txns-vout-toolarge', hash: txid(tx) },
      ]);
      expect(peer.score).toBe(100);
      expect(announced).toEqual([]);
    });

    it('for policy cost nothing', async () => {
      const peer = host.connect();
      await send(peer, spendCoins([await coin()], 1n));
      expect(peer.rejects).toMatchObject([
        { code: REJECT_CODE.INSUFFICIENT_FEE, reason: 'min relay fee not met' },
      ]);
      expect(peer.score).toBe(0);
    });

    it('are not requested again until the tip changes', async () => {
      const [sender, other] = [host.connect(), host.connect()];
      const tx = spendCoins([await coin()], 1n);
      await send(sender, tx);
      expect(known.isRejected(txid(tx))).toBe(true);
      expect(await announceTo(other, tx)).toEqual([]);
      // It is not validated again either.
      await send(other, tx);
      expect(other.rejects).toEqual([]);
      await world.mineBlock([]);
      expect(await announceTo(other, tx)).toEqual([id(tx)]);
      await send(other, tx);
      expect(other.rejects).toHaveLength(1);
    });

    it('are requested again if they have a witness, or seem to lack one', async () => {
      const funding = spendCoins([await coin()], FEE, { script: WITNESS_PROGRAM });
      await world.mineBlock([funding]);
      const [sender, other] = [host.connect(), host.connect()];
      const right = spendCoins(coinsOf(funding), FEE);
      right.inputs[0]!.witness = [WITNESS_SCRIPT];
      const wrong = spendCoins(coinsOf(funding), FEE);
      wrong.inputs[0]!.witness = [Buffer.of(1), WITNESS_SCRIPT];
      const stripped = spendCoins(coinsOf(funding), FEE);
      await send(sender, wrong);
      await send(sender, stripped);
      expect(sender.rejects).toHaveLength(2);
      expect(sender.score).toBe(0);
      expect(known.isRejected(txid(right))).toBe(false);
      expect(await announceTo(other, right)).toEqual([id(right)]);
      await send(other, right);
      expect(isInPool(right)).toBe(true);
      // Of the two, only the transaction with its own witness may be useful.
      expect(extras).toEqual([{ wtxid: hashToHex(wtxid(wrong)), bytes: toHex(formatTransaction(wrong)) }]);
    });

    it('are kept, like replaced ones, for compact blocks', async () => {
      const peer = host.connect();
      const from = await coin();
      const cheap = spendCoins([from], 1n);
      const first = spendCoins([from], FEE, { sequence: 0xfffffffd });
      const second = spendCoins([from], 3n * FEE, { sequence: 0xfffffffd });
      for (const tx of [cheap, first, second]) await send(peer, tx);
      expect(announced).toEqual([id(first), id(second)]);
      expect(extras.map((extra) => extra.wtxid)).toEqual([id(cheap), id(first)]);
    });
  });

  describe('with missing parents', () => {
    /** A chain of transactions. Each spends the previous one. */
    async function family(count: number): Promise<Transaction[]> {
      const all = [spendCoins([await coin()], FEE)];
      while (all.length < count) all.push(spendCoins(coinsOf(all.at(-1)!), FEE));
      return all;
    }

    it('wait for them, and the sender receives requests for them', async () => {
      const [peer, other] = [host.connect(), host.connect()];
      const [parent, child] = await family(2);
      await send(peer, child!);
      expect(isOrphan(child!)).toBe(true);
      expect(asked(peer)).toEqual([id(parent!)]);
      expect(peer.rejects).toEqual([]);
      expect(extras.map((extra) => extra.wtxid)).toEqual([id(child!)]);
      expect(await announceTo(other, child!)).toEqual([]);
      await send(other, parent!);
      expect(announced).toEqual([id(parent!), id(child!)]);
      expect(isInPool(child!)).toBe(true);
      expect(orphans.size).toBe(0);
    });

    it('enter in chains of 25 when the first parent arrives', async () => {
      const peer = host.connect();
      const all = await family(25);
      for (const tx of all.slice(1).reverse()) await send(peer, tx);
      expect(orphans.size).toBe(24);
      expect(announced).toEqual([]);
      await send(peer, all[0]!);
      expect(announced).toEqual(all.map(id));
      expect(orphans.size).toBe(0);
    });

    it('enter when the last of several parents arrives', async () => {
      const peer = host.connect();
      const parents = [spendCoins([await coin()], FEE), spendCoins([await coin()], FEE, { outputs: 2 })];
      const child = spendCoins(parents.flatMap(coinsOf), FEE);
      await send(peer, child);
      expect(asked(peer).sort()).toEqual(parents.map(id).sort());
      await send(peer, parents[1]!);
      expect(isOrphan(child)).toBe(true);
      await send(peer, parents[0]!);
      expect(isInPool(child)).toBe(true);
    });

    it('are limited in number, for any input', async () => {
      await receiver.close();
      make(RELAY, 10);
      const peer = host.connect();
      for (let i = 0; i < 60; i++) {
        const missing = { txid: Buffer.alloc(32, i + 1), n: 0, value: 1_000_000n };
        await send(peer, spendCoins([missing], FEE));
        expect(orphans.size).toBe(Math.min(i + 1, 10));
      }
    });

    it('are not kept if a parent was refused, and are refused with it', async () => {
      const peer = host.connect();
      const parent = spendCoins([await coin()], 1n);
      const child = spendCoins([...coinsOf(parent), await coin()], FEE);
      await send(peer, parent);
      await send(peer, child);
      expect(orphans.size).toBe(0);
      expect(known.isRejected(txid(child))).toBe(true);
      expect(asked(peer)).toEqual([]);
    });

    it('are validated when possible: their sender is punished, not the sender of the parent', async () => {
      const [liar, honest] = [host.connect(), host.connect()];
      const parent = spendCoins([await coin()], FEE, { outputs: 3 });
      const [a, b, c] = coinsOf(parent);
      const overspends = (from: Coin): Transaction => spendCoins([from], -FEE);
      const [bad, worse, good] = [overspends(a!), overspends(b!), spendCoins([c!], FEE)];
      await send(liar, bad);
      await send(liar, worse);
      await send(honest, good);
      expect(orphans.size).toBe(3);
      await send(honest, parent);
      expect(liar.punishments).toEqual(['100 invalid orphan transaction']);
      expect(liar.rejects).toEqual([]);
      expect(honest.score).toBe(0);
      expect(announced).toEqual([id(parent), id(good)]);
      // The first invalid one disconnects the peer, and its other orphan is removed.
      expect(orphans.size).toBe(0);
      expect(known.isRejected(txid(bad))).toBe(true);
      expect(known.isRejected(txid(worse))).toBe(false);
    });

    it('are not processed after another invalid one of a peer that stays', async () => {
      const [liar, honest] = [host.connect({ kind: 'manual' }), host.connect()];
      const parent = spendCoins([await coin()], FEE, { outputs: 2 });
      for (const from of coinsOf(parent)) await send(liar, spendCoins([from], -FEE));
      await send(honest, parent);
      expect(liar.punishments).toHaveLength(1);
      expect(orphans.size).toBe(1);
    });

    it('are dropped if they are refused for policy, without a penalty', async () => {
      const peer = host.connect();
      const [parent] = await family(1);
      const cheap = spendCoins(coinsOf(parent!), 1n);
      await send(peer, cheap);
      await send(peer, parent!);
      expect([orphans.size, peer.score]).toEqual([0, 0]);
      expect(known.isRejected(txid(cheap))).toBe(true);
    });

    it('are removed with the peer that sent them', async () => {
      const peer = host.connect();
      const [, child] = await family(2);
      await send(peer, child!);
      peer.disconnect('done');
      expect(orphans.size).toBe(0);
    });

    it('are not kept for a peer that disconnected meanwhile', async () => {
      const peer = host.connect();
      const [, child] = await family(2);
      const sent = send(peer, child!);
      peer.disconnect('done');
      await sent;
      expect(orphans.size).toBe(0);
    });

    it('are removed by a block that contains them', async () => {
      const peer = host.connect();
      const all = await family(3);
      await send(peer, all[2]!);
      await world.mineBlock(all);
      expect(orphans.size).toBe(0);
      expect(await announceTo(host.connect(), all[2]!)).toEqual([]);
    });
  });

  describe('that must not be sent', () => {
    it('with -blocksonly are ignored, except from whitelisted peers', async () => {
      await receiver.close();
      make(BLOCKS_ONLY);
      const [stranger, friend] = [host.connect(), host.connect({ isWhitelisted: true })];
      const [first, second] = [spendCoins([await coin()], FEE), spendCoins([await coin()], FEE)];
      await send(stranger, first);
      await send(friend, second);
      expect([isInPool(first), isInPool(second)]).toEqual([false, true]);
      expect([stranger.score, stranger.isGone]).toEqual([0, false]);
    });
  });

  describe('of whitelisted peers', () => {
    it('are forwarded again if known or refused for policy, unless they are invalid', async () => {
      const peer = host.connect({ isWhitelisted: true });
      const right = spendCoins([await coin()], FEE);
      await send(peer, right);
      await send(peer, right);
      expect(announced).toEqual([id(right), id(right)]);
      const cheap = spendCoins([await coin()], 1n);
      await send(peer, cheap);
      expect(announced.slice(2)).toEqual([id(cheap)]);
      const wrong = spendCoins([await coin()], -FEE);
      await send(peer, wrong);
      expect(announced.slice(3)).toEqual([]);
      expect(peer.score).toBe(100);
    });

    it('are not forwarded again with -whitelistforcerelay=0', async () => {
      await receiver.close();
      make({ ...RELAY, whitelistForceRelay: false });
      const peer = host.connect({ isWhitelisted: true });
      const right = spendCoins([await coin()], FEE);
      await send(peer, right);
      await send(peer, right);
      expect(announced).toEqual([id(right)]);
    });
  });

  it('are not accepted after a close', async () => {
    const peer = host.connect();
    const tx = spendCoins([await coin()], FEE);
    const sent = send(peer, tx);
    await receiver.close();
    await sent;
    await send(peer, tx);
    expect(announced).toEqual([]);
    expect(isInPool(tx)).toBe(false);
  });
});
