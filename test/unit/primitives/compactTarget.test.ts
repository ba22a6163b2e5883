import { describe, expect, it } from 'vitest';
import {
  blockWork,
  decodeCompact,
  difficultyOf,
  encodeCompact,
  workEquivalentTimeSec,
} from '../../../src/primitives/compactTarget.js';
import { satisfiesProofOfWork } from '../../../src/primitives/pow.js';
import { mainParams } from '../../../src/params/main.js';
import { regtestParams } from '../../../src/params/regtest.js';
import { AssertionError } from '../../../src/util/assert.js';

describe('compact targets', () => {
  // Bits, number, the bits again, sign, overflow.
  it.each<[number, bigint, number, boolean, boolean]>([
    [0x00000000, 0n, 0, false, false],
    [0x00123456, 0n, 0, false, false],
    [0x01003456, 0n, 0, false, false],
    [0x02000056, 0n, 0, false, false],
    [0x03000000, 0n, 0, false, false],
    [0x04000000, 0n, 0, false, false],
    [0x00923456, 0n, 0, false, false],
    [0x01803456, 0n, 0, false, false],
    [0x02800056, 0n, 0, false, false],
    [0x03800000, 0n, 0, false, false],
    [0x04800000, 0n, 0, false, false],
    [0x01123456, 0x12n, 0x01120000, false, false],
    [0x01fedcba, 0x7en, 0x01fe0000, true, false],
    [0x02123456, 0x1234n, 0x02123400, false, false],
    [0x03123456, 0x123456n, 0x03123456, false, false],
    [0x04123456, 0x12345600n, 0x04123456, false, false],
    [0x04923456, 0x12345600n, 0x04923456, true, false],
    [0x05009234, 0x92340000n, 0x05009234, false, false],
    [0x20123456, 0x123456n << 232n, 0x20123456, false, false],
    [0x207fffff, 0x7fffffn << 232n, 0x207fffff, false, false],
    [0x1f00ffff, 0xffffn << 224n, 0x1f00ffff, false, false],
  ])('0x%s', (bits, target, again, negative, overflow) => {
    expect(decodeCompact(bits)).toEqual({ target, negative, overflow });
    expect(encodeCompact(target, negative)).toBe(again);
  });

  it.each([
    [0xff123456, true],
    [0x23000001, true],
    [0x22000001, false],
    [0x22000100, true],
    [0x21010000, true],
    [0x2100ffff, false],
    [0x20ffffff, false],
    [0xff000000, false],
  ])('detects an overflow of 256 bits: 0x%s', (bits, overflow) => {
    expect(decodeCompact(bits).overflow).toBe(overflow);
  });

  it('shifts a mantissa with its highest bit set by one byte', () => {
    expect(encodeCompact(0x80n)).toBe(0x02008000);
    expect(encodeCompact(0x800000n)).toBe(0x04008000);
    expect(encodeCompact((1n << 256n) - 1n)).toBe(0x2100ffff);
    expect(() => encodeCompact(1n << 256n)).toThrow(AssertionError);
  });

  it('encodes the limits of the networks', () => {
    expect(encodeCompact(mainParams.powLimit)).toBe(mainParams.powLimitBits);
    expect(encodeCompact(regtestParams.powLimit)).toBe(regtestParams.powLimitBits);
  });
});

describe('work', () => {
  it('of known bits is correct', () => {
    expect(blockWork(0x207fffff)).toBe(2n);
    expect(blockWork(0x1f00ffff)).toBe(0x10001n);
    expect(blockWork(0x03000001)).toBe(1n << 255n);
  });

  it('is zero for invalid bits', () => {
    for (const bits of [0, 0x04923456, 0xff123456, 0x03000000]) expect(blockWork(bits)).toBe(0n);
  });

  it('is converted to time at the rate of a tip', () => {
    const work = blockWork(0x1f00ffff);
    expect(workEquivalentTimeSec(work * 10n, 0n, 0x1f00ffff, 150)).toBe(1500n);
    expect(workEquivalentTimeSec(0n, work * 10n, 0x1f00ffff, 150)).toBe(-1500n);
    expect(workEquivalentTimeSec(5n, 5n, 0x1f00ffff, 150)).toBe(0n);
    expect(workEquivalentTimeSec(1n << 200n, 0n, 0x207fffff, 1)).toBe((1n << 63n) - 1n);
  });

  it('has its difficulty relative to 0x1f00ffff', () => {
    expect(difficultyOf(0x1f00ffff)).toBe(1);
    // The answer of the reference on regtest, with sixteen digits.
    expect(Number(difficultyOf(0x207fffff).toPrecision(16))).toBe(0.00003051711610163642);
    expect(difficultyOf(0x1e00ffff)).toBe(256);
  });
});

describe('satisfiesProofOfWork', () => {
  const hash = (value: bigint): Buffer => Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse();
  const limit = mainParams.powLimit;

  it('accepts a hash up to the target', () => {
    const { target } = decodeCompact(0x1e123456);
    expect(satisfiesProofOfWork(hash(target), 0x1e123456, limit)).toBe(true);
    expect(satisfiesProofOfWork(hash(target + 1n), 0x1e123456, limit)).toBe(false);
    expect(satisfiesProofOfWork(hash(0n), 0x1e123456, limit)).toBe(true);
  });

  it('refuses bits beyond the limit, negative, overflowing and zero', () => {
    for (const bits of [0x207fffff, 0x1f010000, 0x04923456, 0xff123456, 0, 0x03000000]) {
      expect(satisfiesProofOfWork(hash(0n), bits, limit)).toBe(false);
    }
    expect(satisfiesProofOfWork(hash(0n), 0x207fffff, regtestParams.powLimit)).toBe(true);
  });
});
