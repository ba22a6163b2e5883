/** Vectors with more items than the maximum. */
import { describe, expect, it } from 'vitest';
import { addresses, Cursor, INV_TX, inventory, type Address } from '../support/rawMessages.js';
import { payloadsOf, type PeerFixture } from '../support/peerFixture.js';

const hash = Buffer.alloc(32, 5);
const items = (length: number): Buffer => inventory(Array.from({ length }, () => ({ type: INV_TX, hash })));

/** Routable addresses of different groups. */
export function manyAddresses(first: number, length: number, timeSec: number): Address[] {
  return Array.from({ length }, (_, i) => {
    const n = first + i;
    return {
      timeSec,
      services: 13n,
      ip: [60 + (n % 60), 1 + ((n >> 6) % 250), n % 250, 1 + (n % 200)],
      port: 9246,
    };
  });
}

export function limitScenarios(fixture: () => PeerFixture): void {
  describe('messages above a limit', () => {
    const now = Math.floor(Date.now() / 1000);
    it.each<[string, Buffer]>([
      ['addr', addresses(manyAddresses(0, 1001, now))],
      ['addr', addresses(manyAddresses(0, 10_000, now))],
      ['inv', items(50_001)],
      ['inv', items(111_000)],
      ['getdata', items(50_001)],
      ['headers', Buffer.concat([Buffer.from('fdd107', 'hex'), Buffer.alloc(2001 * 113)])],
      ['headers', Buffer.from('fdd107', 'hex')],
    ])('costs twenty points: %s', async (command, payload) => {
      const peer = await fixture().greet();
      for (let i = 1; i <= 4; i++) {
        peer.send(command, payload);
        await fixture().expectScore(peer, 20 * i);
      }
      peer.send(command, payload);
      await fixture().expectSentAway(peer);
    });

    it('cost nothing if the message is ignored, or exactly at the limit', async () => {
      const peer = await fixture().greet();
      peer.send('notfound', items(50_001));
      peer.send('inv', items(50_000));
      peer.send('getdata', items(50_000));
      peer.send('addr', addresses(manyAddresses(0, 1000, now)));
      const answers = await peer.settled();
      const missing = payloadsOf(answers, 'notfound').map((payload) => new Cursor(payload).count());
      expect(missing.reduce((sum, each) => sum + each, 0)).toBe(50_000);
      await fixture().expectScore(peer, 0);
    });
  });
}
