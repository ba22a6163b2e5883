import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sha256d } from '../../../../src/crypto/hash.js';
import type { PeerAddressBook } from '../../../../src/net/addressBook/peerAddressBook.js';
import { formatPeers, parsePeers, PeersFile } from '../../../../src/net/addressBook/peersFile.js';
import { mainParams } from '../../../../src/params/main.js';
import { testParams } from '../../../../src/params/test.js';
import { SILENT_LOGGER, type Logger } from '../../../../src/util/logging.js';
import { ReadError } from '../../../../src/util/reader.js';
import { at, makeBook, numberedKey, seededRandom, START_SEC, reported } from './support.js';

const ENTRY_BYTES = 62;
/** Version, key, counts. */
const HEAD_BYTES = 2 + 32 + 12;

let folder: string;
let path: string;
let warnings: string[];
let log: Logger;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lbcnode-peers-'));
  path = join(folder, 'peers.dat');
  warnings = [];
  log = { ...SILENT_LOGGER, warn: (message) => void warnings.push(message) };
});
afterEach(() => rmSync(folder, { recursive: true }));

const file = (magic = mainParams.magic): PeersFile => new PeersFile(path, magic, log);

function filledBook(): PeerAddressBook {
  const { book } = makeBook(seededRandom(4, numberedKey(3)));
  for (let i = 0; i < 500; i++) {
    const entry = {
      ...reported(`${1 + (i % 200)}.${i % 250}.3.4`, 9246 + (i % 3), START_SEC - i),
      services: 5n,
    };
    for (let times = 0; times < 3; times++) {
      book.add([{ ...entry, timeSec: entry.timeSec + times }], at(`${50 + times}.${i % 99}.1.1`));
    }
    if (i % 5 === 0) book.good(entry.address);
    if (i % 7 === 0) book.attempt(entry.address, true);
  }
  book.add([{ ...reported('[2a01::1]', 9246, START_SEC), services: 1n << 63n }], at('[2a02::1]'));
  return book;
}

describe('peers.dat', () => {
  it('restores the saved addresses', async () => {
    const book = filledBook();
    await file().save(book);
    expect(readdirSync(folder)).toEqual(['peers.dat']);
    const { book: loaded } = makeBook();
    await file().load(loaded);
    const before = book.snapshot();
    const after = loaded.snapshot();
    expect(after.key).toEqual(before.key);
    expect(loaded.size).toBe(book.size);
    expect(loaded.triedCount).toBe(book.triedCount);
    expect(book.triedCount).toBeGreaterThan(50);
    expect(formatPeers(after)).toEqual(formatPeers(before));
    expect(after.newBuckets!.flat().length).toBeGreaterThan(after.fresh.length);
    expect(loaded.lookUp(at('[2a01::1]'))).toMatchObject({ services: 1n << 63n, timeSec: START_SEC });
    expect(warnings).toEqual([]);
  });

  it('has the format of the reference', async () => {
    const { book } = makeBook(seededRandom(1, numberedKey(5)));
    book.add([{ ...reported('1.2.3.4', 9246, 0x01020304), services: 5n }], at('5.6.7.8'));
    book.add([reported('9.9.9.9', 1)], at('5.6.7.8'));
    book.good(at('9.9.9.9', 1), 0x0a0b0c0d);
    await file().save(book);
    const bytes = readFileSync(path);
    expect(bytes.length).toBe(4 + HEAD_BYTES + 2 * ENTRY_BYTES + 1024 * 4 + 4 + 32);
    expect(bytes.subarray(0, 4)).toEqual(mainParams.magic);
    expect(bytes.subarray(4, 6).toString('hex')).toBe('0120');
    expect(bytes.subarray(6, 38)).toEqual(numberedKey(5));
    // One new address, one tried address, and 1024 buckets with bit 30 inverted.
    expect(bytes.subarray(38, 50).toString('hex')).toBe('010000000100000000040040');
    const first = bytes.subarray(50, 50 + ENTRY_BYTES).toString('hex');
    const mapped = '00000000000000000000ffff';
    expect(first.slice(8)).toBe(
      `04030201${'0500000000000000'}${mapped}01020304241e${mapped}05060708${'00'.repeat(8)}${'00'.repeat(4)}`,
    );
    const second = bytes.subarray(50 + ENTRY_BYTES, 50 + 2 * ENTRY_BYTES).toString('hex');
    expect(second.slice(-24)).toBe(`0d0c0b0a00000000${'00'.repeat(4)}`);
    expect(bytes.subarray(-32)).toEqual(sha256d(bytes.subarray(0, -32)));
  });

  it('is created without a message if it does not exist', async () => {
    const { book } = makeBook();
    await file().load(book);
    expect(book.size).toBe(0);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['a bit turned', (bytes: Buffer) => void (bytes[200]! ^= 1), 'Checksum mismatch'],
    ['an end cut off', (bytes: Buffer) => bytes.subarray(0, -1), 'Checksum mismatch'],
    ['nothing in it', () => Buffer.alloc(0), 'too short'],
    ['another file in its place', () => Buffer.from('x'.repeat(300)), 'Invalid network magic number'],
    ['more than there can be', () => Buffer.alloc(12_000_000), 'too large'],
  ])('is rewritten with a warning if corrupt: %s', async (_, corruption, message) => {
    await file().save(filledBook());
    const bytes = readFileSync(path);
    writeFileSync(path, corruption(bytes) ?? bytes);
    const made = makeBook();
    made.book.add([reported('1.2.3.4')], at('1.2.3.4'));
    await file().load(made.book);
    expect(made.book.size).toBe(0);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(message);
    // And saved over.
    await file().save(made.book);
    await file().load(made.book);
    expect(warnings).toHaveLength(1);
  });

  it('of another network is not used', async () => {
    await file(testParams.magic).save(filledBook());
    const { book } = makeBook();
    await file().load(book);
    expect(book.size).toBe(0);
    expect(warnings[0]).toContain('magic');
  });
});

