import { describe, expect, it } from 'vitest';
import {
  checkHeader,
  contextualCheckHeader,
  type HeaderContext,
} from '../../../src/consensus/checkHeader.js';
import { mainParams } from '../../../src/params/main.js';
import { regtestParams } from '../../../src/params/regtest.js';

const context: HeaderContext = {
  height: 500,
  requiredBits: 0x207fffff,
  parentMedianTimeSec: 1000,
  adjustedTimeSec: 5000,
  lastCheckpointHeight: null,
};
const header = { version: 0x20000000, timeSec: 1001, bits: 0x207fffff };
const reasonOf = (changes: Partial<typeof header>, place: Partial<HeaderContext> = {}): string | null =>
  contextualCheckHeader({ ...header, ...changes }, { ...context, ...place }, regtestParams)?.reason ?? null;

describe('checkHeader', () => {
  it('requires the proof of work', () => {
    const { genesis } = mainParams;
    expect(checkHeader(genesis.header, genesis.bits, mainParams)).toBeNull();
    const other = Buffer.from(genesis.header);
    other.writeUInt32LE(7, 108);
    expect(checkHeader(other, genesis.bits, mainParams)).toEqual({
      reason: 'high-hash',
      result: 'invalid-header',
      rejectCode: 0x10,
      dosScore: 50,
      corruption: false,
      debug: 'proof of work failed',
    });
    expect(checkHeader(regtestParams.genesis.header, 0x207fffff, mainParams)?.reason).toBe('high-hash');
  });
});

describe('contextualCheckHeader', () => {
  it('accepts a header at its position', () => {
    expect(reasonOf({})).toBeNull();
    expect(reasonOf({ timeSec: 5000 + 7200 })).toBeNull();
    expect(reasonOf({}, { lastCheckpointHeight: 500 })).toBeNull();
  });

  it('reports errors in the order of the reference', () => {
    const wrong = { bits: 0x1f00ffff, timeSec: 1000, version: 0 };
    const place = { lastCheckpointHeight: 501, height: 1000 };
    expect(reasonOf(wrong, { ...place, lastCheckpointHeight: 1001 })).toBe('bad-diffbits');
    expect(reasonOf({ ...wrong, bits: 0x207fffff }, { ...place, lastCheckpointHeight: 1001 })).toBe(
      'bad-fork-prior-to-checkpoint',
    );
    expect(reasonOf({ ...wrong, bits: 0x207fffff }, place)).toBe('time-too-old');
    expect(reasonOf({ version: 0, timeSec: 12_201 }, place)).toBe('time-too-new');
    expect(reasonOf({ version: 0 }, place)).toBe('bad-version(0x00000000)');
  });

  it('has a code for each error', () => {
    const verdict = contextualCheckHeader(header, { ...context, lastCheckpointHeight: 501 }, regtestParams);
    expect(verdict).toMatchObject({ rejectCode: 0x43, dosScore: 100, result: 'checkpoint' });
    const old = contextualCheckHeader(
      { ...header, version: -1 },
      { ...context, height: 1000 },
      regtestParams,
    );
    expect(old).toMatchObject({
      reason: 'bad-version(0xffffffff)',
      debug: 'rejected nVersion=0xffffffff block',
      rejectCode: 0x11,
      dosScore: 0,
    });
    const early = contextualCheckHeader({ ...header, timeSec: 99_999 }, context, regtestParams);
    expect(early).toMatchObject({ reason: 'time-too-new', result: 'time-future', dosScore: 0 });
  });

  it.each([
    [1, 999, null],
    [1, 1000, 'bad-version(0x00000001)'],
    [2, 1250, null],
    [2, 1251, 'bad-version(0x00000002)'],
    [3, 1350, null],
    [3, 1351, 'bad-version(0x00000003)'],
    [4, 1351, null],
  ])('version %i at %i', (version, height, reason) => {
    expect(reasonOf({ version }, { height })).toBe(reason);
  });
});
