/**
 * Shared parts of the tests of the address book: repeatable random numbers, an adjustable clock, and short forms of addresses.
 */
import { PeerAddressBook } from '../../../../src/net/addressBook/peerAddressBook.js';
import { sha256d } from '../../../../src/crypto/hash.js';
import type { AddressEntry } from '../../../../src/net/messages/addr.js';
import { parseNetAddress, type NetAddress } from '../../../../src/net/netAddress.js';
import type { RandomSource } from '../../../../src/net/messageHandler.js';
import { SILENT_LOGGER } from '../../../../src/util/logging.js';
import { Writer } from '../../../../src/util/writer.js';
import { randomOf } from '../../../support/claimLife.js';

/** A random source for a book whose key is `key`. By default it is all zeros, as in the reference's tests. */
export function seededRandom(seed = 1, key: Uint8Array = Buffer.alloc(32)): RandomSource {
  const int = randomOf(seed);
  return {
    int,
    u64: () => (BigInt(int(2 ** 32)) << 32n) | BigInt(int(2 ** 32)),
    bytes: (count) =>
      count === 32 ? Buffer.from(key) : Buffer.from(Array.from({ length: count }, () => int(256))),
  };
}

/** The double hash of a small number of four bytes, with which the reference's tests key the placement. */
export function numberedKey(number: number): Buffer {
  return sha256d(new Writer().i32(number).finish());
}

/** An address, port 0 by default. */
export function at(text: string, port = 0): NetAddress {
  const address = parseNetAddress(text, port);
  if (address === null) throw new Error(`${text} is not an address`);
  return { ip: address.ip, port };
}

/** An address in a message of a peer. By default it has the default time of the reference. */
export function reported(text: string, port = 0, timeSec = 100_000_000): AddressEntry {
  return { address: at(text, port), services: 0n, timeSec };
}

export const START_SEC = 1_700_000_000;

export interface TestBook {
  readonly book: PeerAddressBook;
  readonly clock: { nowSec: number };
}

export function makeBook(random = seededRandom()): TestBook {
  const clock = { nowSec: START_SEC };
  return { book: new PeerAddressBook({ random, nowSec: () => clock.nowSec, log: SILENT_LOGGER }), clock };
}
