/**
 * SipHash-2-4: a short hash that is unpredictable without the key. 64-bit numbers are stored as halves of 32 bits, for
 * speed: a compact block hashes the whole mempool. Source: Core hash.cpp `CSipHasher`, `SipHashUint256`.
 */
import { asBuffer, type Bytes } from '../util/bytes.js';

export const SIP_KEY_SIZE_BYTES = 16;

/** SipHash with a fixed key. `update` stores the hash in `low` and `high`, so that no object per hash is created. */
export class SipHash {
  /** Lower and upper half of the last hash, as unsigned 32-bit numbers. */
  low = 0;
  high = 0;
  private readonly k0Low: number;
  private readonly k0High: number;
  private readonly k1Low: number;
  private readonly k1High: number;

  /** Sets the key of 16 bytes: two 64-bit numbers, little-endian. */
  constructor(key: Bytes) {
    const bytes = asBuffer(key);
    this.k0Low = bytes.readInt32LE(0);
    this.k0High = bytes.readInt32LE(4);
    this.k1Low = bytes.readInt32LE(8);
    this.k1High = bytes.readInt32LE(12);
  }

  update(data: Bytes): void {
    const words = data.length >>> 3;
    let aLow = this.k0Low ^ 0x70736575;
    let aHigh = this.k0High ^ 0x736f6d65;
    let bLow = this.k1Low ^ 0x6e646f6d;
    let bHigh = this.k1High ^ 0x646f7261;
    let cLow = this.k0Low ^ 0x6e657261;
    let cHigh = this.k0High ^ 0x6c796765;
    let dLow = this.k1Low ^ 0x79746573;
    let dHigh = this.k1High ^ 0x74656462;
    // Iterates over the words of the data, a word with the remaining bytes and the length, and a final empty step that
    // ends the hash.
    for (let word = 0; word <= words + 1; word++) {
      let mLow = 0;
      let mHigh = 0;
      let rounds = 2;
      const at = word * 8;
      if (word < words) {
        mLow = data[at]! | (data[at + 1]! << 8) | (data[at + 2]! << 16) | (data[at + 3]! << 24);
        mHigh = data[at + 4]! | (data[at + 5]! << 8) | (data[at + 6]! << 16) | (data[at + 7]! << 24);
      } else if (word === words) {
        for (let i = at; i < data.length; i++) {
          if (i - at < 4) mLow |= data[i]! << ((i - at) * 8);
          else mHigh |= data[i]! << ((i - at - 4) * 8);
        }
        mHigh |= data.length << 24;
      } else {
        cLow ^= 0xff;
        rounds = 4;
      }
      dLow ^= mLow;
      dHigh ^= mHigh;
      for (; rounds > 0; rounds--) {
        aLow = (aLow + bLow) | 0;
        aHigh = (aHigh + bHigh + (aLow >>> 0 < bLow >>> 0 ? 1 : 0)) | 0;
        let turned = (bHigh << 13) | (bLow >>> 19);
        bLow = ((bLow << 13) | (bHigh >>> 19)) ^ aLow;
        bHigh = turned ^ aHigh;
        turned = aHigh;
        aHigh = aLow;
        aLow = turned;

        cLow = (cLow + dLow) | 0;
        cHigh = (cHigh + dHigh + (cLow >>> 0 < dLow >>> 0 ? 1 : 0)) | 0;
        turned = (dHigh << 16) | (dLow >>> 16);
        dLow = ((dLow << 16) | (dHigh >>> 16)) ^ cLow;
        dHigh = turned ^ cHigh;

        aLow = (aLow + dLow) | 0;
        aHigh = (aHigh + dHigh + (aLow >>> 0 < dLow >>> 0 ? 1 : 0)) | 0;
        turned = (dHigh << 21) | (dLow >>> 11);
        dLow = ((dLow << 21) | (dHigh >>> 11)) ^ aLow;
        dHigh = turned ^ aHigh;

        cLow = (cLow + bLow) | 0;
        cHigh = (cHigh + bHigh + (cLow >>> 0 < bLow >>> 0 ? 1 : 0)) | 0;
        turned = (bHigh << 17) | (bLow >>> 15);
        bLow = ((bLow << 17) | (bHigh >>> 15)) ^ cLow;
        bHigh = turned ^ cHigh;
        turned = cHigh;
        cHigh = cLow;
        cLow = turned;
      }
      aLow ^= mLow;
      aHigh ^= mHigh;
    }
    this.low = (aLow ^ bLow ^ cLow ^ dLow) >>> 0;
    this.high = (aHigh ^ bHigh ^ cHigh ^ dHigh) >>> 0;
  }

  /** Returns the hash of the data as an unsigned 64-bit number. */
  hash(data: Bytes): bigint {
    this.update(data);
    return (BigInt(this.high) << 32n) | BigInt(this.low);
  }
}

/** Computes a hash with a key of 16 bytes, as an unsigned 64-bit number. */
export function sipHash(key: Bytes, data: Bytes): bigint {
  return new SipHash(key).hash(data);
}
