/**
 * Bloom filter with which a light client selects transactions (BIP37). This class contains the bits and the matching. Peers
 * and messages are in `relay/bloomFilters.ts`. Source: Core bloom.cpp `CBloomFilter`.
 */
import {
  TX_FIRST_INPUT,
  TX_FIRST_OUTPUT,
  TX_INPUT_COUNT,
  TX_OUTPUT_COUNT,
  TX_STRIDE,
} from '../../primitives/blockLayout.js';
import {
  inputScriptAt,
  outputScriptAt,
  prevoutAt,
  txidAt,
  type ParsedBlock,
} from '../../primitives/blockView.js';
import { formatOutPoint } from '../../primitives/transaction.js';
import { nextOp, opDataStart } from '../../script/script.js';
import { OP } from '../../script/opcodes.js';
import { solveScript } from '../../script/standard.js';
import type { Bytes } from '../../util/bytes.js';
import { atOnce, type Slices } from '../../util/slices.js';
import type { FilterLoadMessage } from '../messages/filters/filterload.js';
import { murmur3 } from './murmur3.js';

/**
 * Maximum size of a filter in bytes. It suffices for 20,000 items at a false positive rate below 0.1%, or for 10,000 below
 * 0.0001%.
 */
export const MAX_BLOOM_FILTER_SIZE = 36_000;
export const MAX_HASH_FUNCTIONS = 50;

/**
 * Values of the lower two bits of the flags. They determine which matching outputs are added to the filter, so that
 * transactions which spend these outputs match too.
 */
export const BLOOM_UPDATE = { none: 0, all: 1, publicKeysOnly: 2 } as const;
const UPDATE_MASK = 3;

/** Number of hashes between two yields to the event loop. They take some hundred microseconds, unless items are long. */
const HASHES_AT_ONCE = 2048;
/** Minimum length of an item in bytes for which the matching yields to the event loop after each hash. */
const LONG_ITEM_BYTES = 4096;

/** Difference between the seeds of two hash functions. It makes the functions sufficiently independent. */
export const SEED_STEP = 0xfba4c795;
const LN2 = Math.LN2;

export interface BloomFilterOptions {
  /** Number of items for which the filter is designed. */
  readonly elements: number;
  /** Probability that an item which was not added matches the filter, after all items are added. */
  readonly falsePositiveRate: number;
  /** Unsigned 32-bit. */
  readonly tweak: number;
  readonly flags: number;
}

/** Whether a filter is within the limits. If not, the peer gets 100 misbehaviour points. Source: `IsWithinSizeConstraints`. */
export function isWithinFilterLimits({ data, hashFunctions }: FilterLoadMessage): boolean {
  return data.length <= MAX_BLOOM_FILTER_SIZE && hashFunctions <= MAX_HASH_FUNCTIONS;
}

export class BloomFilter {
  private readonly data: Buffer;
  private readonly hashFunctions: number;
  private readonly tweak: number;
  private readonly flags: number;
  /** Whether all bits are set, so that every item matches without hashing. */
  private isFull: boolean;
  private isEmpty: boolean;
  /** Number of hashes since the last yield to the event loop. A hash of a long item counts more. */
  private hashes = 0;

  private constructor(data: Buffer, hashFunctions: number, tweak: number, flags: number) {
    this.data = data;
    this.hashFunctions = hashFunctions;
    this.tweak = tweak;
    this.flags = flags;
    // A filter without bytes counts as full and matches everything, because bit positions cannot be computed for it.
    this.isFull = data.every((byte) => byte === 0xff);
    this.isEmpty = data.every((byte) => byte === 0);
  }

  /** Creates the filter that a peer sent. The message must be within the limits. Its bytes are copied. */
  static parse({ data, hashFunctions, tweak, flags }: FilterLoadMessage): BloomFilter {
    return new BloomFilter(Buffer.from(data), hashFunctions, tweak, flags);
  }

  /** Creates an empty filter of optimal size for these parameters, within the limits. */
  static create({ elements, falsePositiveRate, tweak, flags }: BloomFilterOptions): BloomFilter {
    const bits = Math.floor((-1 / LN2 ** 2) * elements * Math.log(falsePositiveRate));
    const size = Math.floor(Math.min(bits, MAX_BLOOM_FILTER_SIZE * 8) / 8);
    const functions = Math.floor(Math.floor((size * 8) / elements) * LN2);
    return new BloomFilter(Buffer.alloc(size), Math.min(functions, MAX_HASH_FUNCTIONS), tweak, flags);
  }

  /** A filter that matches everything, as after `filterclear`. */
  static matchAll(): BloomFilter {
    return new BloomFilter(Buffer.alloc(0), 0, 0, 0);
  }

  format(): FilterLoadMessage {
    const { data, hashFunctions, tweak, flags } = this;
    return { data: Buffer.from(data), hashFunctions, tweak, flags };
  }

