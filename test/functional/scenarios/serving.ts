/** Answers of a node to peers that request headers and blocks. */
import { beforeAll, describe, expect, it } from 'vitest';
import { placeAt, rawBlockAt, txid, WITNESS_SCRIPT, witnessTransaction } from '../support/rawChain.js';
import {
  blocktxn,
  filterload,
  getblocktxn,
  hashOf,
  HEADER_SIZE,
  INV_BLOCK,
  INV_COMPACT_BLOCK,
  INV_FILTERED_BLOCK,
  INV_WITNESS_BLOCK,
  inventory,
  item,
  itemsOf,
  locator,
  NO_HASH,
  one,
  readCompact,
  readHeaders,
  readMerkleBlock,
  sendcmpct,
  sha256d,
  shortId,
  shown,
  withLength,
} from '../support/rawMessages.js';
import type { RawPeer } from '../support/rawPeer.js';
import { answersAmong, COIN_SAT, payloadsOf, type PeerFixture } from '../support/peerFixture.js';

const UNKNOWN = Buffer.alloc(32, 0xee);

export function servingScenarios(fixture: () => PeerFixture): void {
  let tip: number;
  const hashAt = async (height: number): Promise<Buffer> => (await placeAt(fixture(), height)).hash;

  describe('headers', () => {
    beforeAll(async () => {
      tip = await fixture().rpc('getblockcount');
    });

    /** Hashes of the headers in the answer, or null if there was no answer. */
    async function headersFor(peer: RawPeer, hashes: Buffer[], stop?: Buffer): Promise<string[] | null> {
      const [answer] = payloadsOf(await peer.answersTo('getheaders', locator(hashes, stop)), 'headers');
      return answer ? readHeaders(answer).map((header) => shown(sha256d(header))) : null;
    }
    async function hashesOf(from: number, to: number): Promise<string[]> {
      const all: string[] = [];
      for (let height = from; height <= to; height++) all.push(shown(await hashAt(height)));
      return all;
    }

    it('begin after the last common block', async () => {
      const peer = await fixture().greet();
      expect(await headersFor(peer, [await hashAt(tip - 3)])).toEqual(await hashesOf(tip - 2, tip));
      expect(await headersFor(peer, [await hashAt(tip)])).toEqual([]);
      expect(await headersFor(peer, [UNKNOWN, await hashAt(tip - 2), await hashAt(3)])).toEqual(
        await hashesOf(tip - 1, tip),
      );
      const all = await headersFor(peer, [UNKNOWN]);
      expect(all).toHaveLength(tip);
      expect([all?.[0], all?.at(-1)]).toEqual([shown(await hashAt(1)), shown(await hashAt(tip))]);
    });

    it('end with the requested one, and are a single one if no locator hash is known', async () => {
      const peer = await fixture().greet();
      expect(await headersFor(peer, [await hashAt(5)], await hashAt(8))).toEqual(await hashesOf(6, 8));
      expect(await headersFor(peer, [await hashAt(tip - 2)], await hashAt(5))).toEqual(
        await hashesOf(tip - 1, tip),
      );
      expect(await headersFor(peer, [], await hashAt(9))).toEqual(await hashesOf(9, 9));
      expect(await headersFor(peer, [], UNKNOWN)).toBeNull();
    });

    it('are sent for a locator of 101 hashes, and a longer one closes the connection', async () => {
      const long = (length: number): Buffer[] => Array.from({ length }, () => UNKNOWN);
      for (const command of ['getheaders', 'getblocks']) {
        const peer = await fixture().greet();
        const [answer] = payloadsOf(
          await peer.answersTo('getheaders', locator([...long(100), await hashAt(tip - 1)])),
          'headers',
        );
        expect(readHeaders(answer!)).toHaveLength(1);
        peer.send(command, locator(long(102)));
        await fixture().expectSentAway(peer);
      }
    });

    it('are 2,000 at most', async () => {
      const peer = await fixture().greet();
      const [answer] = payloadsOf(await peer.answersTo('getheaders', locator([NO_HASH])), 'headers');
      expect(readHeaders(answer!)).toHaveLength(Math.min(2000, tip));
    });
  });

  describe('ids of blocks', () => {
    it('stop before the requested one', async () => {
      const peer = await fixture().greet();
      peer.send('getblocks', locator([await hashAt(3)], await hashAt(6)));
      const expected = [await hashAt(4), await hashAt(5)].map((hash) => item(INV_BLOCK, hash));
      expect(itemsOf(await peer.next('inv'))).toEqual(expected);
      peer.send('getblocks', locator([await hashAt(tip)]));
      expect(payloadsOf(await peer.settled(), 'inv')).toEqual([]);
    });

    it('are 500, and the last of them makes the peer continue', async () => {
      const peer = await fixture().greet();
      peer.send('getblocks', locator([await hashAt(0)]));
      const first = itemsOf(await peer.next('inv'));
      expect(first).toHaveLength(500);
      expect(first.at(-1)).toBe(item(INV_BLOCK, await hashAt(500)));
      const whole = payloadsOf(await peer.answersTo('getdata', one(INV_BLOCK, await hashAt(499))), 'inv');
      expect(whole).toEqual([]);
      peer.send('getdata', one(INV_BLOCK, await hashAt(500)));
      await peer.next('block');
      expect(itemsOf(await peer.next('inv'))).toEqual([item(INV_BLOCK, await hashAt(tip))]);
    });
  });

  describe('blocks', () => {
    let height: number;
    let hash: Buffer;
    let raw: Buffer;
    let spend: { whole: Buffer; stripped: Buffer };
    /** A block with a coinbase, a payment to a witness script and its spend. */
    beforeAll(async () => {
      const fund = await fixture().payment([{ valueSat: COIN_SAT - 1000n, script: WITNESS_SCRIPT }]);
      spend = witnessTransaction(txid(fund), [{ valueSat: COIN_SAT - 2000n }]);
      for (const tx of [fund, spend.whole]) await fixture().rpc('sendrawtransaction', [tx.toString('hex')]);
      await fixture().generate(1);
      height = await fixture().rpc<number>('getblockcount');
      tip = height;
      hash = await hashAt(height);
      raw = await rawBlockAt(fixture(), height);
      expect(raw.includes(spend.whole)).toBe(true);
    });

    it('are sent whole, or without witness, and not at all if they are unknown', async () => {
      const peer = await fixture().greet();
      peer.send('getdata', inventory([INV_WITNESS_BLOCK, INV_BLOCK].map((type) => ({ type, hash }))));
      expect(await peer.next('block')).toEqual(raw);
      const stripped = await peer.next('block');
      expect(stripped.length).toBeLessThan(raw.length);
      expect(stripped.subarray(0, HEADER_SIZE)).toEqual(raw.subarray(0, HEADER_SIZE));
      expect(stripped.subarray(-spend.stripped.length)).toEqual(spend.stripped);
      const types = [INV_BLOCK, INV_WITNESS_BLOCK, INV_FILTERED_BLOCK, INV_COMPACT_BLOCK];
      const silence = await peer.answersTo(
        'getdata',
        inventory(types.map((type) => ({ type, hash: UNKNOWN }))),
      );
      expect(answersAmong(silence)).toEqual([]);
    });

    it('are sent filtered, with the matching transactions', async () => {
      const peer = await fixture().greet();
      const filtered = one(INV_FILTERED_BLOCK, hash);
      peer.send('getdata', filtered);
      // A peer that has set no filter gets everything.
      expect(readMerkleBlock(await peer.next('merkleblock'))).toMatchObject({ total: 3 });
      for (let i = 0; i < 3; i++) await peer.next('tx');

      peer.send('filterload', filterload(Buffer.alloc(64), 10));
      expect(answersAmong(await peer.answersTo('getdata', filtered))).toEqual(['merkleblock']);

      peer.send('filteradd', withLength(txid(spend.stripped)));
      peer.send('getdata', filtered);
      const proof = readMerkleBlock(await peer.next('merkleblock'));
      expect(proof.header).toEqual(raw.subarray(0, HEADER_SIZE));
      expect(proof.hashes).toContain(shown(txid(spend.stripped)));
      expect(await peer.next('tx')).toEqual(spend.stripped);

      peer.send('filterclear');
      peer.send('getdata', filtered);
      await peer.next('merkleblock');
      expect(payloadsOf(await peer.settled(), 'tx')).toHaveLength(3);
    });

    it.each([1, 2])('are sent in compact form, version %i', async (number) => {
      const peer = await fixture().greet();
      peer.send('sendcmpct', sendcmpct(false, number));
      peer.send('sendcmpct', sendcmpct(false, 3 - number));
      peer.send('getdata', one(INV_COMPACT_BLOCK, hash));
      const compact = readCompact(await peer.next('cmpctblock'));
      expect(compact.header).toEqual(raw.subarray(0, HEADER_SIZE));
      const id = sha256d(number === 2 ? spend.whole : spend.stripped);
      expect(compact.shortIds).toHaveLength(2);
      expect(compact.shortIds[1]).toEqual(shortId(compact.header, compact.nonce, id));
      expect(compact.prefilled.subarray(0, 2)).toEqual(Buffer.of(1, 0));

      peer.send('getblocktxn', getblocktxn(hash, [2]));
      const wanted = number === 2 ? spend.whole : spend.stripped;
      expect(await peer.next('blocktxn')).toEqual(blocktxn(hash, [wanted]));
      expect(payloadsOf(await peer.answersTo('getblocktxn', getblocktxn(UNKNOWN, [0])), 'blocktxn')).toEqual(
        [],
      );
      peer.send('getblocktxn', getblocktxn(hash, [0, 3]));
      await fixture().expectSentAway(peer);
    });

    it('are sent whole if compact ones would be too old', async () => {
      const peer = await fixture().greet();
      peer.send('sendcmpct', sendcmpct(false, 2));
      const old = height - 12;
      peer.send('getdata', one(INV_COMPACT_BLOCK, await hashAt(old)));
      expect(await peer.next('block')).toEqual(await rawBlockAt(fixture(), old));
      peer.send('getdata', one(INV_COMPACT_BLOCK, await hashAt(height - 6)));
      expect(await peer.next('block')).toEqual(await rawBlockAt(fixture(), height - 6));
      peer.send('getdata', one(INV_COMPACT_BLOCK, await hashAt(height - 5)));
      await peer.next('cmpctblock');
      peer.send('getblocktxn', getblocktxn(await hashAt(height - 11), [0]));
      expect(await peer.next('block')).toEqual(await rawBlockAt(fixture(), height - 11));
      peer.send('getblocktxn', getblocktxn(await hashAt(height - 10), [0]));
      await peer.next('blocktxn');
      await fixture().expectScore(peer, 0);
    });
  });

  describe('new blocks', () => {
    /** Connects and waits for the announcement of the tip. */
    async function inStep(...first: [string, Buffer][]): Promise<RawPeer> {
      const peer = await fixture().greet();
      for (const [command, payload] of first) peer.send(command, payload);
      peer.send('getheaders', locator([hashOf(await fixture().tipHash())]));
      await peer.next('headers');
      await peer.settled();
      return peer;
    }

    it('are announced in the form that each peer requested', async () => {
      const plain = await inStep();
      const byHeader = await inStep(['sendheaders', Buffer.alloc(0)]);
      const compact = await inStep(['sendcmpct', sendcmpct(true, 2)]);
      const compactOld = await inStep(['sendcmpct', sendcmpct(true, 1)]);
      const unknown = await fixture().greet();
      unknown.send('sendheaders');
      await unknown.settled();
      const [id] = await fixture().generate(1);
      const hash = hashOf(id!);
      expect(itemsOf(await plain.next('inv'))).toEqual([item(INV_BLOCK, hash)]);
      expect(readHeaders(await byHeader.next('headers')).map(sha256d)).toEqual([hash]);
      expect(sha256d(readCompact(await compact.next('cmpctblock')).header)).toEqual(hash);
      expect(sha256d(readCompact(await compactOld.next('cmpctblock')).header)).toEqual(hash);
      // A peer whose chain is unknown gets an announcement by id.
      expect(itemsOf(await unknown.next('inv'))).toEqual([item(INV_BLOCK, hash)]);
    });

    it('are announced once, and not to peers that have them', async () => {
      const giver = await inStep(['sendheaders', Buffer.alloc(0)]);
      const other = await inStep(['sendheaders', Buffer.alloc(0)]);
      const [id] = await fixture().generate(1);
      await giver.next('headers');
      await other.next('headers');
      const [answer] = payloadsOf(await giver.answersTo('getheaders', locator([hashOf(id!)])), 'headers');
      expect(readHeaders(answer!)).toEqual([]);
      const [second] = await fixture().generate(1);
      expect(readHeaders(await giver.next('headers')).map(sha256d)).toEqual([hashOf(second!)]);
      expect(readHeaders(await other.next('headers')).map(sha256d)).toEqual([hashOf(second!)]);
      for (const peer of [giver, other]) {
        const more = (await peer.settled()).map(({ command }) => command);
        expect(more.filter((command) => /^(inv|headers|cmpctblock)$/.test(command))).toEqual([]);
      }
    });
  });
}
