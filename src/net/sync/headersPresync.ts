/**
 * Two-pass download of the headers of a chain that has not shown enough work yet, so that they must not be stored. In the
 * first pass they are checked, and one bit of a salted hash of every 256th header is stored. When their work is sufficient,
 * they are downloaded again and compared with the bits. A header is released when 24 bits above it match. So a peer that
 * sends another chain in the second pass has a chance of one in sixteen million. This is a state machine without I/O.
 * Source: later Core headerssync.cpp. The reference does not have it, and Core only limits changes of the difficulty. Here
 * the full difficulty rule is checked in both passes, because it only needs the previous eleven headers.
 */
import type { HeaderWalk } from '../../consensus/headerWalk.js';
import { MAX_FUTURE_BLOCK_TIME_SEC } from '../../consensus/limits.js';
import type { ValidationError } from '../../consensus/reject.js';
import { sha256 } from '../../crypto/hash.js';
import { HEADER_SIZE_BYTES } from '../../primitives/header.js';
import { assert } from '../../util/assert.js';
import { equalBytes } from '../../util/bytes.js';

/** Number of headers for each stored bit. */
export const COMMITMENT_PERIOD = 256;
/** Number of matching bits above a header before it is released. */
const COMMITMENT_DEPTH = 24;
/** Number of headers held in the second pass: 112 bytes each. */
export const HELD_HEADERS = COMMITMENT_PERIOD * COMMITMENT_DEPTH;
/**
 * Maximum growth of a chain: the time of a header must be later than the median of the eleven before it, so at most six in a
 * row have the same second. It limits the stored bits of an endless chain to a megabyte in ten years since the genesis
 * block.
 */
const MAX_HEADERS_PER_SEC = 6;

export interface PresyncOptions {
  /** Starts a header walk from the last known header of the peer's chain; once for each pass. */
  readonly beginWalk: () => HeaderWalk;
  /** Id of that header, in wire order. */
  readonly startHash: Buffer;
  /** Chains with less total work are not stored. */
  readonly requiredWork: bigint;
  /** The node's time. */
  readonly nowSec: number;
  /** 32 random bytes unknown to the peer. */
  readonly salt: Buffer;
}

/** Reason why a sync ends: the chain breaks a rule, is longer than possible, or differs from that of the first pass. */
export type PresyncFault =
  { readonly kind: 'invalid'; readonly error: ValidationError } | { readonly kind: 'tooLong' | 'changed' };

export class HeadersPresync {
  private readonly options: PresyncOptions;
  private readonly maxCommitments: number;
  private readonly commitments = new BitQueue();
  private walk: HeaderWalk;
  private last: Buffer;
  private redownloading = false;
  /** In the second pass: the work is sufficient, so all held and following headers may be released. */
  private isComplete = false;
  private readonly held = new HeaderQueue();
  private ended = false;

  constructor(options: PresyncOptions) {
    this.options = options;
    this.walk = options.beginWalk();
    this.last = options.startHash;
    const sinceSec = options.nowSec - this.walk.medianTimeSec + MAX_FUTURE_BLOCK_TIME_SEC;
    this.maxCommitments = Math.ceil((MAX_HEADERS_PER_SEC * Math.max(0, sinceSec)) / COMMITMENT_PERIOD);
  }

  get phase(): 'presync' | 'redownload' | 'done' {
    return this.ended ? 'done' : this.redownloading ? 'redownload' : 'presync';
  }

  /** Height of the last header in the present pass. */
  get height(): number {
    return this.walk.height;
  }

  /** Chain work up to that header. */
  get walkedWork(): bigint {
    return this.walk.work;
  }

  /** Id of the header after which the peer must continue, in wire order. */
  get lastHash(): Buffer {
    return this.last;
  }

  /** Approximate memory usage. */
  get usageBytes(): number {
    return this.commitments.usageBytes + this.held.usageBytes;
  }

  /**
   * Processes the header after `lastHash`; its work and its link must have been checked. After a fault the sync has ended.
   */
  take(bytes: Buffer, hash: Buffer): PresyncFault | null {
    assert(!this.ended, 'this sync is over');
    assert(equalBytes(bytes.subarray(4, 36), this.last), 'headers follow one another');
    const fault = this.check(bytes, hash);
    if (fault) {
      this.end();
      return fault;
    }
    this.last = Buffer.from(hash);
    if (this.redownloading) this.held.push(bytes);
    return null;
  }

