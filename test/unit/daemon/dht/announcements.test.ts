import { describe, expect, it } from 'vitest';
import { Announcements } from '../../../../src/daemon/dht/announcements.js';
import { contactAt, type Contact } from '../../../../src/daemon/dht/contact.js';
import { PeerBook } from '../../../../src/daemon/dht/peerBook.js';
import { FakeClock } from '../../../support/fakeClock.js';
import { idOf } from './simulatedNodes.js';

const contact = (number: number, address = `8.0.0.${number}`): Contact =>
  contactAt(idOf(number), address, 4444);
const world = (limits?: { total: number; perKey: number }) => {
  const clock = new FakeClock();
  const book = new PeerBook(clock);
  return { clock, book, kept: new Announcements(clock, book, limits) };
};
const addresses = (kept: Announcements, hash: Buffer): string[] =>
  kept.peersOf(hash).map(({ contact: { address } }) => address);

describe('Announcements', () => {
  it('stores an announcement for 24 hours after its last renewal', async () => {
    const { clock, kept } = world();
    kept.add(idOf('a'), contact(1), 5000);
    await clock.advance(23 * 3_600_000);
    kept.add(idOf('a'), contact(1), 5001);
    await clock.advance(23 * 3_600_000);
    expect(kept.peersOf(idOf('a'))).toMatchObject([{ tcpPort: 5001 }]);
    await clock.advance(3_600_000);
    expect(kept.peersOf(idOf('a'))).toEqual([]);
    expect(kept.total).toBe(1);
    kept.expire();
    expect([kept.total, kept.keys()]).toEqual([0, []]);
  });

  it('leaves out bad nodes and drops them at the next expiry', () => {
    const { book, kept } = world();
    kept.add(idOf('a'), contact(1), 5000);
    kept.add(idOf('a'), contact(2), 5000);
    for (let count = 0; count < 2; count++) book.noteFailure(contact(1));
    expect(addresses(kept, idOf('a'))).toEqual(['8.0.0.2']);
    kept.expire();
    expect(kept.total).toBe(1);
  });

  it('drops the oldest of a key with too many peers', async () => {
    const { clock, kept } = world({ total: 100, perKey: 3 });
    for (const number of [1, 2, 3]) {
      kept.add(idOf('a'), contact(number), 5000);
      await clock.advance(1);
    }
    kept.add(idOf('a'), contact(1), 5000);
    kept.add(idOf('a'), contact(4), 5000);
    expect(addresses(kept, idOf('a'))).toEqual(['8.0.0.1', '8.0.0.3', '8.0.0.4']);
  });

  it('lets a flood from one address displace only itself', () => {
    const { kept } = world({ total: 200, perKey: 100 });
    for (let number = 1; number <= 20; number++) kept.add(idOf('honest'), contact(number), 5000);
    for (let count = 0; count < 5000; count++) kept.add(idOf(`flood ${count}`), contact(99, '9.9.9.9'), 5000);
    expect(kept.total).toBeLessThanOrEqual(200);
    expect(kept.peersOf(idOf('honest'))).toHaveLength(20);
    expect(kept.peersOf(idOf('flood 4999'))).toHaveLength(1);
    expect(kept.contacts()).toHaveLength(21);
  });
});
