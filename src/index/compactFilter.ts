/**
 * Compact block filters of the basic type (BIP158): the scripts that a block pays to and spends from as a set of hashes,
 * Golomb-Rice coded, A light client can match its own scripts against the set without revealing them. Pure.
 */
import { sha256d } from '../crypto/hash.js';
import { SipHash, SIP_KEY_SIZE_BYTES } from '../crypto/sipHash.js';
import { toLatin1, type Bytes } from '../util/bytes.js';
import { Writer } from '../util/writer.js';

/** Bits of a remainder, and the inverse false positive rate (BIP158 `P`, `M`). */
const REMAINDER_BITS = 19;
const INVERSE_FALSE_RATE = 784_931n;

const OP_RETURN = 0x6a;

/** The distinct scripts of a filter, without unspendable ones. */
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

/** Each script as a number below `count` · M, by a hash that is keyed with the block's id. */
function hashedSet(scripts: readonly Bytes[], blockHash: Bytes, count: number): BigUint64Array {
  const sip = new SipHash(blockHash.subarray(0, SIP_KEY_SIZE_BYTES));
  const range = BigInt(count) * INVERSE_FALSE_RATE;
  return BigUint64Array.from(scripts, (script) => (sip.hash(script) * range) >> 64n).sort();
}

/** The filter of the block with this id (wire order): number of elements, then coded differences. */
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

/** Key of a filter. */
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

  /** The highest bit first. */
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
