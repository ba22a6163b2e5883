import { describe, expect, it } from 'vitest';
import { expiresAt, hasExpired, lastExpired, warnedBlocks } from '../../../../src/daemon/base/claimTerm.js';
import { ledgerParams } from '../../../../src/daemon/base/ledgerParams.js';

const main = ledgerParams('lbc_mainnet');
const regtest = ledgerParams('lbc_regtest');

describe('the term of claims', () => {
  it('is that of the main network, before and after the extension', () => {
    // Source: lbrycrd chainparams.cpp: 262,974 blocks, and 2,102,400 blocks from height 400,155 on.
    expect(expiresAt(main, 1)).toBe(262_975);
    expect(expiresAt(main, 400_155 - 262_974 - 1)).toBe(400_154);
    expect(expiresAt(main, 400_155 - 262_974)).toBe(137_181 + 2_102_400);
    expect(hasExpired(main, 137_181, 2_239_580)).toBe(false);
    expect(hasExpired(main, 137_181, 2_239_581)).toBe(true);
  });

  it('does not expire unconfirmed claims', () => {
    for (const height of [0, -1, -2]) expect(hasExpired(regtest, height, 1_000_000)).toBe(false);
  });

  it('returns the last height that has expired', () => {
    for (const params of [main, regtest])
      for (const tip of [0, 499, 500, 799, 800, 1_500, 262_974, 400_154, 400_155, 2_239_580, 2_239_581]) {
        const last = lastExpired(params, tip);
        if (last >= 1) expect(hasExpired(params, last, tip)).toBe(true);
        expect(hasExpired(params, Math.max(1, last + 1), tip)).toBe(false);
      }
  });

  it('causes a warning four weeks before its end, or a tenth of it', () => {
    expect(warnedBlocks(main, 2_000_000)).toBe(16_128);
    expect(warnedBlocks(regtest, 10)).toBe(Math.floor(regtest.network.claimForks.originalExpiration / 10));
  });
});
