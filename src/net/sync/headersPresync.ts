/**
 * Headers of a peer whose chain has not shown enough work yet, so that nothing of them may be kept: they are fetched
 * twice. The first time they are checked and counted, and a bit of a salted hash of every 256th is kept; once their work
 * suffices they are fetched again, compared with those bits, and handed out when two dozen bits above them were right.
 * So a peer that shows one chain and then brings another gets nothing kept, but by a guess of one in sixteen million.
 * A state machine: sends nothing, stores nothing, knows no peer. Source: later Core headerssync.cpp.
 *
 * The reference's sources have none of it, and Core only bounds how the difficulty may change. Here the whole rule is
 * checked on both ways: what a header must satisfy follows from the eleven before it.
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
/** The number of bits above a header that must be right before it is released. */
const COMMITMENT_DEPTH = 24;
/** Headers that are held back at the second fetching: 112 bytes each. */
export const HELD_HEADERS = COMMITMENT_PERIOD * COMMITMENT_DEPTH;
/**
 * No chain grows faster: a header is later than the median of the eleven before it, so that six in a row may have one
 * second. Bounds the bits kept of an endless chain, a megabyte in ten years from the genesis block on.
 */
const MAX_HEADERS_PER_SEC = 6;

export interface PresyncOptions {
  /** A walk from the last known header of the peer's chain; each phase has one. */
  readonly beginWalk: () => HeaderWalk;
  /** Id of that header, wire order. */
  readonly startHash: Buffer;
  /** A chain with less work in all is not kept. */
  readonly requiredWork: bigint;
  /** The node's time. */
  readonly nowSec: number;
  /** 32 bytes that the peer does not know. */
  readonly salt: Buffer;
}

/** Reason why a sync ends: the chain breaks a rule, or it cannot be a chain of this length, or it is not the one of before. */
export type PresyncFault =
  { readonly kind: 'invalid'; readonly error: ValidationError } | { readonly kind: 'tooLong' | 'changed' };

export class HeadersPresync {
  private readonly options: PresyncOptions;
  private readonly maxCommitments: number;
  private readonly commitments = new BitQueue();
  private walk: HeaderWalk;
  private last: Buffer;
  private redownloading = false;
  /** At the second fetching: the work suffices, all that is held and follows may be handed out. */
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

  /** Height of the last header that was taken in the present phase. */
  get height(): number {
    return this.walk.height;
  }

  /** Work of the chain up to it. */
  get walkedWork(): bigint {
    return this.walk.work;
  }

  /** Id of the header after which the peer has to continue, wire order. */
  get lastHash(): Buffer {
    return this.last;
  }

  /** About how much memory it holds. */
  get usageBytes(): number {
    return this.commitments.usageBytes + this.held.usageBytes;
  }

  /**
   * Takes the header that follows `lastHash`; its work and its link must have been checked. After a fault the sync is
   * over.
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
    // What is beyond the work that suffices may be new since the first time.
    if (this.isComplete || walk.height % COMMITMENT_PERIOD !== this.offset) return null;
    const bit = this.commitTo(hash);
    if (this.redownloading) return commitments.shift() === bit ? null : { kind: 'changed' };
    if (commitments.length >= this.maxCommitments) return { kind: 'tooLong' };
    commitments.push(bit);
    return null;
  }

  /** Which heights leave a bit; no other caller knows. */
  private get offset(): number {
    return this.options.salt.readUInt16LE(0) % COMMITMENT_PERIOD;
  }

  private commitTo(hash: Buffer): number {
    return sha256(Buffer.concat([this.options.salt, hash]))[0]! & 1;
  }

  /**
   * A message has been taken; `isFull` says that more may follow. Answers the headers that may be kept now, in order.
   * Unless the phase is `done` the peer has to be asked for what follows `lastHash`.
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

  /** −1 when there is none. */
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

/** Headers, packed, so that neither objects nor the messages in which they came are kept. */
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

  /** Takes the first ones out until no more than `keep` are left. */
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
