import { describe, expect, it } from 'vitest';
import { contactAt } from '../../../../src/daemon/dht/contact.js';
import { PeerBook } from '../../../../src/daemon/dht/peerBook.js';
import { FakeClock } from '../../../support/fakeClock.js';
import { idOf } from './simulatedNodes.js';

const MINUTE_MS = 60_000;
const contact = contactAt(idOf(1), '8.8.8.8', 4444);

describe('PeerBook', () => {
  it('knows nothing of a contact at first', () => {
    expect(new PeerBook(new FakeClock()).goodness(contact)).toBe('unknown');
  });

  it('calls a contact good for 12 minutes after its reply', async () => {
    const clock = new FakeClock();
    const book = new PeerBook(clock);
    book.noteReply(contact);
    await clock.advance(12 * MINUTE_MS - 1);
    expect(book.goodness(contact)).toBe('good');
    await clock.advance(1);
    expect(book.goodness(contact)).toBe('unknown');
  });

  it('calls a contact bad after one failure that follows a reply, and good after the next reply', async () => {
    const clock = new FakeClock();
    const book = new PeerBook(clock);
    book.noteReply(contact);
    await clock.advance(1000);
    book.noteFailure(contact);
    expect(book.goodness(contact)).toBe('bad');
    await clock.advance(1000);
    book.noteReply(contact);
    expect(book.goodness(contact)).toBe('good');
  });

  it('calls a contact that never replied bad after two failures, for 12 minutes', async () => {
    const clock = new FakeClock();
    const book = new PeerBook(clock);
    book.noteFailure(contact);
    expect(book.goodness(contact)).toBe('unknown');
    book.noteFailure(contact);
    expect(book.goodness(contact)).toBe('bad');
    await clock.advance(12 * MINUTE_MS);
    expect(book.goodness(contact)).toBe('unknown');
  });

  it('forgets a failure after ten minutes, and does not call the contact good for that', async () => {
    const clock = new FakeClock();
    const book = new PeerBook(clock);
    book.noteReply(contact);
    await clock.advance(1);
    book.noteFailure(contact);
    await clock.advance(10 * MINUTE_MS);
    expect(book.goodness(contact)).toBe('unknown');
  });

  it('does not mark a replying contact as bad because of malformed datagrams', () => {
    const book = new PeerBook(new FakeClock());
    book.noteReply(contact);
    for (let count = 0; count < 5; count++) book.noteNonsense(contact);
    expect(book.goodness(contact)).toBe('good');
    const stranger = contactAt(idOf(2), '8.8.4.4', 4444);
    for (let count = 0; count < 2; count++) book.noteNonsense(stranger);
    expect(book.goodness(stranger)).toBe('bad');
  });

  it('keeps a token for five minutes', async () => {
    const clock = new FakeClock();
    const book = new PeerBook(clock);
    book.setToken(contact.nodeId, idOf('token'));
    await clock.advance(5 * MINUTE_MS - 1);
    expect(book.tokenOf(contact.nodeId)?.equals(idOf('token'))).toBe(true);
    await clock.advance(1);
    expect(book.tokenOf(contact.nodeId)).toBeNull();
  });
});