  private check(bytes: Buffer, hash: Buffer): PresyncFault | null {
    const { walk, commitments, options } = this;
    const error = walk.next({
      version: bytes.readInt32LE(0),
      timeSec: bytes.readUInt32LE(100),
      bits: bytes.readUInt32LE(104),
    });
    if (error) return { kind: 'invalid', error };
    if (this.redownloading && walk.work >= options.requiredWork) this.isComplete = true;
    // Headers beyond the sufficient work may be new since the first pass.
    if (this.isComplete || walk.height % COMMITMENT_PERIOD !== this.offset) return null;
    const bit = this.commitTo(hash);
    if (this.redownloading) return commitments.shift() === bit ? null : { kind: 'changed' };
    if (commitments.length >= this.maxCommitments) return { kind: 'tooLong' };
    commitments.push(bit);
    return null;
  }

  /** Offset of the heights with a stored bit; unknown to peers. */
  private get offset(): number {
    return this.options.salt.readUInt16LE(0) % COMMITMENT_PERIOD;
  }

  private commitTo(hash: Buffer): number {
    return sha256(Buffer.concat([this.options.salt, hash]))[0]! & 1;
  }

  /**
   * Ends a message; `isFull` means that more headers may follow. Returns the headers that may be stored now, in order.
   * Unless the phase is `done`, the headers after `lastHash` must be requested from the peer.
   */
  endMessage(isFull: boolean): Buffer[] {
    if (!this.redownloading) {
      if (this.walk.work >= this.options.requiredWork) this.beginRedownload();
      else if (!isFull) this.end();
      return [];
    }
    const ready = this.held.take(this.isComplete ? 0 : HELD_HEADERS);
    if (this.isComplete || !isFull) this.end();
    return ready;
  }

  private beginRedownload(): void {
    this.redownloading = true;
    this.walk = this.options.beginWalk();
    this.last = this.options.startHash;
  }

  /** Forgets everything. */
  private end(): void {
    this.ended = true;
    this.commitments.clear();
    this.held.take(0);
  }
}

/** A FIFO queue of bits. */
class BitQueue {
  private bytes = new Uint8Array(64);
  private first = 0;
  private count = 0;

  get length(): number {
    return this.count - this.first;
  }

  get usageBytes(): number {
    return this.bytes.length;
  }

  push(bit: number): void {
    if (this.count >> 3 === this.bytes.length) {
      const larger = new Uint8Array(this.bytes.length * 2);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    if (bit) this.bytes[this.count >> 3]! |= 1 << (this.count & 7);
    this.count++;
  }

  /** −1 if the queue is empty. */
  shift(): number {
    if (this.length === 0) return -1;
    const bit = (this.bytes[this.first >> 3]! >> (this.first & 7)) & 1;
    this.first++;
    return bit;
  }

  clear(): void {
    this.bytes = new Uint8Array(0);
    this.first = this.count = 0;
  }
}

/** Queue of packed headers, so that neither objects nor the received messages are retained. */
class HeaderQueue {
  private bytes = Buffer.alloc(0);
  private count = 0;

  get usageBytes(): number {
    return this.bytes.length;
  }

  push(header: Buffer): void {
    const end = this.count * HEADER_SIZE_BYTES;
    if (end === this.bytes.length) {
      const larger = Buffer.alloc(end + 1024 * HEADER_SIZE_BYTES);
      this.bytes.copy(larger, 0, 0, end);
      this.bytes = larger;
    }
    header.copy(this.bytes, end);
    this.count++;
  }

  /** Removes and returns the first headers, until at most `keep` are left. */
  take(keep: number): Buffer[] {
    const taken: Buffer[] = [];
    if (this.count <= keep) return taken;
    const out = Buffer.from(this.bytes.subarray(0, (this.count - keep) * HEADER_SIZE_BYTES));
    for (let at = 0; at < out.length; at += HEADER_SIZE_BYTES)
      taken.push(out.subarray(at, at + HEADER_SIZE_BYTES));
    this.bytes.copy(this.bytes, 0, out.length, this.count * HEADER_SIZE_BYTES);
    this.count = keep;
    if (keep === 0) this.bytes = Buffer.alloc(0);
    return taken;
  }
}
