/**
 * Compact block filters of the basic type (BIP158): the scripts that a block pays to and spends from as a set of hashes in
 * Golomb-Rice coding. A light client can match its own scripts against the set without revealing them to the server.
 */
import { sha256d } from '../crypto/hash.js';
import { SipHash, SIP_KEY_SIZE_BYTES } from '../crypto/sipHash.js';
import { toLatin1, type Bytes } from '../util/bytes.js';
import { Writer } from '../util/writer.js';

/**
 * `REMAINDER_BITS`: number of bits of a coded remainder (BIP158 `P`). `INVERSE_FALSE_RATE`: inverse of the false positive
 * rate (BIP158 `M`).
 */
const REMAINDER_BITS = 19;
const INVERSE_FALSE_RATE = 784_931n;

const OP_RETURN = 0x6a;

/** Collects the distinct scripts for a filter. Unspendable outputs are omitted. */
export class FilterElements {
  private readonly scripts = new Map<string, Bytes>();

  addOutput(script: Bytes): void {
    if (script[0] !== OP_RETURN) this.addSpent(script);
  }

  addSpent(script: Bytes): void {
    if (script.length > 0) this.scripts.set(toLatin1(script), script);
  }

  get list(): readonly Bytes[] {
    return [...this.scripts.values()];
  }
}

/** Maps each script to a number below `count` · M. The hash function is keyed with the block's id. */
function hashedSet(scripts: readonly Bytes[], blockHash: Bytes, count: number): BigUint64Array {
  const sip = new SipHash(blockHash.subarray(0, SIP_KEY_SIZE_BYTES));
  const range = BigInt(count) * INVERSE_FALSE_RATE;
  return BigUint64Array.from(scripts, (script) => (sip.hash(script) * range) >> 64n).sort();
}

/**
 * Builds the filter of a block: the number of elements, followed by the coded differences of the sorted hashes. `blockHash`
 * is in wire order.
 */
export function buildFilter(scripts: readonly Bytes[], blockHash: Bytes): Buffer {
  const writer = new Writer().compactSize(scripts.length);
  const bits = new BitWriter();
  let last = 0n;
  for (const value of hashedSet(scripts, blockHash, scripts.length)) {
    const difference = value - last;
    last = value;
    bits.unary(Number(difference >> BigInt(REMAINDER_BITS)));
    bits.number(Number(difference & ((1n << BigInt(REMAINDER_BITS)) - 1n)), REMAINDER_BITS);
  }
  return writer.raw(bits.finish()).finish();
}

/** Hash of a filter: double SHA-256 (BIP157). */
export function filterHash(filter: Bytes): Buffer {
  return sha256d(filter);
}

/** The filter header (BIP157): it commits to a filter and, by the previous header, to all filters before it. */
export function filterHeader(hash: Bytes, previousHeader: Bytes): Buffer {
  return sha256d(Buffer.concat([hash, previousHeader]));
}

class BitWriter {
  private readonly bytes: number[] = [];
  private open = 0;
  private count = 0;

  unary(value: number): void {
    for (; value > 0; value--) this.bit(1);
    this.bit(0);
  }

  /** Writes the lowest `width` bits of a number, the highest bit first. */
  number(value: number, width: number): void {
    for (let at = width - 1; at >= 0; at--) this.bit((value >>> at) & 1);
  }

  private bit(bit: number): void {
    this.open = (this.open << 1) | bit;
    if (++this.count < 8) return;
    this.bytes.push(this.open);
    this.open = this.count = 0;
  }

  finish(): Buffer {
    if (this.count > 0) this.bytes.push(this.open << (8 - this.count));
    return Buffer.from(this.bytes);
  }
}
