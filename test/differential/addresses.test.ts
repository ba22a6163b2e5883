/** The addon encodes addresses as the package `@scure/base` does. */
import { describe, expect, it } from 'vitest';
import { loadNative } from '../../src/native/binding.js';
import { encodeWitnessFallback } from '../../src/script/address.js';
import { decodeBase58Check, encodeBase58CheckFallback } from '../../src/script/base58.js';
import { Random } from './support.js';

const native = loadNative();

describe.skipIf(!native)('the addon', () => {
  it('encodes any Base58Check payload as the fallback does', () => {
    const random = new Random(58);
    for (let size = 0; size <= 128; size++)
      for (let n = 0; n < 6; n++) {
        const payload = random.bytes(size);
        if (n > 0) payload.fill(n === 1 ? 255 : 0, 0, Math.min(size, n * n - 1));
        const text = native!.base58Check(payload);
        expect(text).toBe(encodeBase58CheckFallback(payload));
        expect(decodeBase58Check(text)).toEqual(payload);
      }
  });

  it('encodes any witness program as the fallback does', () => {
    const random = new Random(32);
    for (const prefix of ['lbc', 'tlbc', 'rlbc'])
      for (let version = 0; version <= 16; version++)
        for (let size = 2; size <= 40; size++) {
          const program = random.bytes(size);
          expect(native!.witnessAddress(prefix, version, program)).toBe(
            encodeWitnessFallback(prefix, version, program),
          );
        }
  });

  it('refuses input that is too long or invalid', () => {
    expect(() => native!.base58Check(Buffer.alloc(129))).toThrow(TypeError);
    expect(() => native!.witnessAddress('lbc', 17, Buffer.alloc(20))).toThrow(TypeError);
    expect(() => native!.witnessAddress('lbc', 0, Buffer.alloc(41))).toThrow(TypeError);
    expect(() => native!.witnessAddress(5 as never, 0, Buffer.alloc(20))).toThrow(TypeError);
    expect(() => native!.witnessAddress('l'.repeat(200), 0, Buffer.alloc(20))).toThrow(TypeError);
  });
});
