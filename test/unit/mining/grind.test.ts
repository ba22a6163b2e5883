import { describe, expect, it } from 'vitest';
import { loadNative } from '../../../src/native/binding.js';
import { grind, grindFallback } from '../../../src/mining/grind.js';
import { coinbaseScriptSig } from '../../../src/mining/coinbase.js';
import { regtestParams } from '../../../src/params/regtest.js';
import { toHex } from '../../../src/util/bytes.js';

const header = regtestParams.genesis.header;
const never = new AbortController().signal;

describe('grinding', () => {
  it('finds the same nonce as its fallback, across slices', async () => {
    const wanted = 1n << 246n;
    const nonce = await grind(header, wanted, 20_000, never);
    expect(nonce).toBeGreaterThan(-1);
    expect(grindFallback(header, wanted, 0, 20_000)).toBe(nonce);
    expect(await grind(header, wanted, nonce, never)).toBe(-1);
    expect(await grind(header, wanted, nonce + 1, never)).toBe(nonce);
    const native = loadNative();
    if (native === null) {
      console.log('skipped the comparison with the addon: it is not built');
      return;
    }
    const target = Buffer.from(wanted.toString(16).padStart(64, '0'), 'hex').reverse();
    expect(native.grind(header, target, 0, 20_000)).toBe(nonce);
  });

  it('stops after its tries, or on request', async () => {
    expect(await grind(header, 1n, 5000, never)).toBe(-1);
    const stopped = new AbortController();
    stopped.abort();
    expect(await grind(header, (1n << 256n) - 1n, 5, stopped.signal)).toBe(-1);
  });
});

describe('the script of a coinbase', () => {
  it('contains the height, then the extra nonce', () => {
    expect(toHex(coinbaseScriptSig(1, 0))).toBe('5100');
    expect(toHex(coinbaseScriptSig(16, 1))).toBe('600101');
    expect(toHex(coinbaseScriptSig(17, 200))).toBe('011102c800');
    expect(toHex(coinbaseScriptSig(130, 1))).toBe('0282000101');
  });
});
