/**
 * Computes the slots of an address: a keyed hash of its group and the group of its source. The key is secret, so peers
 * cannot choose slots for addresses, and one network range has access to few slots. Source: Core addrman.cpp
 * `GetTriedBucket`, `GetNewBucket`, `GetBucketPosition`.
 */
import { sha256d } from '../../crypto/hash.js';
import { fromLatin1, type Bytes } from '../../util/bytes.js';
import { Writer } from '../../util/writer.js';
import { groupOf } from '../netAddress.js';
import type { StoredEntry } from './entry.js';
import {
  BUCKET_SIZE,
  NEW_BUCKETS,
  NEW_BUCKETS_PER_SOURCE_GROUP,
  TRIED_BUCKETS,
  TRIED_BUCKETS_PER_GROUP,
} from './limits.js';

type Placed = Pick<StoredEntry, 'ip' | 'port' | 'source'>;

const TAG_NEW = 0x4e;
const TAG_TRIED = 0x4b;

/** Hash of the data in the writer, modulo a power of two up to 2^32. */
function hashModulo(writer: Writer, modulus: number): number {
  return sha256d(writer.finish()).readUInt32LE(0) % modulus;
}

export class Placement {
  readonly key: Buffer;

  /** `key`: the key of the hash, 32 bytes. It must stay secret. */
  constructor(key: Bytes) {
    this.key = Buffer.from(key);
  }

  /**
   * Index of the slot in the table of new addresses for an address announced by `source`. Less than `NEW_BUCKETS` ×
   * `BUCKET_SIZE`.
   */
  newSlot(entry: Placed, source: string): number {
    return this.slotInNewBucket(entry, this.newBucket(entry, source));
  }

  slotInNewBucket(entry: Placed, bucket: number): number {
    return bucket * BUCKET_SIZE + this.position(entry, TAG_NEW, bucket);
  }

  triedSlot(entry: Placed): number {
    const bucket = this.triedBucket(entry);
    return bucket * BUCKET_SIZE + this.position(entry, TAG_TRIED, bucket);
  }

  newBucket(entry: Placed, source: string): number {
    const group = groupOf({ ip: fromLatin1(entry.ip) });
    const sourceGroup = groupOf({ ip: fromLatin1(source) });
    const spread = hashModulo(
      this.begin().varBytes(group).varBytes(sourceGroup),
      NEW_BUCKETS_PER_SOURCE_GROUP,
    );
    return hashModulo(this.begin().varBytes(sourceGroup).u64(BigInt(spread)), NEW_BUCKETS);
  }

  triedBucket(entry: Placed): number {
    const group = groupOf({ ip: fromLatin1(entry.ip) });
    const spread = hashModulo(this.begin().varBytes(serviceKey(entry)), TRIED_BUCKETS_PER_GROUP);
    return hashModulo(this.begin().varBytes(group).u64(BigInt(spread)), TRIED_BUCKETS);
  }

  private position(entry: Placed, tag: number, bucket: number): number {
    return hashModulo(this.begin().u8(tag).u32(bucket).varBytes(serviceKey(entry)), BUCKET_SIZE);
  }

  private begin(): Writer {
    return new Writer(96).raw(this.key);
  }
}

/** IP address and port in big-endian order. Source: `CService::GetKey`. */
function serviceKey({ ip, port }: Placed): Buffer {
  const key = Buffer.allocUnsafe(18);
  key.write(ip, 0, 'latin1');
  key.writeUInt16BE(port, 16);
  return key;
}
