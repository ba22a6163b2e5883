import { describe, expect, it } from 'vitest';
import { AddressBook } from '../../../src/wallet/addressBook.js';
import { WalletBatch } from '../../../src/wallet/store/records.js';

describe('the book of addresses', () => {
  const destinationOf = (address: string): string | null =>
    address.startsWith('x') ? null : `to ${address}`;
  const enter = (book: AddressBook, first: number, last: number): void => {
    for (let n = first; n <= last; n++) book.set(new WalletBatch(), `a${n}`, 'l', 'receive');
  };

  it('reads new entries in slices, with concurrent readers and changes', () => {
    const book = new AddressBook(destinationOf);
    enter(book, 1, 1000);
    book.set(new WalletBatch(), 'x', 'l', 'receive');
    const reading = book.readNew();
    expect(reading.next().done).toBe(false);
    book.delete(new WalletBatch(), 'a1');
    book.delete(new WalletBatch(), 'a900');
    enter(book, 1001, 1010);
    // A lookup reads all entries at once, and none remains for the slices.
    expect(book.at('to a1010')?.label).toBe('l');
    expect(book.destinations().size).toBe(1008);
    enter(book, 1011, 1200);
    let pauses = 0;
    while (reading.next().done !== true) pauses++;
    expect(pauses).toBeGreaterThanOrEqual(2);
    expect(book.destinations().size).toBe(1198);
    expect(book.destinations().get('to a1200')).toBe('a1200');
    expect(book.at('to a900')).toBeUndefined();
    expect(book.readNew().next().done).toBe(true);
  });
});
