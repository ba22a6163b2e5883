import { describe, expect, it } from 'vitest';
import { crc32c, crc32cFallback, maskCrc } from '../../../src/crypto/crc32c.js';
import { Random } from '../../differential/support.js';

describe('CRC-32C', () => {
  it('has the published values', () => {
    // RFC 3720 B.4.
    expect(crc32cFallback(Buffer.alloc(32))).toBe(0x8a9136aa);
    expect(crc32cFallback(Buffer.alloc(32, 0xff))).toBe(0x62a8ab43);
    expect(crc32cFallback(Buffer.from(Array.from({ length: 32 }, (_, i) => i)))).toBe(0x46dd794e);
    expect(crc32cFallback(Buffer.alloc(0))).toBe(0);
  });

  it('has the same result in the addon, at every length', () => {
    const random = new Random(5);
    for (let length = 0; length < 300; length++) {
      const data = random.bytes(length);
      expect(crc32c(data)).toBe(crc32cFallback(data));
    }
  });

  it('is masked like in LevelDB', () => {
    expect(maskCrc(0)).toBe(0xa282ead8);
    expect(maskCrc(0xffffffff)).toBe((0xffffffff + 0xa282ead8) >>> 0);
    expect(maskCrc(0x12345678)).toBe((((0x12345678 >>> 15) | (0x12345678 << 17)) + 0xa282ead8) >>> 0);
  });
});
