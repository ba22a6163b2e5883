/** Headers that peers send: valid ones, invalid ones, and ones that do not connect. */
import { describe, expect, it } from 'vitest';
import {
  blockHash,
  mineBlock,
  mineHeader,
  mineHeaders,
  mineRow,
  placeAt,
  type Changes,
  type Place,
} from '../support/rawChain.js';
import {
  cmpctblock,
  headers,
  INV_BLOCK,
  INV_WITNESS_BLOCK,
  item,
  itemsOf,
  one,
  readLocator,
  sendcmpct,
  shown,
} from '../support/rawMessages.js';
import type { RawPeer } from '../support/rawPeer.js';
import { payloadsOf, rejectsIn, type PeerFixture } from '../support/peerFixture.js';

const NOW = (): number => Math.floor(Date.now() / 1000);
const ROOT = Buffer.alloc(32, 7);

export function headerScenarios(fixture: () => PeerFixture): void {
  const tip = (): Promise<Place> => placeAt(fixture());
  const untilAsked = async (peer: RawPeer, count: number): Promise<string[]> => {
    const asked: string[] = [];
    while (asked.length < count) asked.push(...itemsOf(await peer.next('getdata')));
    return asked;
  };

  // On this network requested blocks must arrive within a second, and machines pause at times.
  describe('headers of new blocks', { retry: 2 }, () => {
    it('are followed by a request for the blocks, and the blocks become the chain', async () => {
      const peer = await fixture().greet();
      const row = mineRow(await tip(), 3);
      peer.send('headers', headers(row.map(({ header }) => header)));
      expect(await untilAsked(peer, 3)).toEqual(row.map(({ hash }) => item(INV_WITNESS_BLOCK, hash)));
      for (const { raw } of row) peer.send('block', raw);
      await fixture().untilTip(row[2]!);
      await fixture().expectScore(peer, 0);
      const info = await fixture().infoOf(peer);
      expect(info).toMatchObject({ synced_headers: row[2]!.height, inflight: [] });
    });

    it('are requested when a block is announced by its id', async () => {
      const peer = await fixture().greet();
      await peer.settled();
      const best = await tip();
      const block = mineBlock(best);
      peer.send('inv', one(INV_BLOCK, block.hash));
      const question = await peer.nextOf(
        ({ command, payload }) => command === 'getheaders' && readLocator(payload).stop.equals(block.hash),
        'a question for the headers up to the block',
      );
      expect(shown(readLocator(question.payload).hashes[0]!)).toBe(shown(best.hash));
      peer.send('headers', headers([block.header]));
      expect(await untilAsked(peer, 1)).toEqual([item(INV_WITNESS_BLOCK, block.hash)]);
      peer.send('block', block.raw);
      await fixture().untilTip(block);
    });

    it('are requested as compact blocks from a peer that sends those, one block at a time', async () => {
      const peer = await fixture().greet();
      peer.send('sendcmpct', sendcmpct(false, 2));
      const block = mineBlock(await tip());
      peer.send('headers', headers([block.header]));
      expect(await untilAsked(peer, 1)).toEqual([item(4, block.hash)]);
      peer.send('cmpctblock', cmpctblock(block.header, 1n, [], [{ step: 0, tx: block.txs[0]! }]));
      await fixture().untilTip(block);
      // A peer that was useful is asked to send the next blocks without a request.
      expect(await peer.nextOf(({ payload }) => payload[0] === 1, 'sendcmpct')).toMatchObject({
        command: 'sendcmpct',
      });
    });

    it('are requested from a branch with as much work, but not from one with less', async () => {
      const peer = await fixture().greet();
      const best = await tip();
      const [equal] = mineRow(await placeAt(fixture(), best.height - 1), 1);
      const weak = mineRow(await placeAt(fixture(), best.height - 3), 2);
      peer.send('headers', headers(weak.map(({ header }) => header)));
      await fixture().expectScore(peer, 0);
      peer.send('headers', headers([equal!.header]));
      expect(await untilAsked(peer, 1)).toEqual([item(INV_WITNESS_BLOCK, equal!.hash)]);
      peer.send('block', equal!.raw);
      await fixture().expectScore(peer, 0);
      expect(await fixture().tipHash()).toBe(shown(best.hash));
    });
  });

  describe('headers that are wrong', () => {
    const wrong: [string, Changes, number][] = [
      ['work that is not there', { noWork: true }, 50],
      ['a target that is not the due one', { bits: 0x207ffffe }, 100],
      ['a target beyond the limit', { bits: 0x2100ffff }, 50],
      ['a target of nothing', { bits: 0 }, 50],
      ['a negative target', { bits: 0x20ffffff }, 50],
      ['a time before the last eleven', { timeSec: 1_500_000_000 }, 0],
      ['a time two hours and more ahead', { timeSec: NOW() + 9000 }, 0],
    ];
    it.each(wrong)('%s', async (_what, changes, points) => {
      const peer = await fixture().greetTrusted();
      const parent = await tip();
      const known = (): Promise<unknown> => fixture().rpc('getchaintips');
      const before = await known();
      const header = mineHeader(parent, ROOT, changes);
      peer.send('headers', headers([header]));
      await fixture().expectScore(peer, points);
      expect(payloadsOf(peer.inbox, 'getdata')).toEqual([]);
      expect(await known()).toEqual(before);
      // The same with a compact block.
      peer.send('cmpctblock', cmpctblock(header, 1n, [], [{ step: 0, tx: mineBlock(parent).txs[0]! }]));
      await fixture().expectScore(peer, 2 * points);
      if (points === 0) return;
      const other = await fixture().greet();
      for (let sent = 0; sent < 100; sent += points) other.send('headers', headers([header]));
      await fixture().expectSentAway(other);
    });

    it('keep what is right before the first wrong one', async () => {
      const peer = await fixture().greet();
      const parent = await tip();
      const row = mineHeaders(parent, 12);
      const broken = [...row.slice(0, 11), mineHeader({ ...parent, hash: row[10]!.subarray(0, 32) }, ROOT)];
      peer.send('headers', headers([...broken, row[11]!]));
      await fixture().expectScore(peer, 20);
      peer.send('headers', headers([...row.slice(0, 5), row[7]!]));
      await fixture().expectScore(peer, 40);
    });

    it('that build on an invalid block ban the peer', async () => {
      const giver = await fixture().greetTrusted();
      const bad = mineBlock(await tip(), [], { coinbaseSat: 500_000_000n });
      giver.send('block', bad.raw);
      await giver.next('reject');
      const child = mineHeader(bad, ROOT);
      const peer = await fixture().greet();
      // The block itself adds no score, because the peer that sends its header need not have the block.
      peer.send('headers', headers([bad.header]));
      await fixture().expectScore(peer, 0);
      peer.send('headers', headers([child]));
      await fixture().expectSentAway(peer);
      const both = await fixture().greet();
      both.send('headers', headers([bad.header, child]));
      await fixture().expectScore(both, 0);
    });
  });

  describe('headers without a known parent', () => {
    it('are answered by getheaders, and cost twenty points every tenth time', async () => {
      const peer = await fixture().greet();
      // The first request is the node's own.
      await peer.next('getheaders');
      const lost: Place = { ...(await tip()), hash: Buffer.alloc(32, 3) };
      for (let i = 1; i <= 20; i++) {
        const answers = await peer.answersTo('headers', headers([mineHeader(lost, ROOT)]));
        expect(payloadsOf(answers, 'getheaders')).toHaveLength(1);
      }
      await fixture().expectScore(peer, 40);
      // A header that connects resets the count.
      for (let i = 1; i <= 9; i++) peer.send('headers', headers([mineHeader(lost, ROOT)]));
      peer.send('headers', headers([mineHeaders(await placeAt(fixture(), 1), 1)[0]!]));
      for (let i = 1; i <= 9; i++) peer.send('headers', headers([mineHeader(lost, ROOT)]));
      await fixture().expectScore(peer, 40);
      // A message with eight headers does not count as an announcement.
      peer.send('headers', headers(mineHeaders(lost, 8)));
      await fixture().expectScore(peer, 50);
      for (let i = 1; i <= 30; i++) peer.send('headers', headers([mineHeader(lost, ROOT)]));
      await fixture().expectSentAway(peer);
    });

    it('in a circle cost their sender a message each', async () => {
      // The node requests no blocks from a peer without NODE_NETWORK. On regtest it would disconnect a peer whose block takes
      // longer than a second.
      const peer = await fixture().greet({ services: 0n });
      const row = mineHeaders(await placeAt(fixture(), 0), 2000);
      for (let round = 0; round < 5; round++) {
        const answers = await peer.answersTo('headers', headers(row));
        const questions = payloadsOf(answers, 'getheaders').map(readLocator);
        expect(questions.filter(({ hashes }) => hashes[0]?.equals(blockHash(row.at(-1)!)))).toHaveLength(1);
      }
      await fixture().expectScore(peer, 0);
    });

    it('cost nothing if there are none, or all are known', async () => {
      const peer = await fixture().greet();
      await peer.settled();
      const best = await tip();
      peer.send('headers', headers([]));
      const known = await fixture().rpc<string>('getblockheader', [shown(best.hash), false]);
      for (let i = 0; i < 20; i++) peer.send('headers', headers([Buffer.from(known, 'hex')]));
      const answers = await peer.settled();
      expect([...rejectsIn(answers), ...payloadsOf(answers, 'getdata')]).toEqual([]);
      await fixture().expectScore(peer, 0);
    });
  });
}