  private bitOf(hashFunction: number, item: Bytes): number {
    return murmur3(Math.imul(hashFunction, SEED_STEP) + this.tweak, item) % (this.data.length * 8);
  }

  insert(item: Bytes): void {
    if (this.isFull) return;
    for (let i = 0; i < this.hashFunctions; i++) {
      const bit = this.bitOf(i, item);
      this.data[bit >> 3]! |= 1 << (bit & 7);
    }
    this.isEmpty = false;
  }

  contains(item: Bytes): boolean {
    if (this.isFull) return true;
    if (this.isEmpty) return false;
    for (let i = 0; i < this.hashFunctions; i++) if (!this.hasBit(i, item)) return false;
    return true;
  }

  /** Like `contains`, but in slices, for items that may be as long as a block. */
  private *containsItem(item: Bytes): Slices<boolean> {
    if (item.length <= LONG_ITEM_BYTES || this.isFull || this.isEmpty) return this.contains(item);
    for (let i = 0; i < this.hashFunctions; i++, yield) if (!this.hasBit(i, item)) return false;
    return true;
  }

  private hasBit(hashFunction: number, item: Bytes): boolean {
    this.hashes += 1 + (item.length >> 6);
    const bit = this.bitOf(hashFunction, item);
    return (this.data[bit >> 3]! & (1 << (bit & 7))) !== 0;
  }

  /** Whether the work must yield to the event loop; if so, resets the counter. */
  private isPauseDue(): boolean {
    if (this.hashes < HASHES_AT_ONCE) return false;
    this.hashes = 0;
    return true;
  }

  /**
   * Whether a transaction matches: by its id, by a push in an output script or a scriptSig, or by an output that it spends.
   * `tx` is its index in `parsed`, which describes `bytes` (a block or a single transaction). Matching outputs are added to
   * the filter according to its flags. Source: `IsRelevantAndUpdate`.
   */
  isRelevantAndUpdate(bytes: Buffer, parsed: ParsedBlock, tx: number): boolean {
    return atOnce(this.isRelevantAndUpdateInSlices(bytes, parsed, tx));
  }

  /** Like `isRelevantAndUpdate`, but in slices. */
  *isRelevantAndUpdateInSlices(bytes: Buffer, parsed: ParsedBlock, tx: number): Slices<boolean> {
    if (this.isFull) return true;
    if (this.isEmpty) return false;
    const idMatches = this.contains(txidAt(parsed, tx));
    const outputMatches = yield* this.matchOutputs(bytes, parsed, tx);
    return idMatches || outputMatches || (yield* this.matchesInput(bytes, parsed, tx));
  }

  private *matchOutputs(bytes: Buffer, parsed: ParsedBlock, tx: number): Slices<boolean> {
    const row = tx * TX_STRIDE;
    const first = parsed.txs[row + TX_FIRST_OUTPUT]!;
    let found = false;
    for (let index = 0; index < parsed.txs[row + TX_OUTPUT_COUNT]!; index++) {
      const script = outputScriptAt(bytes, parsed, first + index);
      if (!(yield* this.containsPush(script))) continue;
      found = true;
      if (this.wantsOutput(script)) this.insert(formatOutPoint({ hash: txidAt(parsed, tx), index }));
    }
    return found;
  }

  private wantsOutput(script: Bytes): boolean {
    const update = this.flags & UPDATE_MASK;
    if (update === BLOOM_UPDATE.all) return true;
    if (update !== BLOOM_UPDATE.publicKeysOnly) return false;
    const { type } = solveScript(script);
    return type === 'pubkey' || type === 'multisig';
  }

  private *matchesInput(bytes: Buffer, parsed: ParsedBlock, tx: number): Slices<boolean> {
    const row = tx * TX_STRIDE;
    const first = parsed.txs[row + TX_FIRST_INPUT]!;
    for (let input = first; input < first + parsed.txs[row + TX_INPUT_COUNT]!; input++) {
      if (this.contains(prevoutAt(bytes, parsed, input))) return true;
      if (yield* this.containsPush(inputScriptAt(bytes, parsed, input))) return true;
    }
    return false;
  }

  /** Whether the filter contains a non-empty push of the script. Pushes after an invalid push are ignored. */
  private *containsPush(script: Bytes): Slices<boolean> {
    for (let at = 0; at < script.length;) {
      if (this.isPauseDue()) yield;
      const opcode = script[at]!;
      const next = nextOp(script, at);
      if (next < 0) return false;
      if (opcode <= OP.OP_PUSHDATA4) {
        const start = opDataStart(opcode, at);
        if (next > start && (yield* this.containsItem(script.subarray(start, next)))) return true;
      }
      at = next;
    }
    return false;
  }
}
