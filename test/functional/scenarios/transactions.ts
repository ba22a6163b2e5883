/** Transactions: announced, requested, sent, refused; and the messages by which a peer limits the announcements. */
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { until } from '../support/network.js';
import { transaction, txid, WITNESS_SCRIPT, witnessTransaction, type Output } from '../support/rawChain.js';
import {
  count,
  filterload,
  INV_TX,
  INV_WITNESS_TX,
  inventory,
  item,
  itemsOf,
  one,
  shown,
  u64,
  withLength,
} from '../support/rawMessages.js';
import type { RawPeer } from '../support/rawPeer.js';
import {
  answersAmong,
  COIN_SAT,
  DUPLICATE,
  DUST,
  INVALID,
  LOW_FEE,
  nextReject,
  NONSTANDARD,
  payloadsOf,
  rejectsIn,
  type PeerFixture,
} from '../support/peerFixture.js';

/** The hash of a transaction that was never requested. */
const unknownHash = (): Buffer => randomBytes(32);

export function transactionScenarios(fixture: () => PeerFixture): void {
  const send = (tx: Buffer): Promise<string> => fixture().rpc('sendrawtransaction', [tx.toString('hex')]);
  const mempool = (): Promise<string[]> => fixture().rpc('getrawmempool');
  const untilInMempool = (tx: Buffer): Promise<void> =>
    until('the transaction in the mempool', async () => (await mempool()).includes(shown(txid(tx))));
  /** Ids of the transactions in an inv. */
  const announced = async (peer: RawPeer): Promise<string[]> => itemsOf(await peer.next('inv'));

  describe('transactions of peers', () => {
    it('are requested when they are announced, and accepted', async () => {
      const peer = await fixture().greet();
      const tx = await fixture().payment();
      peer.send('inv', one(INV_TX, txid(tx)));
      expect(itemsOf(await peer.next('getdata'))).toEqual([item(INV_WITNESS_TX, txid(tx))]);
      peer.send('tx', tx);
      await untilInMempool(tx);
      peer.send('inv', one(INV_TX, txid(tx)));
      await fixture().expectScore(peer, 0);
      expect(payloadsOf(peer.inbox, 'getdata')).toEqual([]);
    });

    it('are requested without witness from peers without witness support', async () => {
      const peer = await fixture().greet({ services: 5n });
      const hash = unknownHash();
      peer.send('inv', one(INV_TX, hash));
      expect(itemsOf(await peer.next('getdata'))).toEqual([item(INV_TX, hash)]);
    });

    it('are requested from one peer at a time', async () => {
      const [hash, other] = [unknownHash(), unknownHash()];
      const [first, second] = [await fixture().greet(), await fixture().greet()];
      first.send('inv', one(INV_TX, hash));
      await first.next('getdata');
      second.send('inv', one(INV_TX, hash));
      second.send('inv', one(INV_TX, other));
      expect(itemsOf(await second.next('getdata'))).toEqual([item(INV_WITNESS_TX, other)]);
    });

    it('are accepted without a request, and relayed with and without witness', async () => {
      const fund = await fixture().payment([{ valueSat: COIN_SAT - 1000n, script: WITNESS_SCRIPT }]);
      const { whole, stripped } = witnessTransaction(txid(fund), [{ valueSat: COIN_SAT - 2000n }]);
      const [giver, taker] = [await fixture().greet(), await fixture().greetTrusted()];
      giver.send('tx', fund);
      giver.send('tx', whole);
      const reported: string[] = [];
      while (reported.length < 2) reported.push(...(await announced(taker)));
      expect(reported.sort()).toEqual([fund, stripped].map((tx) => item(INV_TX, txid(tx))).sort());
      const items = [INV_TX, INV_WITNESS_TX].map((type) => ({ type, hash: txid(stripped) }));
      const missing = { type: INV_TX, hash: unknownHash() };
      taker.send('getdata', inventory([...items, missing]));
      expect(await taker.next('tx')).toEqual(stripped);
      expect(await taker.next('tx')).toEqual(whole);
      expect(itemsOf(await taker.next('notfound'))).toEqual([item(INV_TX, missing.hash)]);
    });

    it('without parents wait for their parents, which are requested', async () => {
      const parent = await fixture().payment();
      const child = transaction([{ txid: txid(parent) }], [{ valueSat: COIN_SAT - 2000n }]);
      const peer = await fixture().greet();
      peer.send('tx', child);
      expect(itemsOf(await peer.next('getdata'))).toEqual([item(INV_WITNESS_TX, txid(parent))]);
      expect(await mempool()).not.toContain(shown(txid(child)));
      peer.send('tx', parent);
      await untilInMempool(child);
      await fixture().expectScore(peer, 0);
    });

    it('without parents are limited', async () => {
      const peer = await fixture().greet();
      for (let i = 0; i < 500; i++)
        peer.send('tx', transaction([{ txid: unknownHash(), index: i }], [{ valueSat: 1000n + BigInt(i) }]));
      await fixture().expectScore(peer, 0);
    });
  });

  describe('refused transactions', () => {
    const open = (valueSat: bigint): Output => ({ valueSat });

    it.each<[string, (coin: Buffer) => Buffer, number, string, number]>([
      ['no inputs', () => transaction([], []), INVALID, 'bad-txns-vin-empty', 10],
      ['no outputs', (coin) => transaction([{ txid: coin }], []), INVALID, 'bad-txns-vout-empty', 10],
      [
        'the same coin twice',
        (coin) => transaction([{ txid: coin }, { txid: coin }], [open(1000n)]),
        INVALID,
        'bad-txns-inputs-duplicate',
        100,
      ],
      [
        'a negative amount',
        (coin) => transaction([{ txid: coin }], [open(-1n)]),
        INVALID,
        'bad-txns-vout-negative',
        100,
      ],
      [
        'more than there is',
        (coin) => transaction([{ txid: coin }], [open(2_100_000_000_000_000_001n)]),
        INVALID,
        'bad-txns-vout-toolarge',
        100,
      ],
      [
        'more out than in',
        (coin) => transaction([{ txid: coin }], [open(COIN_SAT + 1n)]),
        INVALID,
        'bad-txns-in-belowout',
        100,
      ],
      [
        'a coinbase',
        (coin) => transaction([{ txid: Buffer.alloc(32), index: 0xffffffff, script: coin }], [open(1000n)]),
        INVALID,
        'coinbase',
        100,
      ],
      [
        'a script that fails',
        (coin) => transaction([{ txid: coin, script: Buffer.of(1, 0x52) }], [open(1000n)]),
        INVALID,
        'mandatory-script-verify-flag-failed (Script evaluated without error but finished with a false/empty top stack e',
        100,
      ],
      [
        'no fee',
        (coin) => transaction([{ txid: coin }], [open(COIN_SAT)]),
        LOW_FEE,
        'min relay fee not met',
        0,
      ],
      ['dust', (coin) => transaction([{ txid: coin }], [open(1n), open(COIN_SAT - 1000n)]), DUST, 'dust', 0],
      [
        'a script of no kind',
        (coin) => transaction([{ txid: coin }], [{ valueSat: 1000n, script: Buffer.of(0x51) }]),
        NONSTANDARD,
        'scriptpubkey',
        0,
      ],
    ])('%s', async (_what, make, code, reason, points) => {
      const peer = await fixture().greetTrusted();
      const tx = make(await fixture().coin());
      peer.send('tx', tx);
      // A reject message has at most 111 bytes of the reason.
      expect(await nextReject(peer)).toEqual({ message: 'tx', code, reason, hash: shown(txid(tx)) });
      await fixture().expectScore(peer, points);
      if (points < 100) return;
      const other = await fixture().greet();
      other.send('tx', make(await fixture().coin()));
      await fixture().expectSentAway(other);
    });

    it('are not requested again until the tip changes', async () => {
      const peer = await fixture().greet();
      const poor = transaction([{ txid: await fixture().coin() }], [open(COIN_SAT)]);
      peer.send('tx', poor);
      await nextReject(peer);
      const other = unknownHash();
      peer.send('inv', inventory([txid(poor), other].map((hash) => ({ type: INV_TX, hash }))));
      expect(itemsOf(await peer.next('getdata'))).toEqual([item(INV_WITNESS_TX, other)]);
      expect(rejectsIn(await peer.answersTo('tx', poor))).toEqual([]);
      await fixture().generate(1);
      expect(rejectsIn(await peer.answersTo('tx', poor))).toMatchObject([{ code: LOW_FEE }]);
    });

    it('are refused if they conflict with the mempool, or are already in it', async () => {
      const peer = await fixture().greet();
      const coin = await fixture().coin();
      const first = transaction([{ txid: coin }], [open(COIN_SAT - 5000n)]);
      const second = transaction([{ txid: coin }], [open(COIN_SAT - 9000n)]);
      peer.send('tx', first);
      await untilInMempool(first);
      peer.send('tx', second);
      expect(await nextReject(peer)).toMatchObject({ code: DUPLICATE, reason: 'txn-mempool-conflict' });
      expect(answersAmong(await peer.answersTo('tx', first))).toEqual([]);
      await fixture().expectScore(peer, 0);
    });
  });

  describe('own transactions', () => {
    it('are announced in answer to a mempool request, and served only after an announcement', async () => {
      const tx = await fixture().payment();
      const other = await fixture().greet({ relay: false });
      await send(tx);
      other.send('getdata', one(INV_TX, txid(tx)));
      expect(itemsOf(await other.next('notfound'))).toEqual([item(INV_TX, txid(tx))]);
      const peer = await fixture().greetTrusted();
      peer.send('mempool');
      const reported = await announced(peer);
      expect(reported).toContain(item(INV_TX, txid(tx)));
      expect(reported).toHaveLength((await mempool()).length);
      peer.send('getdata', one(INV_TX, txid(tx)));
      expect(await peer.next('tx')).toEqual(tx);
    });

    it('are not announced to a peer without relay, until it sets or clears a filter', async () => {
      const shy = await fixture().greetTrusted({ relay: false });
      const eager = await fixture().greetTrusted();
      await shy.settled();
      const first = await fixture().payment();
      await send(first);
      expect(await announced(eager)).toEqual([item(INV_TX, txid(first))]);
      expect(await fixture().infoOf(shy)).toMatchObject({ relaytxes: false });
      shy.send('filterclear');
      await shy.settled();
      const second = await fixture().payment();
      await send(second);
      expect(await announced(shy)).toEqual([item(INV_TX, txid(second))]);
      expect(await fixture().infoOf(shy)).toMatchObject({ relaytxes: true });
    });

    it('are announced through the filter of the peer', async () => {
      const peer = await fixture().greetTrusted();
      const [wanted, other] = [await fixture().payment(), await fixture().payment()];
      peer.send('filterload', filterload(Buffer.alloc(512), 10));
      peer.send('filteradd', withLength(txid(wanted)));
      await peer.settled();
      await send(other);
      await send(wanted);
      expect(await announced(peer)).toEqual([item(INV_TX, txid(wanted))]);
      expect(payloadsOf(await peer.settled(), 'inv')).toEqual([]);
    });

    it('are not announced below the fee filter of the peer', async () => {
      const peer = await fixture().greetTrusted();
      const [poor, rich] = [
        await fixture().payment(),
        await fixture().payment([{ valueSat: COIN_SAT - 100_000n }]),
      ];
      peer.send('feefilter', u64(100_000n));
      // Invalid amounts, so they are ignored.
      for (const rate of [-1n, 2_100_000_000_000_000_001n]) peer.send('feefilter', u64(rate));
      await peer.settled();
      await send(poor);
      await send(rich);
      expect(await announced(peer)).toEqual([item(INV_TX, txid(rich))]);
      expect(payloadsOf(await peer.settled(), 'inv')).toEqual([]);
    });
  });

  describe('filters at and above their limits', () => {
    it.each<[string, string, Buffer]>([
      ['too much data', 'filterload', filterload(Buffer.alloc(36_001), 1)],
      ['too many functions', 'filterload', filterload(Buffer.alloc(1), 51)],
      ['too long an item', 'filteradd', Buffer.concat([count(20_001), Buffer.alloc(20_001)])],
    ])('end the connection: %s', async (_what, command, payload) => {
      const peer = await fixture().greet();
      peer.send(command, payload);
      await fixture().expectSentAway(peer);
    });

    it('are accepted up to the maximum size', async () => {
      const peer = await fixture().greet();
      peer.send('filterload', filterload(Buffer.alloc(36_000), 50));
      peer.send('filteradd', withLength(Buffer.alloc(20_000)));
      peer.send('filterload', filterload(Buffer.alloc(0), 0));
      peer.send('filteradd', withLength(Buffer.alloc(0)));
      await fixture().expectScore(peer, 0);
    });
  });
}
