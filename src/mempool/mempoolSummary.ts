/**
 * Statistics of the mempool that are updated with each change, so that no query iterates over it: the number of transactions
 * by fee rate, and the transactions that arrived last.
 */
import { toLatin1, type Bytes } from '../util/bytes.js';

/**
 * Lower bounds of the buckets' fee rates, in satoshis per 1,000 virtual bytes. Arbitrary: from the relay fee on, each is
 * about a fifth above the previous one.
 */
const BOUNDS: readonly bigint[] = boundsUpTo(100_000_000n);

function boundsUpTo(most: bigint): bigint[] {
  const bounds = [0n, 1000n];
  for (let next = 1200n; next < most; next = (next * 6n) / 5n) bounds.push(next);
  return bounds;
}

export interface FeeBucket {
  /** Minimum fee rate of the bucket's transactions, in satoshis per 1,000 virtual bytes; all are below the next bucket's. */
  readonly fromRatePerKb: bigint;
  readonly count: number;
  readonly sizeBytes: number;
  readonly feesSat: bigint;
}

export interface ArrivedTransaction {
  readonly txid: Bytes;
  readonly timeSec: number;
  readonly sizeBytes: number;
  readonly feeSat: bigint;
}

interface Link extends ArrivedTransaction {
  readonly bucket: number;
  /** Previous and next item of the list, in order of arrival. */
  before: Link | null;
  after: Link | null;
}

interface Bucket {
  count: number;
  sizeBytes: number;
  feesSat: bigint;
}

/** Number of the bucket for a fee rate. */
function bucketOf(ratePerKb: bigint): number {
  let low = 0;
  let high = BOUNDS.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (BOUNDS[middle]! <= ratePerKb) low = middle;
    else high = middle;
  }
  return low;
}

export class MempoolSummary {
  private readonly links = new Map<string, Link>();
  private last: Link | null = null;
  private readonly filled: Bucket[] = BOUNDS.map(() => ({ count: 0, sizeBytes: 0, feesSat: 0n }));

  add(entry: {
    readonly txid: Bytes;
    readonly entryTimeSec: number;
    readonly sizeBytes: number;
    readonly feeSat: bigint;
  }): void {
    const { txid, entryTimeSec: timeSec, sizeBytes, feeSat } = entry;
    const key = toLatin1(txid);
    if (this.links.has(key)) return;
    const bucket = bucketOf((feeSat * 1000n) / BigInt(sizeBytes));
    const link: Link = { txid, timeSec, sizeBytes, feeSat, bucket, before: this.last, after: null };
    if (this.last) this.last.after = link;
    this.last = link;
    this.links.set(key, link);
    this.count(link, 1);
  }

  remove(txid: Bytes): void {
    const key = toLatin1(txid);
    const link = this.links.get(key);
    if (link === undefined) return;
    this.links.delete(key);
    if (link.before) link.before.after = link.after;
    if (link.after) link.after.before = link.before;
    else this.last = link.before;
    this.count(link, -1);
  }

  private count({ bucket, sizeBytes, feeSat }: Link, sign: 1 | -1): void {
    const filled = this.filled[bucket]!;
    filled.count += sign;
    filled.sizeBytes += sign * sizeBytes;
    filled.feesSat += BigInt(sign) * feeSat;
  }

  /** Buckets that contain transactions, sorted from the lowest rate. */
  buckets(): FeeBucket[] {
    return this.filled.flatMap((bucket, i) =>
      bucket.count === 0 ? [] : [{ fromRatePerKb: BOUNDS[i]!, ...bucket }],
    );
  }

  /** The `count` latest transactions, sorted from the newest. */
  newest(count: number): ArrivedTransaction[] {
    const found: ArrivedTransaction[] = [];
    for (let link = this.last; link !== null && found.length < count; link = link.before) found.push(link);
    return found;
  }
}
