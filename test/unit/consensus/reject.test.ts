import { describe, expect, it } from 'vitest';
import { COIN, formatMoney, isMoneyRange, MAX_MONEY } from '../../../src/consensus/limits.js';
import { formatVerdict, reject, REJECT_CODE, REJECT_REASONS } from '../../../src/consensus/reject.js';

describe('the catalogue', () => {
  it('builds a verdict for every reason', () => {
    for (const key of REJECT_REASONS) {
      const verdict = reject(key);
      expect(verdict.reason).toBe(key);
      expect(verdict.corruption).toBe(verdict.result === 'mutated');
      expect([0, 10, 50, 100]).toContain(verdict.dosScore);
      expect(Object.values(REJECT_CODE)).toContain(verdict.rejectCode);
      expect('debug' in verdict).toBe(false);
    }
    expect(REJECT_REASONS).toContain('bad-claim-merkle-hash');
  });

  it('never bans for policy', () => {
    for (const key of REJECT_REASONS)
      if (reject(key).result === 'policy') expect(reject(key).dosScore).toBe(0);
  });

  it('accepts details', () => {
    expect(reject('bad-txns-nonfinal').dosScore).toBe(10);
    const verdict = reject('bad-txns-nonfinal', { dosScore: 100, corruption: true, debug: 'why' });
    expect(verdict).toEqual({
      reason: 'bad-txns-nonfinal',
      result: 'consensus',
      rejectCode: 0x10,
      dosScore: 100,
      corruption: true,
      debug: 'why',
    });
    expect(reject('bad-version', { suffix: '(0x00000001)' }).reason).toBe('bad-version(0x00000001)');
  });

  it('formats as the reference logs it', () => {
    expect(formatVerdict(reject('high-hash', { debug: 'proof of work failed' }))).toBe(
      'high-hash, proof of work failed (code 16)',
    );
    expect(formatVerdict(reject('duplicate'))).toBe('duplicate (code 0)');
  });
});

describe('money', () => {
  it('has a range', () => {
    expect([-1n, 0n, MAX_MONEY, MAX_MONEY + 1n].map(isMoneyRange)).toEqual([false, true, true, false]);
    expect(MAX_MONEY).toBe(2_100_000_000_000_000_000n);
  });

  it.each([
    [0n, '0.00'],
    [1n, '0.00000001'],
    [COIN, '1.00'],
    [COIN / 10n, '0.10'],
    [123_450_000n, '1.2345'],
    [-COIN / 2n, '-0.50'],
    [MAX_MONEY, '21000000000.00'],
  ])('%s is shown as %s', (value, text) => {
    expect(formatMoney(value)).toBe(text);
  });
});
