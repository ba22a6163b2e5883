/** Bytes of the stream: where a message begins and ends, and corrupt messages. */
import { describe, expect, it } from 'vitest';
import { count, u32, u64 } from '../support/rawMessages.js';
import { frame, type RawPeer } from '../support/rawPeer.js';
import { MALFORMED, rejectsIn, type PeerFixture } from '../support/peerFixture.js';

const MAX_PAYLOAD = 4_000_000;
const nonce = (value: number): Buffer => u64(BigInt(value));

async function pongs(peer: RawPeer): Promise<number[]> {
  const messages = await peer.settled();
  return messages
    .filter(({ command }) => command === 'pong')
    .map(({ payload }) => Number(payload.readBigUInt64LE()));
}

export function framingScenarios(fixture: () => PeerFixture): void {
  describe('framing', () => {
    it('answers messages in their order, however the stream is cut', async () => {
      const peer = await fixture().greet();
      // An answer would end up within another message.
      peer.answersPings = false;
      const stream = Buffer.concat([1, 2, 3].map((n) => frame('ping', nonce(n))));
      peer.sendBytes(stream);
      for (const byte of stream) {
        peer.sendBytes(Buffer.of(byte));
        await new Promise((resolve) => setImmediate(resolve));
      }
      expect(await pongs(peer)).toEqual([1, 2, 3, 1, 2, 3]);
    });

    it('disconnects a peer of another network', async () => {
      for (const magic of ['fae4aaf1', 'f9beb4d9']) {
        const peer = await fixture().greet();
        peer.send('ping', nonce(1), { magic: Buffer.from(magic, 'hex') });
        await fixture().expectSentAway(peer);
      }
      const first = await fixture().open();
      first.sendBytes(Buffer.from('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n'));
      first.sendBytes(Buffer.alloc(MAX_PAYLOAD, ' '));
      await fixture().expectSentAway(first);
    });

    it('skips a message with a wrong checksum', async () => {
      const peer = await fixture().greet();
      peer.send('ping', nonce(1), { checksum: Buffer.alloc(4) });
      peer.send('inv', Buffer.of(1), { checksum: Buffer.alloc(4) });
      peer.send('ping', nonce(2));
      expect(await pongs(peer)).toEqual([2]);
      await fixture().expectScore(peer, 0);
    });

    it('disconnects a peer that announces an oversized message, before it arrives', async () => {
      for (const length of [MAX_PAYLOAD + 1, 0x02000001, 0xffffffff]) {
        const peer = await fixture().greet();
        peer.send('ping', nonce(1), { length });
        await fixture().expectSentAway(peer);
      }
      const peer = await fixture().greet();
      await peer.flood(frame('unheard-of', Buffer.alloc(MAX_PAYLOAD)));
      await fixture().expectScore(peer, 0);
    });

    it('reads as many bytes as the length says', async () => {
      const tooLong = await fixture().greet();
      // The next message is read as part of the payload, so the checksum is wrong.
      tooLong.send('ping', nonce(1), { length: 8 + frame('ping', nonce(2)).length });
      tooLong.send('ping', nonce(2));
      tooLong.send('ping', nonce(3));
      expect(await pongs(tooLong)).toEqual([3]);
      const tooShort = await fixture().greet();
      tooShort.send('ping', Buffer.alloc(40), { length: 8 });
      await fixture().expectSentAway(tooShort);
    });

    it('skips unknown commands, printable or not', async () => {
      const peer = await fixture().greet();
      for (const command of [
        'alert',
        'unheard-of',
        'twelve-bytes',
        '',
        'constructor',
        '__proto__',
        'PING',
        'ping ',
      ]) {
        peer.send(command, nonce(1));
      }
      peer.send(Buffer.from('ping\0x', 'latin1'), nonce(1));
      peer.send(Buffer.from('\x01\xff\x1b[2J', 'latin1'), nonce(1));
      for (const command of ['merkleblock', 'notfound']) peer.send(command, Buffer.of(1));
      expect(await pongs(peer)).toEqual([]);
      await fixture().expectScore(peer, 0);
    });

    it('ignores trailing bytes in the payload of a message', async () => {
      const peer = await fixture().greet();
      peer.send('ping', Buffer.concat([nonce(7), Buffer.alloc(100, 0xff)]));
      for (const command of ['verack', 'getaddr', 'sendheaders', 'filterclear'])
        peer.send(command, Buffer.alloc(50, 0xff));
      const messages = await peer.settled();
      expect(rejectsIn(messages)).toEqual([]);
      expect(messages.find(({ command }) => command === 'pong')?.payload).toEqual(nonce(7));
      await fixture().expectScore(peer, 0);
    });
  });

  describe('malformed payloads', () => {
    const hash = Buffer.alloc(32, 1);
    const header = Buffer.alloc(112, 1);
    /** Truncated, with a wrong count, or not in the shortest form. */
    const payloads: [string, string, Buffer][] = [
      ['ping', 'empty', Buffer.alloc(0)],
      ['ping', 'cut', Buffer.alloc(7)],
      ['addr', 'empty', Buffer.alloc(0)],
      ['addr', 'cut', Buffer.concat([Buffer.of(1), Buffer.alloc(29)])],
      ['inv', 'cut', Buffer.concat([Buffer.of(2), Buffer.alloc(71)])],
      ['inv', 'a long form of 1', Buffer.concat([Buffer.from('fd0100', 'hex'), u32(1), hash])],
      ['inv', 'a count beyond all bounds', Buffer.from('fe01000002', 'hex')],
      ['inv', 'a count of 64 bits', Buffer.from('ffffffffffffffffff', 'hex')],
      ['getdata', 'cut', Buffer.concat([Buffer.of(1), u32(1)])],
      ['getblocks', 'without stop', Buffer.concat([u32(1), Buffer.of(1), hash])],
      ['getheaders', 'cut in the locator', Buffer.concat([u32(1), Buffer.of(2), hash])],
      ['headers', 'without count of transactions', Buffer.concat([Buffer.of(1), header])],
      ['headers', 'cut in a header', Buffer.concat([Buffer.of(1), header.subarray(1)])],
      ['tx', 'empty', Buffer.alloc(0)],
      ['tx', 'flag without witness', Buffer.from('0200000000010000000000', 'hex')],
      ['block', 'header alone', header],
      ['block', 'cut in a transaction', Buffer.concat([header, Buffer.of(1), u32(2)])],
      ['sendcmpct', 'cut', Buffer.alloc(8)],
      ['cmpctblock', 'header alone', header],
      ['cmpctblock', 'short ids missing', Buffer.concat([header, u64(1n), Buffer.of(2), Buffer.alloc(11)])],
      ['cmpctblock', 'too high a place', Buffer.concat([header, u64(1n), Buffer.of(0, 1), count(65_536)])],
      ['getblocktxn', 'cut', Buffer.concat([hash, Buffer.of(2, 1)])],
      ['getblocktxn', 'too high a place', Buffer.concat([hash, Buffer.of(2), count(65_535), count(65_535)])],
      ['blocktxn', 'cut', Buffer.concat([hash, Buffer.of(1)])],
      ['filterload', 'cut', Buffer.concat([Buffer.of(1, 1), u32(1), u32(1)])],
      ['filteradd', 'cut', Buffer.of(5, 1)],
      ['feefilter', 'cut', Buffer.alloc(7)],
    ];
    it('are rejected without a penalty', async () => {
      const peer = await fixture().greet();
      await peer.settled();
      for (const [command, , payload] of payloads) peer.send(command, payload);
      expect(rejectsIn(await peer.settled()).map(({ message }) => message)).toEqual(
        payloads.map(([command]) => command),
      );
      for (const [command, what, payload] of payloads) {
        expect(rejectsIn(await peer.answersTo(command, payload)), `${command} ${what}`).toEqual([
          { message: command, code: MALFORMED, reason: 'error parsing message', hash: null },
        ]);
      }
      await fixture().expectScore(peer, 0);
    });

    it('are not rejected if the message is ignored, or is a reject', async () => {
      const peer = await fixture().greet();
      await peer.settled();
      peer.send('reject', Buffer.of(200));
      peer.send(
        'reject',
        Buffer.concat([Buffer.of(2), Buffer.from('tx'), Buffer.of(1, 0), Buffer.alloc(31)]),
      );
      peer.send('pong', Buffer.alloc(3));
      peer.send('notfound', Buffer.of(9, 9));
      peer.send('merkleblock', Buffer.of(9));
      expect(rejectsIn(await peer.settled())).toEqual([]);
      await fixture().expectScore(peer, 0);
    });
  });
}
