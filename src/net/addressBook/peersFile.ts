/**
 * `peers.dat`: the address book on disk, in Core's format of version 1. Source: Core addrman.h `CAddrMan::Serialize`,
 * `Unserialize`, addrdb.cpp `CAddrDB`; client version `CLIENT_VERSION`.
 */
import { toLatin1 } from '../../util/bytes.js';
import type { Logger } from '../../util/logging.js';
import { systemErrorCode } from '../../util/text/environmentError.js';
import { Reader, ReadError } from '../../util/reader.js';
import { quarantine } from '../../util/quarantine.js';
import { SerialQueue } from '../../scheduler/serialQueue.js';
import { Writer } from '../../util/writer.js';
import { readCheckedFile, writeCheckedFile } from '../checkedFile.js';
import type { PeerAddressBook } from './peerAddressBook.js';
import type { StoredEntry } from './entry.js';
import { BUCKET_SIZE, NEW_BUCKETS, TRIED_BUCKETS } from './limits.js';
import type { BookSnapshot } from './tables.js';

const FORMAT_VERSION = 1;
const KEY_BYTES = 32;
/**
 * Bit that is inverted in the stored number of buckets, so that readers of version 0, which do not check the version, reject
 * the file.
 */
const BUCKET_COUNT_MASK = 1 << 30;
/** Client version that is written before each stored address and ignored on read: the version of lbrycrd 0.17.3.3. */
const CLIENT_VERSION = 170_303;
const ENTRY_BYTES = 62;
const IP_BYTES = 16;

const MAX_NEW = NEW_BUCKETS * BUCKET_SIZE;
const MAX_TRIED = TRIED_BUCKETS * BUCKET_SIZE;
/** Maximum size of the file in bytes: twice the size with full tables. */
const MAX_FILE_BYTES = 2 * (MAX_NEW * (ENTRY_BYTES + 4) + MAX_TRIED * ENTRY_BYTES);

export function formatPeers({ key, fresh, tried, newBuckets }: BookSnapshot): Buffer {
  const writer = new Writer(64 + ENTRY_BYTES * (fresh.length + tried.length) + 8 * NEW_BUCKETS);
  writer.u8(FORMAT_VERSION).u8(KEY_BYTES).raw(key);
  writer.i32(fresh.length).i32(tried.length);
  writer.i32(NEW_BUCKETS ^ BUCKET_COUNT_MASK);
  for (const entry of fresh) writeEntry(writer, entry);
  for (const entry of tried) writeEntry(writer, entry);
  for (const bucket of newBuckets ?? []) {
    writer.i32(bucket.length);
    for (const index of bucket) writer.i32(index);
  }
  return writer.finish();
}

function writeEntry(writer: Writer, entry: StoredEntry): void {
  writer.i32(CLIENT_VERSION).u32(entry.timeSec).u64(entry.services);
  writer.raw(Buffer.from(entry.ip, 'latin1'));
  writer.u8(entry.port >> 8).u8(entry.port & 0xff);
  writer.raw(Buffer.from(entry.source, 'latin1'));
  writer.i64(BigInt(entry.lastSuccessSec)).i32(entry.attempts);
}

/** Parses the content of the file. Throws `ReadError` if it is not an address book of version 0 or 1. */
export function parsePeers(content: Buffer): BookSnapshot {
  const reader = new Reader(content);
  const version = reader.u8();
  if (reader.u8() !== KEY_BYTES) throw new ReadError('Incorrect keysize in addrman deserialization');
  const key = Buffer.from(reader.view(KEY_BYTES));
  const freshCount = readCount(reader, MAX_NEW, 'nNew');
  const triedCount = readCount(reader, MAX_TRIED, 'nTried');
  const bucketCount = reader.i32() ^ (version === 0 ? 0 : BUCKET_COUNT_MASK);
  const fresh = readEntries(reader, freshCount);
  const tried = readEntries(reader, triedCount);
  // With another number of buckets the stored slots cannot be used, so they are computed again.
  if (version !== FORMAT_VERSION || bucketCount !== NEW_BUCKETS)
    return { key, fresh, tried, newBuckets: null };
  const newBuckets = Array.from({ length: NEW_BUCKETS }, () => {
    const size = readCount(reader, BUCKET_SIZE, 'bucket size');
    return Array.from({ length: size }, () => reader.i32());
  });
  return { key, fresh, tried, newBuckets };
}

function readCount(reader: Reader, most: number, what: string): number {
  const count = reader.i32();
  if (count < 0 || count > most)
    throw new ReadError(`Corrupt CAddrMan serialization, ${what} exceeds limit.`);
  return count;
}

function readEntries(reader: Reader, count: number): StoredEntry[] {
  const entries: StoredEntry[] = [];
  for (let i = 0; i < count; i++) entries.push(readEntry(reader));
  return entries;
}

function readEntry(reader: Reader): StoredEntry {
  reader.skip(4);
  const timeSec = reader.u32();
  const services = reader.u64();
  const ip = toLatin1(reader.view(IP_BYTES));
  const port = reader.u8() * 0x100 + reader.u8();
  const source = toLatin1(reader.view(IP_BYTES));
  const lastSuccessSec = between(0, Number(reader.i64()), Number.MAX_SAFE_INTEGER);
  const attempts = between(0, reader.i32(), 2 ** 30);
  return { ip, port, services, timeSec, source, lastSuccessSec, attempts };
}

/** Limits a number from a file, which may be corrupt, to a valid range. */
function between(least: number, value: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

export class PeersFile {
  private readonly path: string;
  private readonly magic: Buffer;
  private readonly log: Logger;
  private readonly warn: (message: string) => void;
  private readonly queue = new SerialQueue();

  /** Prepares the file at the path. `warn` reports an unusable file to the operator and the log. */
  constructor(
    path: string,
    magic: Buffer,
    log: Logger,
    warn: (message: string) => void = (message) => log.warn(message),
  ) {
    this.path = path;
    this.magic = magic;
    this.log = log;
    this.warn = warn;
  }

  /** Loads the book from the file. The book stays empty if the file is missing or corrupt. */
  async load(book: PeerAddressBook): Promise<void> {
    try {
      const content = await readCheckedFile(this.path, this.magic, MAX_FILE_BYTES);
      if (content === null) {
        this.log.debug('addrman', `${this.path} does not exist`);
        return;
      }
      book.restore(parsePeers(content));
      this.log.info(`Loaded ${book.size} addresses from peers.dat`);
    } catch (error) {
      if (!(error instanceof ReadError) && systemErrorCode(error) === null) throw error;
      book.clear();
      this.log.info(`Invalid peers.dat (${(error as Error).message}); recreating`);
      this.warn(quarantine(this.path, error, 'The node searches for peers again.'));
    }
  }

  /** Writes the book to the file. Rejects if the disk reports an error. */
  save(book: PeerAddressBook): Promise<void> {
    return this.queue.run(async () => {
      await writeCheckedFile(this.path, this.magic, formatPeers(book.snapshot()));
      this.log.debug('net', `Flushed ${book.size} addresses to peers.dat`);
    });
  }
}