describe('the content', () => {
  const content = (): Buffer => formatPeers(filledBook().snapshot());

  it('is refused if truncated at any position', () => {
    const whole = content();
    for (let end = 0; end < whole.length; end += 1 + Math.floor(whole.length / 300)) {
      expect(() => parsePeers(whole.subarray(0, end)), String(end)).toThrow(ReadError);
    }
  });

  it('is refused with impossible counts', () => {
    for (const [offset, value] of [
      [34, 1024 * 64 + 1],
      [34, -1],
      [38, 256 * 64 + 1],
      [38, -1],
    ] as const) {
      const bytes = content();
      bytes.writeInt32LE(value, offset);
      expect(() => parsePeers(bytes)).toThrow('exceeds limit');
    }
    const bytes = content();
    bytes[1] = 33;
    expect(() => parsePeers(bytes)).toThrow('Incorrect keysize');
  });

  it('leaves the tables consistent, for any changed bytes', () => {
    const random = seededRandom(9);
    const original = content();
    for (let round = 0; round < 40; round++) {
      const bytes = Buffer.from(original);
      for (let i = 0; i < 50; i++)
        bytes[HEAD_BYTES + random.int(bytes.length - HEAD_BYTES)] = random.int(256);
      const { book } = makeBook();
      try {
        book.restore(parsePeers(bytes));
      } catch (error) {
        expect(error).toBeInstanceOf(ReadError);
      }
      for (const { address } of book.getAddresses()) book.attempt(address, true);
      const snapshot = book.snapshot();
      const { fresh, tried, newBuckets } = snapshot;
      // It can be kept again.
      expect(parsePeers(formatPeers(snapshot)).fresh).toHaveLength(fresh.length);
      expect(fresh.length + tried.length).toBe(book.size);
      expect(new Set(newBuckets!.flat()).size).toBe(fresh.length);
      expect(new Set([...fresh, ...tried].map(({ ip }) => ip)).size).toBe(book.size);
    }
  });

  it('with the greatest numbers can be saved again', () => {
    const bytes = content();
    bytes.fill(0xff, HEAD_BYTES + ENTRY_BYTES - 12, HEAD_BYTES + ENTRY_BYTES);
    bytes[HEAD_BYTES + ENTRY_BYTES - 5] = 0x7f;
    bytes[HEAD_BYTES + ENTRY_BYTES - 1] = 0x7f;
    const { book, clock } = makeBook();
    book.restore(parsePeers(bytes));
    const [first] = book.snapshot().fresh;
    expect(first).toMatchObject({ lastSuccessSec: Number.MAX_SAFE_INTEGER, attempts: 2 ** 30 });
    clock.nowSec += 1;
    book.good(at('1.1.1.1'));
    book.attempt({ ip: Buffer.from(first!.ip, 'latin1'), port: first!.port }, true);
    expect(book.snapshot().fresh[0]!.attempts).toBe(2 ** 30 + 1);
    expect(() => formatPeers(book.snapshot())).not.toThrow();
  });

  it('with other numbers of buckets has its positions computed again', () => {
    const bytes = content();
    bytes.writeInt32LE(512 ^ (1 << 30), 42);
    const kept = parsePeers(bytes);
    expect(kept.newBuckets).toBeNull();
    const { book } = makeBook();
    book.restore(kept);
    expect(book.size).toBeGreaterThan(400);
    // One place each.
    expect(book.snapshot().newBuckets!.flat().length).toBe(book.newCount);
  });

  it('with a duplicate address keeps it once', () => {
    const { book } = makeBook();
    book.add([reported('1.2.3.4', 1)], at('5.6.7.8'));
    const { fresh } = book.snapshot();
    const twice = [fresh[0]!, { ...fresh[0]!, port: 2 }];
    const { book: other } = makeBook();
    other.restore({ key: Buffer.alloc(32), fresh: twice, tried: [fresh[0]!], newBuckets: null });
    expect(other.size).toBe(1);
    expect(other.lookUp(at('1.2.3.4'))!.address.port).toBe(1);
  });
});
