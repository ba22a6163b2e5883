/**
 * Two-pass download of the headers of a chain whose work is not sufficient yet, so that its headers must not be stored. The
 * first pass checks the headers and stores one bit of a salted hash of every 256th header. When the chain work is
 * sufficient, the second pass downloads the headers again and compares the bits. A header is released when 24 bits above it
 * match. A peer that sends a different chain in the second pass succeeds with a probability of 1 in 16 million. A state
 * machine without I/O. Source: Core 24 headerssync.cpp. lbrycrd does not have this check. Core only limits difficulty
 * changes; this code checks the full difficulty rule in both passes, because the rule needs only the previous eleven
 * headers.
 */
import type { HeaderWalk } from '../../consensus/headerWalk.js';
import { MAX_FUTURE_BLOCK_TIME_SEC } from '../../consensus/limits.js';
import type { ValidationError } from '../../consensus/reject.js';
import { sha256 } from '../../crypto/hash.js';
import { HEADER_SIZE_BYTES } from '../../primitives/header.js';
import { assert } from '../../util/assert.js';
import { equalBytes } from '../../util/bytes.js';

/** Number of headers per stored commitment bit. */
export const COMMITMENT_PERIOD = 256;
/** Number of commitment bits after a header that must match before the header is released. */
const COMMITMENT_DEPTH = 24;
/** Number of headers of 112 bytes each that are held in memory in the second pass. */
export const HELD_HEADERS = COMMITMENT_PERIOD * COMMITMENT_DEPTH;
/**
 * Maximum number of headers per second of chain time. A header's time must exceed the median of the eleven before it, so at
 * most six consecutive headers share one second. This limits the stored bits of an endless chain to one megabyte in the ten
 * years since the genesis block.
 */
const MAX_HEADERS_PER_SEC = 6;

export interface PresyncOptions {
  /** Creates a checker for the headers after the last known header of the peer's chain. Called once per pass. */
  readonly beginWalk: () => HeaderWalk;
  /** Id of the last known header of the peer's chain, in wire order. */
  readonly startHash: Buffer;
  /** Minimum total work of a chain whose headers are stored. */
  readonly requiredWork: bigint;
  /** Time of the node's clock, in seconds since 1970. */
  readonly nowSec: number;
  /** 32 random bytes that the peer does not know. They make the commitment bits unpredictable. */
  readonly salt: Buffer;
}

/**
 * Reason why the download fails: the chain breaks a rule, is longer than possible, or differs from the chain of the first
 * pass.
 */
export type PresyncFault =
  { readonly kind: 'invalid'; readonly error: ValidationError } | { readonly kind: 'tooLong' | 'changed' };

export class HeadersPresync {
  private readonly options: PresyncOptions;
  private readonly maxCommitments: number;
  private readonly commitments = new BitQueue();
  private walk: HeaderWalk;
  private last: Buffer;
  private redownloading = false;
  /** Set in the second pass when the work is sufficient. After this, held and further headers may be released. */
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

  /** Height of the last header in the current pass. */
  get height(): number {
    return this.walk.height;
  }

  /** Total chain work up to the last header of the current pass. */
  get walkedWork(): bigint {
    return this.walk.work;
  }

  /** Id of the last header of the current pass, in wire order. The peer must continue after this header. */
  get lastHash(): Buffer {
    return this.last;
  }

  /** Approximate memory usage of the commitments and held headers, in bytes. */
  get usageBytes(): number {
    return this.commitments.usageBytes + this.held.usageBytes;
  }

  /**
   * Processes the header that follows `lastHash`. The caller must have checked the header's proof of work and its link to
   * the parent. Returns a fault, which ends the sync, or null.
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
    // Skips headers beyond the sufficient work, which may be new since the first pass, and headers without a commitment
    // bit.
    if (this.isComplete || walk.height % COMMITMENT_PERIOD !== this.offset) return null;
    const bit = this.commitTo(hash);
    if (this.redownloading) return commitments.shift() === bit ? null : { kind: 'changed' };
    if (commitments.length >= this.maxCommitments) return { kind: 'tooLong' };
    commitments.push(bit);
    return null;
  }

  /** Remainder modulo `COMMITMENT_PERIOD` of the heights that have a commitment bit. Peers cannot know it. */
  private get offset(): number {
    return this.options.salt.readUInt16LE(0) % COMMITMENT_PERIOD;
  }

  private commitTo(hash: Buffer): number {
    return sha256(Buffer.concat([this.options.salt, hash]))[0]! & 1;
  }

  /**
   * Ends a headers message. `isFull` means that the peer may have more headers. Returns the headers that may be stored after
   * this message, in order. Unless the phase is `done`, the caller must request the headers after `lastHash` from the peer.
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

/** A FIFO queue of bits, stored packed. */
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

  /** Removes and returns the first bit; −1 if the queue is empty. */
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

/** Queue of headers in one packed buffer, so that neither header objects nor the received messages are retained. */
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

  /** Removes and returns the first headers of the queue, until at most `keep` headers are left. */
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
