/** Blocks that peers send: requested or not, full or compact, valid or invalid. */
import { describe, expect, it } from 'vitest';
import { until } from '../support/network.js';
import {
  hasBlock,
  mineBlock,
  mineHeaders,
  mineRow,
  placeAt,
  transaction,
  txid,
  type Changes,
  type MinedBlock,
  type Place,
} from '../support/rawChain.js';
import {
  blocktxn,
  cmpctblock,
  Cursor,
  headers,
  INV_WITNESS_BLOCK,
  item,
  itemsOf,
  locator,
  NO_HASH,
  sendcmpct,
  shortId,
  shown,
} from '../support/rawMessages.js';
import { frame, type RawPeer } from '../support/rawPeer.js';
import {
  answersAmong,
  COIN_SAT,
  INVALID,
  MALFORMED,
  nextReject,
  payloadsOf,
  rejectsIn,
  type PeerFixture,
} from '../support/peerFixture.js';

export function blockScenarios(fixture: () => PeerFixture): void {
  const tip = (): Promise<Place> => placeAt(fixture());

  describe('unrequested blocks', () => {
    it('are accepted if they follow the tip', async () => {
      const peer = await fixture().greet();
      const block = mineBlock(await tip());
      peer.send('block', block.raw);
      await fixture().untilTip(block);
      await fixture().expectScore(peer, 0);
    });

    it('are accepted with trailing bytes, and once', async () => {
      const peer = await fixture().greet();
      const block = mineBlock(await tip());
      peer.send('block', Buffer.concat([block.raw, Buffer.alloc(1000, 1)]));
      await fixture().untilTip(block);
      for (let i = 0; i < 3; i++) peer.send('block', block.raw);
      expect(rejectsIn(await peer.settled())).toEqual([]);
      await fixture().expectScore(peer, 0);
    });

    it('may be of any version below the height of BIP34', async () => {
      const peer = await fixture().greet();
      const block = mineBlock(await tip(), [], { version: 1 });
      peer.send('block', block.raw);
      await fixture().untilTip(block);
    });

    it('are ignored if they have less work than the tip, or no known parent', async () => {
      const peer = await fixture().greet();
      const best = await tip();
      const weak = mineBlock(await placeAt(fixture(), best.height - 5));
      const lost = mineBlock({ ...best, hash: Buffer.alloc(32, 9) });
      peer.send('block', weak.raw);
      peer.send('block', lost.raw);
      expect(rejectsIn(await peer.settled())).toEqual([]);
      await fixture().expectScore(peer, 0);
      expect(await hasBlock(fixture(), weak.hash)).toBe(false);
      expect(await hasBlock(fixture(), lost.hash)).toBe(false);
      expect(await fixture().tipHash()).toBe(shown(best.hash));
    });

    it('are ignored if they are far ahead of the tip', async () => {
      const peer = await fixture().greet({ services: 0n });
      const best = await tip();
      const far = mineRow(best, 290);
      peer.send('headers', headers(far.map(({ header }) => header)));
      peer.send('block', far[288]!.raw);
      await peer.settled();
      expect(await hasBlock(fixture(), far[288]!.hash)).toBe(false);
      peer.send('block', far[287]!.raw);
      await peer.settled();
      await until('the block that is just near enough', () => hasBlock(fixture(), far[287]!.hash));
      expect(await fixture().tipHash()).toBe(shown(best.hash));
    });
  });

  describe('a message after blocks on a connection', () => {
    const heightOf = (): Promise<number> => fixture().rpc<number>('getblockcount');

    it('is answered when all of them are connected, however many', async () => {
      const [peer, other] = [await fixture().greet(), await fixture().greet()];
      other.send('sendheaders');
      const best = await tip();
      // Shows the node that this peer knows the tip. The node then announces the next blocks to it by headers.
      other.send('getheaders', locator([best.hash]));
      await other.settled();
      const row = mineRow(best, 300);
      peer.sendBytes(Buffer.concat(row.map(({ raw }) => frame('block', raw))));
      await peer.handled();
      expect(await heightOf()).toBe(best.height + row.length);
      // Each block was announced in a message of its own.
      const reported = await other.settled();
      expect(reported.filter(({ command }) => command === 'inv')).toEqual([]);
      const announced = payloadsOf(reported, 'headers').map((payload) =>
        payload.subarray(1, 113).toString('hex'),
      );
      expect(announced).toEqual(row.map(({ header }) => header.toString('hex')));
    });

    it('is answered when blocks that waited for the last one are connected too', async () => {
      const peer = await fixture().greet();
      const best = await tip();
      const row = mineRow(best, 12);
      peer.send('headers', headers(row.map(({ header }) => header)));
      await peer.handled();
      for (const { raw } of [...row].reverse()) peer.send('block', raw);
      await peer.handled();
      expect(await heightOf()).toBe(best.height + row.length);
    });

    it('is processed in the state after them', async () => {
      const peer = await fixture().greetTrusted();
      const parent = await fixture().payment();
      const child = transaction([{ txid: txid(parent) }], [{ valueSat: COIN_SAT - 2000n }]);
      const row = mineRow(await tip(), 5);
      const last = mineBlock(row.at(-1)!, [parent]);
      for (const { raw } of [...row, last]) peer.send('block', raw);
      peer.send('tx', child);
      await peer.handled();
      expect(await fixture().rpc('getrawmempool')).toContain(shown(txid(child)));
      await fixture().generate(1);
    });
  });

  describe('invalid blocks', () => {
    const nothing = transaction([{ txid: Buffer.alloc(32, 0x77) }], [{ valueSat: 1000n }]);
    type Broken = (parent: Place, coin: Buffer) => MinedBlock;
    const changed =
      (changes: Changes): Broken =>
      (parent) =>
        mineBlock(parent, [], changes);
    const spends = (coin: Buffer, valueSat = COIN_SAT): Buffer =>
      transaction([{ txid: coin }], [{ valueSat }]);
    const emptied = (block: MinedBlock): MinedBlock => ({
      ...block,
      raw: Buffer.concat([block.header, Buffer.of(0)]),
    });
    const wrong: [string, Broken, string, number][] = [
      ['work that is not there', changed({ noWork: true }), 'high-hash', 50],
      ['a root of other transactions', changed({ merkleRoot: Buffer.alloc(32, 1) }), 'bad-txnmrklroot', 100],
      ['a root of other claims', changed({ claimRoot: Buffer.alloc(32, 2) }), 'bad-claim-merkle-hash', 100],
      ['too high a reward', changed({ coinbaseSat: COIN_SAT + 1n }), 'bad-cb-amount', 100],
      ['a target that is not the due one', changed({ bits: 0x207ffffe }), 'bad-diffbits', 100],
      ['a time too far ahead', changed({ timeSec: Math.floor(Date.now() / 1000) + 9000 }), 'time-too-new', 0],
      ['a time too far back', changed({ timeSec: 1_500_000_000 }), 'time-too-old', 0],
      [
        'no coinbase',
        (parent) => mineBlock(parent, [nothing], {}, (txs) => txs.slice(1)),
        'bad-cb-missing',
        100,
      ],
      [
        'two coinbases',
        (parent) => mineBlock(parent, [], {}, ([first]) => [first!, first!]),
        'bad-txns-duplicate',
        100,
      ],
      [
        'two different coinbases',
        (parent) => mineBlock(parent, [], {}, (txs) => [...txs, ...mineBlock(parent).txs]),
        'bad-cb-multiple',
        100,
      ],
      [
        'a coin that is not there',
        (parent) => mineBlock(parent, [nothing]),
        'bad-txns-inputs-missingorspent',
        100,
      ],
      [
        'a coin twice',
        (parent, coin) => mineBlock(parent, [spends(coin), spends(coin, 5n)]),
        'bad-txns-inputs-missingorspent',
        100,
      ],
      [
        'more out than in',
        (parent, coin) => mineBlock(parent, [spends(coin, COIN_SAT + 1n)]),
        'bad-txns-in-belowout',
        100,
      ],
      [
        'a script that fails',
        (parent, coin) =>
          mineBlock(parent, [transaction([{ txid: coin, script: Buffer.of(1, 0x52) }], [{ valueSat: 5n }])]),
        'block-validation-failed',
        100,
      ],
      [
        'no transactions',
        (parent) => emptied(mineBlock(parent, [], { merkleRoot: NO_HASH })),
        'bad-blk-length',
        100,
      ],
    ];

    it.each(wrong)('%s', async (_what, make, reason, points) => {
      const peer = await fixture().greetTrusted();
      const best = await tip();
      const block = make(best, await fixture().coin());
      peer.send('block', block.raw);
      expect(await nextReject(peer)).toEqual({
        message: 'block',
        code: INVALID,
        reason,
        hash: shown(block.hash),
      });
      await fixture().expectScore(peer, points);
      expect(await fixture().tipHash()).toBe(shown(best.hash));
      if (points < 100) return;
      const other = await fixture().greet();
      other.send('block', make(best, await fixture().coin()).raw);
      await fixture().expectSentAway(other);
      expect(await nextReject(other)).toMatchObject({ reason });
    });

    it('that are known cost nothing more', async () => {
      const [first, second] = [await fixture().greetTrusted(), await fixture().greet()];
      const block = mineBlock(await tip(), [], { coinbaseSat: COIN_SAT + 7n });
      first.send('block', block.raw);
      await nextReject(first);
      expect(rejectsIn(await second.answersTo('block', block.raw))).toEqual([]);
      await fixture().expectScore(second, 0);
      const child = mineBlock(block);
      second.send('block', child.raw);
      expect(await nextReject(second)).toMatchObject({ code: INVALID, reason: 'bad-prevblk' });
      await fixture().expectSentAway(second);
    });

    it('with invalid transactions only do not prevent the valid block', { retry: 2 }, async () => {
      const [liar, honest] = [await fixture().greet(), await fixture().greet()];
      const block = mineBlock(await tip(), [
        transaction([{ txid: await fixture().coin() }], [{ valueSat: 5n }]),
      ]);
      const fake = Buffer.from(block.raw);
      fake[fake.length - 1]! ^= 1;
      liar.send('headers', headers([block.header]));
      expect(itemsOf(await liar.next('getdata'))).toEqual([item(INV_WITNESS_BLOCK, block.hash)]);
      liar.send('block', fake);
      await fixture().expectSentAway(liar);
      expect(await nextReject(liar)).toMatchObject({ reason: 'bad-txnmrklroot' });
      honest.send('headers', headers([block.header]));
      expect(itemsOf(await honest.next('getdata'))).toEqual([item(INV_WITNESS_BLOCK, block.hash)]);
      honest.send('block', block.raw);
      await fixture().untilTip(block);
    });

    it('that cannot be read are rejected and forgotten', async () => {
      const peer = await fixture().greet();
      const block = mineBlock(await tip());
      peer.send('block', block.raw.subarray(0, -1));
      expect(await nextReject(peer)).toMatchObject({ message: 'block', code: MALFORMED });
      peer.send('block', block.raw);
      await fixture().untilTip(block);
      await fixture().expectScore(peer, 0);
    });
  });

  // On this network requested blocks must arrive within a second, and machines pause at times.
  describe('requested blocks that do not arrive', { retry: 2 }, () => {
    it('are requested from another peer, and the silent peer is disconnected', async () => {
      const [liar, honest] = [await fixture().greet(), await fixture().greet()];
      const row = mineRow(await tip(), 4);
      const all = headers(row.map(({ header }) => header));
      liar.send('headers', all);
      expect(itemsOf(await liar.next('getdata'))).toHaveLength(4);
      honest.send('headers', all);
      await honest.settled();
      // With two peers, a requested block may take one and a half times the block interval of this network.
      await fixture().expectSentAway(liar);
      expect(itemsOf(await honest.next('getdata'))).toHaveLength(4);
      for (const { raw } of row) honest.send('block', raw);
      await fixture().untilTip(row[3]!);
    });

    it('of a branch known only by headers delay nothing', async () => {
      const liar = await fixture().greet();
      const best = await tip();
      liar.send('headers', headers(mineHeaders(best, 100)));
      await liar.next('getdata');
      const honest = await fixture().greet();
      const row = mineRow(best, 20);
      honest.send('headers', headers(row.map(({ header }) => header)));
      for (const { raw } of row) honest.send('block', raw);
      await fixture().untilTip(row[19]!);
      await fixture().expectSentAway(liar);
      await fixture().expectScore(honest, 0);
    });
  });

  describe('compact blocks', { retry: 2 }, () => {
    async function compactPeer(trusted = false): Promise<RawPeer> {
      const peer = trusted ? await fixture().greetTrusted() : await fixture().greet();
      peer.send('sendcmpct', sendcmpct(true, 2));
      await peer.settled();
      return peer;
    }
    /** The coinbase, and short ids of the other transactions. */
    const compact = (block: MinedBlock, nonce = 5n): Buffer =>
      cmpctblock(
        block.header,
        nonce,
        block.txs.slice(1).map((tx) => shortId(block.header, nonce, txid(tx))),
        [{ step: 0, tx: block.txs[0]! }],
      );
    const wantedOf = (payload: Buffer): number[] => {
      const cursor = new Cursor(payload);
      cursor.hash();
      let next = 0;
      return cursor.list((each) => (next += each.count() + 1) - 1);
    };

    it('are assembled from the mempool, and missing transactions are requested', async () => {
      const peer = await compactPeer();
      const here = await fixture().payment();
      await fixture().rpc('sendrawtransaction', [here.toString('hex')]);
      const block = mineBlock(await tip(), [await fixture().payment(), here, await fixture().payment()]);
      peer.send('cmpctblock', compact(block));
      expect(wantedOf(await peer.next('getblocktxn'))).toEqual([1, 3]);
      peer.send('blocktxn', blocktxn(block.hash, [block.txs[1]!, block.txs[3]!]));
      await fixture().untilTip(block);
      const whole = mineBlock(await tip());
      peer.send('cmpctblock', compact(whole));
      await fixture().untilTip(whole);
      await fixture().expectScore(peer, 0);
    });

    it('are downloaded whole if the sent transactions do not match', async () => {
      const peer = await compactPeer();
      const block = mineBlock(await tip(), [await fixture().payment(), await fixture().payment()]);
      peer.send('cmpctblock', compact(block));
      await peer.next('getblocktxn');
      peer.send('blocktxn', blocktxn(block.hash, [block.txs[2]!, block.txs[1]!]));
      expect(itemsOf(await peer.next('getdata'))).toEqual([item(INV_WITNESS_BLOCK, block.hash)]);
      peer.send('block', block.raw);
      await fixture().untilTip(block);
      await fixture().expectScore(peer, 0);
    });

    it('are downloaded whole if two short ids are equal', async () => {
      const peer = await compactPeer();
      const block = mineBlock(await tip(), [await fixture().payment(), await fixture().payment()]);
      const same = Buffer.alloc(6, 1);
      peer.send('cmpctblock', cmpctblock(block.header, 1n, [same, same], [{ step: 0, tx: block.txs[0]! }]));
      expect(itemsOf(await peer.next('getdata'))).toEqual([item(INV_WITNESS_BLOCK, block.hash)]);
      peer.send('block', block.raw);
      await fixture().untilTip(block);
    });

    it('with too few transactions, or too many, end the connection', async () => {
      for (const given of [1, 3]) {
        const peer = await compactPeer();
        const block = mineBlock(await tip(), [await fixture().payment(), await fixture().payment()]);
        peer.send('cmpctblock', compact(block));
        await peer.next('getblocktxn');
        peer.send('blocktxn', blocktxn(block.hash, Array<Buffer>(given).fill(block.txs[1]!)));
        await fixture().expectSentAway(peer);
      }
    });

    it.each<[string, (block: MinedBlock) => Buffer]>([
      ['nothing in it', ({ header }) => cmpctblock(header, 1n, [], [])],
      ['a place beyond its end', ({ header, txs }) => cmpctblock(header, 1n, [], [{ step: 1, tx: txs[0]! }])],
      [
        'an empty transaction',
        ({ header }) =>
          cmpctblock(header, 1n, [], [{ step: 0, tx: Buffer.from('02000000000000000000', 'hex') }]),
      ],
    ])('end the connection: %s', async (_what, make) => {
      const peer = await compactPeer();
      peer.send('cmpctblock', make(mineBlock(await tip())));
      await fixture().expectSentAway(peer);
    });

    it('that are invalid are rejected without a penalty, because peers may relay them unchecked', async () => {
      const peer = await compactPeer();
      const block = mineBlock(await tip(), [], { coinbaseSat: COIN_SAT + 3n });
      peer.send('cmpctblock', compact(block));
      expect(await nextReject(peer)).toMatchObject({ reason: 'bad-cb-amount', hash: shown(block.hash) });
      await fixture().expectScore(peer, 0);
    });

    it('without a pending request for their transactions are ignored', async () => {
      const peer = await fixture().greet();
      // The first request is the node's own.
      await peer.next('getheaders');
      const block = mineBlock(await tip());
      expect(answersAmong(await peer.answersTo('blocktxn', blocktxn(block.hash, block.txs)))).toEqual([]);
      const lost = mineBlock({ ...(await tip()), hash: Buffer.alloc(32, 8) });
      peer.send('cmpctblock', compact(lost));
      await peer.next('getheaders');
      await fixture().expectScore(peer, 0);
    });
  });
}
